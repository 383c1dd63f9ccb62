/**
 * Instructions for the model that stand in files: the person's own, and those that a folder brings, which
 * are heeded once the person trusts it. They are read once, as the prompt is to stay the same.
 *
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import { count } from "../text/count.ts";
import { join, relative } from "../text/std_path.ts";
import { secretKind } from "../permissions/protected_paths.ts";
import { isStill } from "../tools/files/regular_file.ts";
import type { Permissions } from "./permissions.ts";
import { oneLine } from "../text/one_line.ts";
import { foldersDownTo } from "./repository.ts";
import { userFile } from "../user_files.ts";

/** In each folder the first of these that is there. */
const NAMES = ["AGENTS.md", "CLAUDE.md"];
/** As much as other agents take. */
const MAX_BYTES = 32 * 1024;

interface Instructions {
  /** As the person knows the file. */
  name: string;
  text: string;
}

/** What the folder brings, and where it belongs to: the repository, or else the folder itself. */
interface Brought {
  root: string;
  files: Instructions[];
  /** Links that lead elsewhere, and where to, in words. */
  refused: string[];
}

/** How instructions are come by. */
export interface HeedOptions {
  /** The folder's are heeded this time. */
  trust?: boolean | undefined;
  /** Asks the person; undefined when they do not want to say. */
  ask?: ((question: string) => Promise<boolean | undefined>) | undefined;
}

/** Gives the agent the instructions for its folder; lines to show. */
export async function heedInstructions(
  agent: CopilotAgent,
  permissions: Permissions,
  { trust, ask }: HeedOptions,
): Promise<string[]> {
  const { state } = agent;
  const { root, files, refused } = instructionsOf(state.workingDir);
  const names = files.map(({ name, text }) =>
    `${oneLine(name)} (${count(text.trimEnd().split("\n").length, "line")})`
  ).join(", ");
  const notices = refused.map((what) => `· ${what}, and is not heeded`);
  let isTrusted = files.length === 0 || trust || permissions.trusts(root);
  if (isTrusted === undefined && ask) {
    isTrusted = await ask(
      `This folder brings instructions for the model, in the words of whoever wrote them: ${names}.\nHeed them? [y/n] `,
    );
    if (isTrusted !== undefined) {
      await permissions.trust(root, isTrusted).catch((error: Error) =>
        notices.push(`· that cannot be kept: ${oneLine(error.message)}`)
      );
    }
  }
  const own = userFile("AGENTS.md", (name) => Deno.env.get(name));
  const yours = own === undefined ? undefined : readText(own);
  state.instructions = [
    ...yours ? [`Instructions of the user:\n${yours}`] : [],
    ...(isTrusted ? files : []).map(({ name, text }) =>
      `Instructions of the project, from ${oneLine(name)}:\n${text}`
    ),
  ].join("\n");
  return [
    ...notices,
    ...files.length === 0 || isTrusted === false
      ? []
      : [isTrusted ? `· heeds ${names}` : `· not heeded: ${names} (/trust or --trust does)`],
  ];
}

function instructionsOf(folder: string): Brought {
  const folders = foldersDownTo(folder);
  const root = folders[0]!;
  const brought: Brought = { root, files: [], refused: [] };
  for (const at of folders) {
    for (const name of NAMES) {
      const path = join(at, name);
      const real = realPath(path);
      if (real === undefined) continue;
      const shown = relative(folder, path);
      // Trusted are the words of whoever made the folder: not what a person keeps in it.
      const isSecret = real !== path &&
        (secretKind(real) !== undefined || /[\\/]\.git[\\/]/i.test(real));
      const isOurs = real.startsWith(join(root, "/")) && !isSecret;
      const text = isOurs ? readText(real, root) : undefined;
      if (text === undefined) {
        const where = isSecret ? "to what is secret" : "out of the folder";
        brought.refused.push(`${oneLine(shown)} leads ${where}`);
      } else if (text.trim() !== "") brought.files.push({ name: shown, text });
      break;
    }
  }
  return brought;
}

function realPath(path: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch {
    return undefined;
  }
}

/** The text of a file, up to a limit; undefined where there is none, or a link by now with `root`. */
function readText(path: string, root?: string): string | undefined {
  try {
    // A pipe would be waited for.
    if (!Deno.statSync(path).isFile) return undefined;
    const since = Date.now();
    using file = Deno.openSync(path);
    if (root !== undefined && !isStill(path, file.statSync(), root, since)) return undefined;
    const bytes = new Uint8Array(MAX_BYTES + 1);
    const read = file.readSync(bytes) ?? 0;
    const text = new TextDecoder().decode(bytes.subarray(0, Math.min(read, MAX_BYTES)));
    return read > MAX_BYTES
      ? `${text}\n[The rest is left out: ${MAX_BYTES} bytes are read]\n`
      : text;
  } catch {
    return undefined;
  }
}
