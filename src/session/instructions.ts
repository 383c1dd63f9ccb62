/**
 * Instructions for the model that stand in files: the person's own, and those that a folder brings, which
 * are heeded once the person trusts it. They are read once, as the prompt is to stay the same. @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import { oneLine } from "../text/one_line.ts";
import { join, relative } from "../text/std_path.ts";
import { isStill } from "../tools/files/regular_file.ts";
import { userFile, type VariableReader } from "../user_files.ts";
import { attempt } from "./attempt.ts";
import type { Confirmation } from "./frontend.ts";
import type { HeededInstructions } from "./report.ts";
import type { Permissions } from "./permissions.ts";
import { foldersDownTo } from "./repository.ts";

/** The names of files with instructions; in each folder the first that is there counts. */
const FILE_NAMES = ["AGENTS.md", "CLAUDE.md"];
/** The most bytes of a file that are read; other agents read as many. */
const MAX_INSTRUCTION_BYTES = 32 * 1024;

interface FolderInstructions {
  /** The folder that they are trusted with: that of the repository, or else the folder itself. */
  root: string;
  /** The files by their paths relative to the working directory. */
  files: { name: string; text: string }[];
  refused: HeededInstructions["refused"][number][];
}

/** The ways to decide on the instructions of a folder. */
interface HeedOptions {
  /** Heeds them this time. */
  trust?: boolean | undefined;
  /** Asks the person; undefined for no answer. */
  confirm?: ((question: Confirmation) => Promise<boolean | undefined>) | undefined;
  /** Looks up the folder of the person's own instructions. */
  env?: VariableReader;
}

export async function heedInstructions(
  agent: CopilotAgent,
  permissions: Permissions,
  { trust, confirm, env }: HeedOptions,
): Promise<HeededInstructions> {
  const { root, files, refused } = await instructionsOf(agent.state.workingDir, permissions);
  const shown = files.map(({ name, text }) => ({ name, lines: text.trimEnd().split("\n").length }));
  const isHeeded = files.length === 0 || trust || permissions.trusts(root);
  const heeded: HeededInstructions = { files: shown, refused, isHeeded };
  if (heeded.isHeeded === undefined && confirm) {
    const answer = heeded.isHeeded = await confirm({ type: "trust", files: shown });
    if (answer !== undefined) {
      await permissions.trust(root, answer)
        .catch((error: Error) => heeded.unsaved = error.message);
    }
  }
  const own = userFile("AGENTS.md", env);
  const yours = own && attempt(() => readInstructions(own));
  agent.state.instructions = [
    ...yours ? [`Instructions of the user:\n${yours}`] : [],
    ...(heeded.isHeeded ? files : []).map(({ name, text }) =>
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
      } else if (text.trim() !== "") found.files.push({ name: shown, text });
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
