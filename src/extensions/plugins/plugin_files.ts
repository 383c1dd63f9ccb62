/** The files of plug-ins: how they are copied, and the text that an approval of them is bound to. @module */

import { attempt } from "../../attempt.ts";
import { digestOf } from "../../text/digest.ts";
import { oneLine } from "../../text/one_line.ts";
import { isWithin } from "../../text/paths.ts";
import { dirname, join } from "../../text/std_path.ts";
import { openRegular, readBytes } from "../../tools/files/regular_file.ts";

/** The maximum number of files and folders of a plug-in, and of bytes. */
const MAX_TREE_ENTRIES = 5000;
const MAX_TREE_BYTES = 128 * 1024 * 1024;
const TOO_MUCH = "it has too many or too large files";

/** Reads the files below `root`. Links must stay in `top`; an installed plug-in, without `top`, has no links. */
async function* filesIn(root: string, top?: string, isSecret = (_: string) => false) {
  const folders = [{ at: root, below: "" }];
  const withheld = { folder: top ?? root, paths: [] };
  let [entries, room] = [0, MAX_TREE_BYTES];
  for (const { at: folder, below } of folders) {
    for (const name of [...Deno.readDirSync(folder)].map(({ name }) => name).sort()) {
      const [at, path] = [join(folder, name), below + name];
      const realPath = attempt(() => Deno.realPathSync(at));
      if (top !== undefined && (name === ".git" || [at, realPath ?? at].some(isSecret))) continue;
      // Links may lead to each other.
      if (++entries > MAX_TREE_ENTRIES || path.length > 1000) throw new Error(TOO_MUCH);
      const isLink = attempt(() => Deno.lstatSync(at).isSymlink);
      // A link that leads nowhere brings nothing.
      if (isLink && realPath === undefined && top !== undefined) continue;
      const isHere = realPath !== undefined && (isLink === false || top !== undefined &&
          isWithin(top, realPath) && !/[/\\]\.git(?:[/\\]|$)/.test(realPath.slice(top.length)));
      if (!isHere) throw new Error(`its link ${oneLine(path)} leads out of its folder`);
      if (Deno.statSync(realPath).isDirectory) {
        folders.push({ at: realPath, below: `${path}/` });
        continue;
      }
      using opened = await openRegular(at, oneLine(path), "read", { realPath, withheld });
      const { file, info: { size, mode } } = opened;
      if ((room -= size) < 0) throw new Error(TOO_MUCH);
      yield { path, bytes: await readBytes(file, size), isExecutable: ((mode ?? 0) & 0o111) !== 0 };
    }
  }
}

/** Copies the files below `root` but secrets to a new folder. Links become copies of their targets, which are in `top`. */
export async function copyFiles(
  root: string,
  top: string,
  to: string,
  isSecret: (path: string) => boolean,
): Promise<void> {
  for await (const { path, bytes, isExecutable } of filesIn(root, top, isSecret)) {
    await Deno.mkdir(dirname(join(to, path)), { recursive: true, mode: 0o755 });
    const mode = isExecutable ? 0o755 : 0o644;
    await Deno.writeFile(join(to, path), bytes, { createNew: true, mode });
  }
}

/** Returns a line with the digest and the mode of each file of an installed plug-in, and its programs. */
export async function pluginContent(root: string) {
  const [lines, programs]: [string[], string[]] = [[], []];
  for await (const { path, bytes, isExecutable } of filesIn(root)) {
    lines.push(`${JSON.stringify(path)} ${isExecutable ? "x" : "-"} ${await digestOf(bytes)}`);
    if (isExecutable || /(?:^|\/)s?(?:bin|scripts)\//.test(path)) programs.push(path);
  }
  // A longer text is not saved.
  if (lines.join().length > 800_000) throw new Error(TOO_MUCH);
  return { lines, programs };
}
