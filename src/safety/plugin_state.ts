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
 * Returns a view with a private copy of `.claude` in `own` if plug-ins have state there, and what stores that state: no
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
  const places = new Map(view.places);
  if (names?.length === 0) return { view: { ...view, places: places.set(at, "write") } };
  if (!own || !names?.some((name) => STATE_FILE.test(name))) return { view };
  const source = join(own, `state-${crypto.randomUUID()}`);
  Deno.mkdirSync(source, { mode: 0o700 });
  places.set(at, "own");
  const isState = (name: string) => STATE_FILE.test(name) && !view.places.has(join(at, name));
  const textOf = (path: string) =>
    entryAt(path)?.isFile ? textWithin(path, MAX_STATE_BYTES) : undefined;
  const before = new Map<string, string | undefined>();
  for (const name of names) {
    const path = join(at, name);
    const text = isState(name) ? textOf(path) : undefined;
    if (text === undefined) places.set(path, accessAt(view, path));
    else before.set(name, text) && Deno.writeTextFileSync(join(source, name), text);
  }
  const store = () => {
    const lines: string[] = [];
    for (const name of new Set([...before.keys(), ...namesIn(source) ?? []])) {
      const [path, isOther] = [join(source, name), places.has(join(at, name)) || !isState(name)];
      const text = textOf(path);
      if (isOther || text !== undefined && text === before.get(name)) continue;
      const fault = text === undefined && entryAt(path)
        ? "it must be a file of at most 1 MB"
        : runInPlace(at, STORE_STATE, [name, path]).fault;
      if (fault) lines.push(`a plug-in's ${oneLine(join(at, name))} is not saved: ${fault}`);
    }
    attempt(() => Deno.removeSync(source, { recursive: true }));
    return lines;
  };
  return { view: { ...view, places, sources: new Map([[at, source]]) }, store };
}
