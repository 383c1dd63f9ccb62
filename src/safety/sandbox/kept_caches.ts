/**
 * The caches that sandboxed commands see in the home folder, saved between sessions, so that compilers and
 * package managers do not start from scratch. Each working folder has its own, in this program's state folder,
 * which no command sees. Commands outside of the sandbox use the user's caches, so files in these reach only
 * later sandboxed commands of the same folder, which the folder itself could reach as well.
 *
 * @module
 */

import { attempt } from "../../attempt.ts";
import { digestOf } from "../../text/digest.ts";
import { join } from "../../text/std_path.ts";
import { entryAt } from "../places.ts";
import { accessAt, type View } from "../view.ts";
import { removeLater } from "./own_folder.ts";
import { ownSource } from "./mounts.ts";

/** Once a day, caches are removed that were not used for `MAX_DAYS`. */
const DAY_MS = 86_400_000;
const MAX_DAYS = 30;

/**
 * Makes the next command see the saved caches of the view's folder in `own`, or the session's if commands could reach
 * the saved ones. A command that may not write the folder gets other caches: it cannot add programs that a command
 * with write access would run, nor, in a session without the network, one that a session with it would run.
 *
 * @param root the folder of all saved caches
 * @param own the session's folder
 */
export async function useCaches(view: View, root: string, own: string, home: string) {
  // If they cannot be created, the session's are used.
  const saved = await savedFor(view, root).catch(() => undefined);
  const source = ownSource(own, join(home, ".cache"));
  if (attempt(() => Deno.readLinkSync(source)) === saved) return;
  // The session's own cache is discarded.
  attempt(() => Deno.removeSync(source, { recursive: true }));
  if (saved !== undefined) Deno.symlinkSync(saved, source);
}

const digests: Record<string, string> = {};

/** Returns the folder of a working folder's caches. Another folder at the same path has others. */
async function savedFor(view: View, named: string): Promise<string | undefined> {
  const { folder } = view;
  Deno.mkdirSync(named, { recursive: true, mode: 0o700 });
  const root = Deno.realPathSync(named);
  if (accessAt(view, root) !== "hidden") return undefined;
  const { dev, ino } = Deno.statSync(folder);
  const access = accessAt(view, folder);
  const isOpen = access !== "write" && view.network;
  const about = `${folder}\n${dev} ${ino} ${access}${isOpen ? " network" : ""}`;
  const saved = join(root, digests[about] ??= await digestOf(about));
  const now = new Date();
  Deno.mkdirSync(join(saved, ".cache"), { recursive: true, mode: 0o700 });
  Deno.utimeSync(saved, now, now);
  removeUnused(root, now);
  return join(saved, ".cache");
}

/** Once a day. A running session has used its caches within the last month. */
function removeUnused(root: string, now: Date): void {
  const age = (path: string) => now.getTime() - (entryAt(path)?.mtime?.getTime() ?? 0);
  const mark = join(root, "looked");
  if (age(mark) < DAY_MS) return;
  Deno.writeTextFileSync(mark, "", { mode: 0o600 });
  Deno.utimeSync(mark, now, now);
  const folders = [...Deno.readDirSync(root)].filter(({ isDirectory }) => isDirectory);
  removeLater(
    folders.map(({ name }) => join(root, name)).filter((path) => age(path) > MAX_DAYS * DAY_MS),
  );
}
