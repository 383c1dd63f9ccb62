/**
 * The caches that confined commands see in the home folder, kept from one session to the next: compilers and
 * package managers else start anew each time. Each work folder has its own, with this program's state, which no
 * command sees. Commands that are not confined use the person's, so what a command leaves here reaches only
 * later confined commands of the same folder, which it could reach through the folder itself as well.
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

/** It is looked for old caches once a day: those that were not used for so many days are removed. */
const DAY_MS = 86_400_000;
const MAX_DAYS = 30;

/** Puts the kept caches of a folder in the place of those of the session, in the session's folder `own`. */
export class KeptCaches {
  private constructor(
    private readonly root: string,
    private readonly own: string,
    private readonly home: string,
  ) {}

  /**
   * @param root the folder of all kept caches; undefined is returned where it cannot be made
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
   * Has the next command see the caches that are kept for the view's folder; those of the session where a
   * command could reach them otherwise. One that may not write the folder has others: it writes nothing that
   * one which may then runs.
   */
  async useFor(view: View): Promise<void> {
    const { folder } = view;
    const isKept = accessAt(view, this.root) === "none";
    // Where they cannot be made, the session's do.
    const kept = isKept
      ? await this.#keptFor(folder, accessAt(view, folder)).catch(() => undefined)
      : undefined;
    for (const name of PRIVATE_CACHES) {
      const source = ownSource(this.own, join(this.home, name));
      const wanted = kept === undefined ? undefined : join(kept, name);
      const now = attempt(() => Deno.readLinkSync(source));
      if (now === wanted) continue;
      // What the session had there is lost: it was a session's cache.
      attempt(() => Deno.removeSync(source, { recursive: true }));
      if (wanted !== undefined) Deno.symlinkSync(wanted, source);
    }
  }

  /** The folder of the caches of a work folder: another folder at the same path has others. */
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

  /** Once a day; a session that needs what it removes would have used it in the last month. */
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
