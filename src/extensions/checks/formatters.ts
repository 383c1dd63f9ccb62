/** Formats files after an edit, if the user's settings say so. @module */

import { attempt } from "../../attempt.ts";
import { findProgram, programFolders } from "../../find_program.ts";
import { diffLines } from "../../text/diff.ts";
import { isWithin } from "../../text/paths.ts";
import { basename, join, relative } from "../../text/std_path.ts";
import { oneLine } from "../../text/one_line.ts";
import { shellWord } from "../../text/shell_word.ts";
import { stampOf } from "../../tools/files/seen_files.ts";
import { runShell } from "../../tools/shell/shell_process.ts";
import type { OnWritten } from "../../types/tool.ts";
import { readBoundedText } from "../bounded_text.ts";
import { type CheckContext, localProgram, nearestFolder } from "./edit_checks.ts";

type Formatter = [
  files: RegExp,
  command: string,
  /** Files of a project, of which one has to exist. */
  project?: readonly string[],
  /** A pattern that the text of that file has to match. */
  text?: RegExp,
];

const WEB = /\.([cm]?[jt]sx?|json|css|md|html|ya?ml)$/;
const PYTHON_FILES = /\.pyi?$/;

/** The first that fits formats a file. The program may also be in `node_modules/.bin`. */
const FORMATTERS: readonly Formatter[] = [
  [WEB, "deno fmt --quiet", ["deno.json", "deno.jsonc"]],
  [WEB, "biome format --write", ["biome.json"]],
  [WEB, "prettier --write", ["package.json"], /"prettier"/],
  [PYTHON_FILES, "black --quiet", ["pyproject.toml"], /^\[tool\.black/m],
  [PYTHON_FILES, "ruff format --quiet", ["ruff.toml", "pyproject.toml"]],
  [/\.go$/, "gofmt -w"],
  [/\.rs$/, "rustfmt --edition 2021"],
  [/\.(c|cc|cpp|cxx|h|hpp)$/, "clang-format -i", [".clang-format"]],
];
const FORMAT_MS = 5000;
const MAX_FORMATTED_BYTES = 1024 * 1024;
const MAX_FORMATTED_LINES = 20;

/**
 * Formats the files, and returns what changed, for the model. It knows a file whose changes are shown, and has to
 * read others again.
 */
export async function formatted(
  files: ReadonlySet<string>,
  context: CheckContext,
  frontend: FormatFrontend,
): Promise<string> {
  const texts: string[] = [];
  for (const file of files) texts.push(await formatFile(file, context, frontend) ?? "");
  return texts.join("");
}

interface FormatFrontend {
  onWritten: OnWritten | undefined;
  tell(line: string): void;
}

async function formatFile(
  file: string,
  context: CheckContext,
  { onWritten, tell }: FormatFrontend,
): Promise<string | undefined> {
  const { workingDir, seenFiles } = context;
  const found = await formatterFor(file, context);
  const root = attempt(() => Deno.realPathSync(workingDir)) ?? workingDir;
  const path = attempt(() => Deno.realPathSync(file)) ?? file;
  // A job may replace the file by a link: what is read here, the model reads.
  const read = async () =>
    isWithin(root, path) ? await readBoundedText(path, MAX_FORMATTED_BYTES, root) : undefined;
  const before = await read();
  if (found === undefined || before === undefined) return undefined;
  const command = [...found, path].map(shellWord).join(" ");
  if (!await context.mayRun(command)) return undefined;
  const options = { timeoutMs: FORMAT_MS, maxBytes: 1024 };
  const ran = await runShell(command, context, options).catch(() => undefined);
  context.signal.throwIfAborted();
  const code = ran?.status?.code;
  const name = basename(found[0]!);
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

async function formatterFor(
  file: string,
  context: Parameters<typeof localProgram>[2],
): Promise<string[] | undefined> {
  const { workingDir } = context;
  const folders = programFolders(workingDir);
  for (const [files, command, project, text = /^/] of FORMATTERS) {
    if (!files.test(file)) continue;
    const texts = (project ?? []).map((one) => {
      const at = nearestFolder(file, one, workingDir);
      return at === undefined ? undefined : readBoundedText(join(at, one), MAX_FORMATTED_BYTES);
    });
    const isFor = (await Promise.all(texts)).some((one) => one !== undefined && text.test(one));
    if (project && !isFor) continue;
    const [program = "", ...args] = command.split(" ");
    const found = localProgram(program, join(file, ".."), context) ??
      findProgram(program, folders, workingDir);
    if (found) return [found, ...args];
  }
  return undefined;
}

export async function formattersIn(workingDir: string): Promise<string[]> {
  const files = ["a.ts", "a.py", "a.go", "a.rs", "a.c"].map((name) => join(workingDir, name));
  const context = { workingDir, isSandboxed: true };
  const found = await Promise.all(files.map((file) => formatterFor(file, context)));
  return found.flatMap((one) => one ? [basename(one[0]!)] : []);
}
