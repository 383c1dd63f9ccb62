/**
 * Instructions for the model that stand in files: the person's own, and those that a folder brings, which
 * are heeded once the person trusts it. They are read once, as the prompt is to stay the same. @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import { attempt } from "../attempt.ts";
import { oneLine } from "../text/one_line.ts";
import { join, relative } from "../text/std_path.ts";
import { isStill } from "../tools/files/regular_file.ts";
import { userFile, type VariableReader } from "../user_files.ts";
import type { TrustQuestion } from "./frontend.ts";
import type { HeededInstructions, InstructionFile } from "./report.ts";
import type { Permissions } from "./permissions.ts";
import { foldersDownTo } from "./repository.ts";
import { judgeInstructions, trustInstructions } from "./trust.ts";

/** The names of files with instructions; in each folder the first that is there counts. */
const FILE_NAMES = ["AGENTS.md", "CLAUDE.md"];
/** The most bytes of a file that are read; other agents read as many. */
const MAX_INSTRUCTION_BYTES = 32 * 1024;

interface FolderInstructions {
  /** The folder that they are trusted with: that of the repository, or else the folder itself. */
  root: string;
  /** The files, by their paths relative to the working directory (`name`) and to `root`. */
  files: { name: string; path: string; text: string }[];
  refused: HeededInstructions["refused"][number][];
}

/** The ways to decide on the instructions of a folder. */
interface HeedOptions {
  /** Heeds them this time. */
  trust?: boolean | undefined;
  /** The person's answer, where they gave it unasked. */
  answer?: boolean | undefined;
  /** Asks the person; undefined for no answer. */
  confirm?: ((question: TrustQuestion) => Promise<boolean | undefined>) | undefined;
  /** Looks up the folder of the person's own instructions. */
  env?: VariableReader;
}

export async function heedInstructions(
  agent: CopilotAgent,
  permissions: Permissions,
  { trust, answer, confirm, env }: HeedOptions,
): Promise<HeededInstructions> {
  const { root, files, refused } = await instructionsOf(agent.state.workingDir, permissions);
  const judged = await judgeInstructions(permissions, root, files);
  const shown = judged.files.map(({ file: { name, text }, change }): InstructionFile => ({
    name,
    lines: text.trimEnd().split("\n").length,
    ...change && { change },
  }));
  const doubt = judged.doubt && { doubt: judged.doubt };
  const isOpen = !trust && judged.isTrusted === undefined;
  const said = answer ??
    (isOpen ? await confirm?.({ type: "trust", ...doubt, files: shown }) : undefined);
  const isHeeded = said ?? (trust || judged.isTrusted);
  const heeded: HeededInstructions = {
    files: shown.map(({ change, ...file }, i) => ({
      ...file,
      // A yes trusts the file as it is now, so it has no change any more.
      ...change && !said && { change },
      isHeeded: isHeeded ?? judged.files[i]!.isTrusted,
    })),
    refused,
    isHeeded,
    ...isHeeded === undefined && doubt,
  };
  if (said !== undefined) {
    await (said ? trustInstructions(permissions, root, files) : permissions.trust(root, false))
      .catch((error: Error) => heeded.unsaved = error.message);
  }
  const own = userFile("AGENTS.md", env);
  const yours = own && attempt(() => readInstructions(own));
  agent.state.instructions = [
    ...yours ? [`Instructions of the user:\n${yours}`] : [],
    ...files.filter((_, i) => heeded.files[i]!.isHeeded).map(({ name, text }) =>
      `Instructions of the project, from ${oneLine(name)}:\n${text}`
    ),
  ].join("\n");
  return heeded;
}

async function instructionsOf(folder: string, by: Permissions): Promise<FolderInstructions> {
  const folders = foldersDownTo(folder);
  const root = folders[0]!;
  const found: FolderInstructions = { root, files: [], refused: [] };
  for (const at of folders) {
    for (const name of FILE_NAMES) {
      const path = join(at, name);
      const real = attempt(() => Deno.realPathSync(path));
      if (real === undefined) continue;
      const shown = relative(folder, path);
      // The person trusts the words of whoever made the folder, not the files that they keep in it.
      const isSecret = real !== path &&
        ((await by.paths()).secretKind(real) !== undefined || /[\\/]\.git[\\/]/i.test(real));
      const isInside = real.startsWith(join(root, "/")) && !isSecret;
      const text = isInside ? attempt(() => readInstructions(real, root)) : undefined;
      if (text === undefined) {
        found.refused.push({ name: shown, reason: isSecret ? "secret" : "outside" });
      } else if (text.trim() !== "") {
        found.files.push({ name: shown, path: relative(root, path), text });
      }
      break;
    }
  }
  return found;
}

/** The text of a file, up to a limit; undefined where it is none or a link leads out of `root` by now. */
function readInstructions(path: string, root?: string): string | undefined {
  // A pipe would be waited for.
  if (!Deno.statSync(path).isFile) return undefined;
  const since = Date.now();
  using file = Deno.openSync(path);
  if (root !== undefined && !isStill(path, file.statSync(), root, since)) return undefined;
  const bytes = new Uint8Array(MAX_INSTRUCTION_BYTES + 1);
  const read = file.readSync(bytes) ?? 0;
  const text = new TextDecoder().decode(bytes.subarray(0, Math.min(read, MAX_INSTRUCTION_BYTES)));
  if (read <= MAX_INSTRUCTION_BYTES) return text;
  return `${text}\n[The rest is left out: ${MAX_INSTRUCTION_BYTES} bytes are read]\n`;
}
