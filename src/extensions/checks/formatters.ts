/** Formats files after an edit, if the user's settings say so. @module */

import { attempt } from "../../attempt.ts";
import { diffLines } from "../../text/diff.ts";
import { isWithin } from "../../text/paths.ts";
import { relative } from "../../text/std_path.ts";
import { oneLine } from "../../text/one_line.ts";
import { stampOf } from "../../tools/files/seen_files.ts";
import { runShell } from "../../tools/shell/shell_process.ts";
import type { OnWritten } from "../../types/tool.ts";
import { readBoundedText } from "../bounded_text.ts";
import type { FileProgram } from "./checkers.ts";
import { type CheckContext, runOf } from "./edit_checks.ts";

const WEB = /\.([cm]?[jt]sx?|json|css|md|html|ya?ml)$/;
const PYTHON_FILES = /\.pyi?$/;

type FormatterRow = [RegExp, string, Partial<FileProgram>?];
const FORMATTER_ROWS: readonly FormatterRow[] = [
  [WEB, "deno fmt --quiet {}", { project: ["deno.json", "deno.jsonc"] }],
  [WEB, "biome format --write {}", { project: ["biome.json"] }],
  [WEB, "prettier --write {}", { project: ["package.json"], text: /"prettier"/ }],
  [PYTHON_FILES, "black --quiet {}", { project: ["pyproject.toml"], text: /^\[tool\.black/m }],
  [PYTHON_FILES, "ruff format --quiet {}", { project: ["ruff.toml", "pyproject.toml"] }],
  [/\.go$/, "gofmt -w {}"],
  [/\.rs$/, "rustfmt --edition 2021 {}"],
  [/\.(c|cc|cpp|cxx|h|hpp)$/, "clang-format -i {}", { project: [".clang-format"] }],
];
/** The first that fits formats a file. */
const FORMATTERS = FORMATTER_ROWS.map(([files, command, more]) => ({
  ...{ files, command, program: command.split(" ", 1)[0]!, isLocal: true as const, ...more },
}));
const FORMAT_MS = 5000;
const MAX_FORMATTED_BYTES = 1024 * 1024;
const MAX_FORMATTED_LINES = 20;

/**
 * Formats the files, and returns what changed, for the model. It knows a file whose changes are shown, and has to
 * read others again.
 */
export async function formatted(
  files: ReadonlySet<string>,
  ...frontend: [CheckContext, OnWritten | undefined, tell: (line: string) => void]
): Promise<string> {
  const texts: string[] = [];
  for (const file of files) texts.push(await formatFile(file, ...frontend) ?? "");
  return texts.join("");
}

async function formatterOf(path: string, context: CheckContext) {
  for (const one of FORMATTERS) {
    const run = await runOf(one, path, context);
    if (run) return { name: one.program, command: run.command };
  }
}

async function formatFile(
  file: string,
  context: CheckContext,
  onWritten: OnWritten | undefined,
  tell: (line: string) => void,
): Promise<string | undefined> {
  const { workingDir, seenFiles } = context;
  const root = attempt(() => Deno.realPathSync(workingDir)) ?? workingDir;
  const path = attempt(() => Deno.realPathSync(file)) ?? file;
  // A job may replace the file by a link: what is read here, the model reads.
  const read = async () =>
    isWithin(root, path) ? await readBoundedText(path, MAX_FORMATTED_BYTES, root) : undefined;
  const before = await read();
  if (before === undefined) return undefined;
  const { name, command } = await formatterOf(path, { ...context, workingDir: root }) ?? {};
  if (command === undefined || !await context.mayRun(command)) return undefined;
  const options = { timeoutMs: FORMAT_MS, maxBytes: 1024 };
  const ran = await runShell(command, context, options).catch(() => undefined);
  context.signal.throwIfAborted();
  const code = ran?.status?.code;
  if (code !== 0) {
    const [why] = ran?.streams.stderr.text(1024).trim().split("\n") ?? ["it does not run"];
    tell(`${name} cannot format (exit code ${code})${why && `: ${oneLine(why)}`}`);
  }
  const after = await read();
  if (after === undefined || after === before) return undefined;
  const stamp = await stampOf(path);
  onWritten?.({ path, stamp });
  const lines = diffLines(before, after, 0);
  const isShown = lines.length <= MAX_FORMATTED_LINES;
  if (isShown) seenFiles?.set(path, stamp);
  else seenFiles?.delete(path);
  const rows = lines.map(({ kind, text, line }) => `${kind}${line}: ${text}`);
  const how = isShown ? `\n${rows.join("\n")}` : " Read it before you edit it again.";
  return `\n\n[${name} formatted ${relative(workingDir, file)}:${how}]`;
}
