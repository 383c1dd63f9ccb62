/**
 * The caches that sandboxed commands see in the home folder, saved between sessions, so that compilers and
 * package managers do not start from scratch. Each working folder has its own, in this program's state folder,
 * which no command sees. Commands outside of the sandbox use the user's caches, so files in these reach only
 * later sandboxed commands of the same folder, which the folder itself could reach as well.
 *
 * @module
 */

import { digestOf } from "../../text/digest.ts";
import { attempt } from "../../attempt.ts";
import { join } from "../../text/std_path.ts";
import type { PathAccess } from "../folder_looks.ts";
import { accessAt, entryAt, PRIVATE_CACHES, type View } from "../view.ts";
import { removeLater } from "./own_folder.ts";
import { ownSource } from "./wrap.ts";

/** Once a day, caches are removed that were not used for `MAX_DAYS`. */
const DAY_MS = 86_400_000;
const MAX_DAYS = 30;

/** Replaces the session's caches in its folder `own` with a folder's saved caches. */
export class KeptCaches {
  private constructor(
    private readonly root: string,
    private readonly own: string,
    private readonly home: string,
  ) {}

  /**
   * Returns undefined if `root` cannot be created.
   * @param root the folder of all saved caches
   * @param home the home folder
   */
  static async open(root: string, own: string, home: string): Promise<KeptCaches | undefined> {
    try {
      await Deno.mkdir(root, { recursive: true, mode: 0o700 });
      return new KeptCaches(await Deno.realPath(root), own, home);
    } catch {
      return undefined;
    }
  }

  /**
   * Makes the next command see the saved caches of the view's folder, or the session's if commands could reach
   * the saved ones. A command that may not write the folder gets other caches: it cannot add programs that a
   * command with write access would run.
   */
  async useFor(view: View): Promise<void> {
    const { folder } = view;
    const isKept = accessAt(view, this.root) === "none";
    // If they cannot be created, the session's are used.
    const kept = isKept
      ? await this.#keptFor(folder, accessAt(view, folder)).catch(() => undefined)
      : undefined;
    for (const name of PRIVATE_CACHES) {
      const source = ownSource(this.own, join(this.home, name));
      const wanted = kept === undefined ? undefined : join(kept, name);
      const now = attempt(() => Deno.readLinkSync(source));
      if (now === wanted) continue;
      // The session's own cache is discarded.
      attempt(() => Deno.removeSync(source, { recursive: true }));
      if (wanted !== undefined) Deno.symlinkSync(wanted, source);
    }
  }

  /** Returns the folder of a working folder's caches. Another folder at the same path has others. */
  async #keptFor(folder: string, access: PathAccess): Promise<string> {
    const { dev, ino } = Deno.statSync(folder);
    const hash = await digestOf(`${folder}\n${dev} ${ino} ${access}`);
    const kept = join(this.root, hash);
    const now = new Date();
    Deno.mkdirSync(kept, { recursive: true, mode: 0o700 });
    Deno.utimeSync(kept, now, now);
    for (const name of PRIVATE_CACHES) {
      Deno.mkdirSync(join(kept, name), { recursive: true, mode: 0o700 });
    }
    this.#removeUnused(now);
    return kept;
  }

  /** Once a day. A running session has used its caches within the last month. */
  #removeUnused(now: Date): void {
    const age = (path: string) => now.getTime() - (entryAt(path)?.mtime?.getTime() ?? 0);
    const mark = join(this.root, "looked");
    if (age(mark) < DAY_MS) return;
    Deno.writeTextFileSync(mark, "", { mode: 0o600 });
    Deno.utimeSync(mark, now, now);
    const folders = [...Deno.readDirSync(this.root)].filter(({ isDirectory }) => isDirectory);
    removeLater(
      folders.map(({ name }) => join(this.root, name)).filter((path) =>
        age(path) > MAX_DAYS * DAY_MS
      ),
    );
  }
}
