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
import { accessAt, PRIVATE_CACHES, type View } from "../view.ts";
import { ownSource } from "./wrap.ts";

/** Caches that were not used for so many days are removed. */
const MAX_DAYS = 30;
/** The most that the caches of a folder in use take, and those of others together, in KiB. */
const MAX_KIB = 5 * 1024 * 1024;
const DAY_MS = 86_400_000;

/**
 * In the folder `$1`: removes what was not used for `$2` days, and of what takes more than `$3` KiB together the
 * least recently used. Of a folder that was used today, which a session may be working in, it removes each
 * program's cache as a whole, those in which nothing was written for longest first, and none that was written
 * today: programs rely on all of what they kept, or on nothing.
 */
const BOUND = `remove() {
  # Where no command comes to: one that runs could put a link in its place, which chmod follows.
  mv -- "$1" "gone.$$" || return
  [ -L "gone.$$" ] || chmod -R u+rwX -- "gone.$$"
  rm -rf -- "gone.$$"
}
size() { du -sk -- "$1" | cut -f 1; }
lessen() {
  for days in 14 3 1; do
    for cache in "$1"/.cache/* "$1"/.npm/*; do
      [ "$(size "$1")" -gt "$2" ] || return
      [ -n "$(find "$cache" -mtime "-$days" | head -n 1)" ] || remove "$cache"
    done
  done
}
cd -- "$1" || exit
for one in $(find . -mindepth 1 -maxdepth 1 -type d -mtime "+$2"); do remove "$one"; done
total=0
for one in $(ls -t); do
  [ -d "$one" ] && [ ! -L "$one" ] || continue
  if [ -n "$(find "$one" -prune -mtime -1)" ]; then lessen "./$one" "$3"; continue; fi
  total=$((total + $(size "$one")))
  [ "$total" -le "$3" ] || remove "$one"
done`;

/** Puts the kept caches of a folder in the place of those of the session, in the session's folder `own`. */
export class KeptCaches {
  private constructor(
    private readonly root: string,
    private readonly own: string,
    private readonly home: string,
    private readonly maxKib: number,
  ) {}

  /**
   * @param root the folder of all kept caches; undefined is returned where it cannot be made
   * @param home the home folder
   */
  static async open(
    root: string,
    own: string,
    home: string,
    maxKib = MAX_KIB,
  ): Promise<KeptCaches | undefined> {
    try {
      await Deno.mkdir(root, { recursive: true, mode: 0o700 });
      return new KeptCaches(await Deno.realPath(root), own, home, maxKib);
    } catch {
      return undefined;
    }
  }

  /**
   * Has the next command see the caches that are kept for the view's folder. Where a command could reach them
   * otherwise, or may not write the folder, it sees those of the session: plan mode leaves nothing behind.
   */
  async useFor(view: View): Promise<void> {
    const { folder } = view;
    const isKept = accessAt(view, folder) === "write" && accessAt(view, this.root) === "none";
    // Where they cannot be made, the session's do.
    const kept = isKept ? await this.#keptFor(folder).catch(() => undefined) : undefined;
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
  async #keptFor(folder: string): Promise<string> {
    const { dev, ino } = Deno.statSync(folder);
    const hash = await digestOf(`${folder}\n${dev} ${ino}`);
    const kept = join(this.root, hash);
    const used = attempt(() => Deno.statSync(kept).mtime?.getTime());
    const now = new Date();
    if (used === undefined || now.getTime() - used > DAY_MS / 24) {
      Deno.mkdirSync(kept, { recursive: true, mode: 0o700 });
      Deno.utimeSync(kept, now, now);
    }
    for (const name of PRIVATE_CACHES) {
      Deno.mkdirSync(join(kept, name), { recursive: true, mode: 0o700 });
    }
    this.#bound(now);
    return kept;
  }

  /** Once a day, looks whether the caches are too old or too large; nobody waits for it. */
  #bound(now: Date): void {
    const mark = join(this.root, "looked");
    const looked = attempt(() => Deno.statSync(mark).mtime?.getTime());
    if (looked !== undefined && now.getTime() - looked < DAY_MS) return;
    Deno.writeTextFileSync(mark, "", { mode: 0o600 });
    Deno.utimeSync(mark, now, now);
    if (looked === undefined) return;
    attempt(() =>
      new Deno.Command("/bin/sh", {
        args: ["-c", BOUND, "sh", this.root, String(MAX_DAYS), String(this.maxKib)],
        env: { PATH: "/usr/bin:/bin" },
        cwd: "/",
        clearEnv: true,
        stdin: "null",
        stdout: "null",
        stderr: "null",
      }).spawn().unref()
    );
  }
}
