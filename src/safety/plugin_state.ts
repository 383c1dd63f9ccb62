/** The files in `.claude` in which plug-ins keep their state. @module */

import { attempt } from "../attempt.ts";
import { oneLine } from "../text/one_line.ts";
import { join } from "../text/std_path.ts";
import { AS_NAME } from "../tools/files/in_folder.ts";
import { textWithin } from "./git_files.ts";
import { runInPlace } from "./in_place.ts";
import { entryAt } from "./places.ts";
import { accessAt, type View } from "./view.ts";

/** A file in `.claude` in which a plug-in of Claude Code keeps its state, and one that replaces it. */
const STATE_FILE = /^[\w-][\w.-]*\.local\.md(\.|$)/;
const MAX_STATE_BYTES = 1_000_000;
/** Stores or removes a file, not through a link. Arguments: its name, and the path of its content. */
const STORE_STATE = `set -C; [ -L "./$1" ] || if [ -f "$2" ]
then cat <"$2" >"./$1.$$" && mv -f${AS_NAME} -- "./$1.$$" "./$1" || { rm -f -- "./$1.$$"; exit 1; }; else rm -f -- "./$1"; fi`;

/**
 * Returns a view with a private `.claude` in `own`, which has only the state of plug-ins, and what stores that state: no
 * other name and no link gets into the folder. `store` returns a line for each state that it cannot store. An empty
 * folder, which plug-ins leave, is like a missing one: any program can write it.
 */
export function withState(
  view: View,
  own: string | undefined,
): { view: View; store?: () => string[] } {
  const at = join(view.folder, ".claude");
  const namesIn = (path: string) => attempt(() => [...Deno.readDirSync(path)].map((e) => e.name));
  const isProtected = accessAt(view, at) === "read" && accessAt(view, view.folder) === "write";
  const names = isProtected && entryAt(at)?.isDirectory ? namesIn(at) : undefined;
  const placed = (access: "own" | "write") => new Map([...view.places, [at, access]]);
  if (names?.length === 0) return { view: { ...view, places: placed("write") } };
  const isState = (name: string) => STATE_FILE.test(name) && !view.places.has(join(at, name));
  if (!own || !names?.some(isState)) return { view };
  const source = join(own, `state-${crypto.randomUUID()}`);
  Deno.mkdirSync(source, { mode: 0o700 });
  const textOf = (path: string) =>
    entryAt(path)?.isFile ? textWithin(path, MAX_STATE_BYTES) : undefined;
  const before = new Map(names.filter(isState).map((name) => [name, textOf(join(at, name))]));
  for (const [name, text] of before) {
    if (text !== undefined) Deno.writeTextFileSync(join(source, name), text);
  }
  const store = () => {
    const lines: string[] = [];
    for (const name of new Set([...before.keys(), ...namesIn(source) ?? []].filter(isState))) {
      const path = join(source, name);
      const [text, isThere] = [textOf(path), entryAt(path) !== undefined];
      if (text === before.get(name) && (text !== undefined || !isThere)) continue;
      const fault = text === undefined && isThere
        ? "it must be a file of at most 1 MB"
        : runInPlace(at, STORE_STATE, [name, path]).fault;
      if (fault) lines.push(`a plug-in's ${oneLine(join(at, name))} is not saved: ${fault}`);
    }
    attempt(() => Deno.removeSync(source, { recursive: true }));
    return lines;
  };
  return { view: { ...view, places: placed("own"), sources: new Map([[at, source]]) }, store };
}
