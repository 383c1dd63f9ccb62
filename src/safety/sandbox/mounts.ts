/** The mounts of a sandbox: the arguments for bubblewrap, and the lines of the kernel's list. @module */

import { attempt } from "../../attempt.ts";
import { systemProgram } from "../../start_program.ts";
import { tempFolders } from "../../temp_folder.ts";
import { isWithin } from "../../text/paths.ts";
import { dirname, join } from "../../text/std_path.ts";
import { hasOtherBytes, type PathAccess } from "../folder_looks.ts";
import { entryAt, realPathOf } from "../places.ts";
import { accessAt, type View, writableRoots } from "../view.ts";

interface SandboxMount {
  /** The arguments for bubblewrap; empty if the path needs no mount. */
  words: string[];
  /** The line that the sandbox compares with the kernel's list, for a path that commands may have replaced. */
  line?: string | undefined;
  /** True for an empty folder, which is made read-only at the end. */
  isEmpty?: boolean;
}

/** Returns the arguments for all mounts, parents first, the empty folders, the lines to compare, and what contains their paths. */
export function mountsOf(view: View, own: string) {
  const around = hostMounts ??= mountTable();
  const { places, writtenAround } = allPlaces(view, own);
  // Cgroup mounts come last: there are many, and for each mount bubblewrap reads the list of all before it.
  const order = (path: string) => path.length + (path.startsWith("/sys/") ? 1e5 : 0);
  const mounts = [...places].sort(([a], [b]) => order(a) - order(b)).map(([path, access]) => {
    const lineFor = (real: string) =>
      mountLine(around, { real, at: path, isReadOnly: access === "read" });
    const source = view.sources?.get(path) ?? ownSource(own, path);
    if (access === "own") return { path, ...privateMount(path, source, lineFor) };
    // The folder counts as well: a job of another folder may be able to write its parent.
    const isInside = path === view.folder || view.lent?.includes(path) ||
      writtenAround(path) !== undefined;
    return { path, ...mountOf({ view, own, path, access, isInside, lineFor }) };
  });
  const tops: string[] = [];
  for (const { path, line } of mounts) {
    if (line && !tops.some((at) => isWithin(at, path))) tops.push(path);
  }
  return {
    mounts: mounts.flatMap(({ words }) => words),
    empty: mounts.filter(({ isEmpty }) => isEmpty).map(({ path }) => path),
    inside: mounts.flatMap(({ line }) => line ?? []),
    tops: tops.map(asInMountinfo),
  };
}

function privateMount(
  path: string,
  source: string,
  lineFor: (real: string) => string,
): SandboxMount {
  Deno.mkdirSync(source, { recursive: true, mode: 0o700 });
  // A path with a link is mounted elsewhere.
  const isReal = [undefined, dirname(path)].includes(realPathOf(dirname(path)));
  const line = isReal ? lineFor(realPathOf(source) ?? source) : undefined;
  return { words: ["--bind", source, path], line };
}

interface MountSources {
  view: View;
  own: string;
  path: string;
  access: PathAccess;
  /** True if commands may replace the path. */
  isInside: boolean;
  lineFor(real: string): string;
}

function mountOf({ view, own, path, access, isInside, lineFor }: MountSources): SandboxMount {
  const isFolder = path === view.folder;
  const above = accessAt(view, dirname(path));
  // If nothing is mounted above, nothing needs hiding, and links are created.
  const isBare = above === "hidden";
  if (hasOtherBytes(path)) return { words: isBare ? [] : [maskOf(path)] };
  const text = view.texts?.get(path);
  // The mount above is read-only with everything below it, other disks too. Each further mount takes about 0.2 ms.
  const isSame = access === "read" && above === "read" && !isFolder;
  if (isSame && text === undefined) return { words: [] };
  const entry = entryAt(path);
  // The path disappeared after the view was made. With this line, the sandbox refuses to start.
  if (entry === undefined && isInside) return { words: [], line: lineFor(path) };
  if (text !== undefined) {
    const source = fileWith(text, own);
    return { words: ["--ro-bind", source, path], line: isInside ? lineFor(source) : undefined };
  }
  const isAbsent = !isFolder && (isBare || above === "own" && entry?.isDirectory === false);
  if (entry === undefined || access === "hidden" && isAbsent) return { words: [] };
  if (entry.isSymlink) {
    return { words: isBare ? ["--symlink", Deno.readLinkSync(path), path] : [] };
  }
  if (access !== "hidden") {
    // A path that has disappeared needs no mount; its line detects that in the folder.
    const words = [access === "read" ? "--ro-bind-try" : "--bind-try", path, path];
    return { words, line: isInside ? lineFor(path) : undefined };
  }
  const line = isInside ? `${asInMountinfo(path)} r` : undefined;
  if (!entry.isDirectory) return { words: ["--ro-bind", "/dev/null", path], line };
  // In a system's folder, its mode makes it read-only without a further mount.
  if (!isInside && above === "read") {
    return { words: ["--perms", "0555", "--size", "4096", "--tmpfs", path] };
  }
  // With this mode, git reports an error. An empty folder would look like deleted files, also to the next commit.
  const mode = !isFolder && isWithin(view.folder, path) ? ["--perms", "0000"] : [];
  return { words: [...mode, "--tmpfs", path], line, isEmpty: true };
}

/** Returns an argument for the script of `wrap.ts` that hides all paths that Deno writes as `path`. */
const maskOf = (path: string): string =>
  `\ufffd${path.replace(/[*?[\]\\]/g, "?").replaceAll("\ufffd", "[! -~]*")}`;

/** Returns a view's places with what no command may replace: this program's folders, and those between mounts. */
function allPlaces(view: View, own: string) {
  const places = new Map(view.places);
  const roots = [...view.places].filter(([path, access]) =>
    path === view.folder || access === "write" && entryAt(path)?.isDirectory
  ).map(([path]) => path).sort((a, b) => a.length - b.length);
  /** Returns the outermost writable folder around a path, in which commands may swap what is to be mounted. */
  const writtenAround = (path: string) =>
    roots.find((root) => root !== path && isWithin(root, path));
  // If the user made the parent folder writable, a command could write the next one's filter of system calls, or
  // what a server with other rights uses.
  for (const at of [own, ...tempFolders.keys()]) {
    const isOpen = /read|write/.test(accessAt(view, at)) && !isWithin(at, view.folder);
    if (isOpen && entryAt(at) !== undefined) places.set(at, "hidden");
  }
  for (const [path, access] of [...places]) {
    const isOwn = (at: string) => accessAt(view, at) === "own" && !places.has(at);
    // Mounted as well: a command could replace it with a link, which the next mount would follow.
    for (let at = dirname(path); isOwn(at); at = dirname(at)) places.set(at, "own");
    if (access === "write") continue;
    for (const at of foldersBetween(writtenAround(path), path)) {
      if (!places.has(at)) places.set(at, accessAt(view, at));
    }
  }
  return { places, writtenAround };
}

/** Returns the folders between `folder` and a path in it. A mount point cannot be moved away with its files. */
export function foldersBetween(folder: string | undefined, path: string): string[] {
  const between: string[] = [];
  if (folder === undefined || !isWithin(folder, path)) return between;
  for (let at = dirname(path); at !== folder && isWithin(folder, at); at = dirname(at)) {
    between.push(at);
  }
  return between;
}

const written = new Map<string, string>();

/** Returns the path of a file in `own` with a text, which programs cannot replace. */
function fileWith(text: string | Uint8Array, own: string): string {
  const isText = typeof text === "string";
  const key = isText ? `text ${text}` : `bytes ${new TextDecoder("latin1").decode(text)}`;
  const name = written.get(key) ?? `text-${written.size}`;
  written.set(key, name);
  const path = join(realPathOf(own) ?? own, name);
  if (entryAt(path) === undefined) {
    const bytes = isText ? new TextEncoder().encode(text) : text;
    Deno.writeFileSync(path, bytes, { createNew: true, mode: 0o600 });
  }
  return path;
}

export const ownSource = (own: string, path: string): string =>
  join(own, path.replaceAll("/", "-"));

/** With more mounts in the folder, folders with several are closed. For each, bubblewrap reads the list of all. */
const MANY_MOUNTS = 150;
/** With more, folders with a single one are closed as well: a slow start is better than a closed folder. */
const MAX_MOUNTS = 450;

/** A long path counts as several: the list of all mounts, with two paths in each line, is one argument of at most 128 KiB. */
const weightOf = (path: string): number =>
  Math.ceil(new TextEncoder().encode(asInMountinfo(path)).length / 128);

/** Returns a view with fewer mounts in writable folders: folders with too many paths are closed as a whole. */
export function withFewPaths(view: View): View {
  const roots = writableRoots(view);
  const rootOf = (path: string) => roots.find((root) => isWithin(root, path));
  const inside = [...view.places].filter(([path, access]) =>
    !roots.includes(path) && rootOf(path) !== undefined && access !== accessAt(view, dirname(path))
  ).map(([path]) => path);
  // The longest first: a folder comes before those around it.
  const folders = [...new Set(inside.flatMap((path) => foldersBetween(rootOf(path), path)))]
    .sort((a, b) => b.length - a.length);
  let crowded = new Set<string>();
  let counts = new Map<string, number>(roots.map((root) => [root, 0]));
  let total = [...inside, ...folders].reduce((sum, path) => sum + weightOf(path), 0);
  for (let most = MANY_MOUNTS; total > (most > 0 ? MANY_MOUNTS : MAX_MOUNTS); most >>= 1) {
    let excess = most > 0 ? 0 : total - MAX_MOUNTS;
    counts = new Map(roots.map((root) => [root, 0]));
    const add = (at: string, more: number) => counts.set(at, (counts.get(at) ?? 0) + more);
    for (const path of inside) add(dirname(path), weightOf(path));
    crowded = new Set();
    for (const at of folders) {
      const count = counts.get(at)!;
      // A closed git folder would be no repository.
      const isCrowded = (count > (most || 1) || excess > 0) &&
        !view.repositories?.some((one) => isWithin(one, at));
      if (isCrowded) crowded.add(at);
      if (isCrowded && count === 1) excess--;
      add(dirname(at), isCrowded ? weightOf(at) : count + weightOf(at));
    }
    total = roots.reduce((sum, root) => sum + counts.get(root)!, 0);
    if (most === 0) break;
  }
  for (const root of roots.toSorted((a, b) => counts.get(b)! - counts.get(a)!)) {
    if (total > MAX_MOUNTS) crowded.add(root);
    total -= counts.get(root)!;
  }
  const places = new Map(view.places);
  const closed = new Set<string>();
  for (const [path, access] of crowded.size === 0 ? [] : view.places) {
    const root = roots.includes(path) ? undefined : rootOf(path);
    if (root === undefined) continue;
    const at = [...foldersBetween(root, path), root].findLast((one) => crowded.has(one));
    if (at === undefined) continue;
    closed.add(at);
    places.delete(path);
    const isHidden = access === "hidden" || view.texts?.has(path);
    if (places.get(at) !== "hidden") places.set(at, isHidden ? "hidden" : "read");
  }
  return { ...view, places, closed: [...closed].sort() };
}

type Mount = ReturnType<typeof mountTable>[number];

/** The mounts around the sandboxes. */
let hostMounts: readonly Mount[] | undefined;

/** Called if the known mounts may be outdated. */
export const forgetMounts = (): void => void (hostMounts = undefined);

/** Returns the text of `/proc/self/mountinfo`, which Deno reads with all permissions only. */
function mountinfo(): string {
  const cat = systemProgram("cat", { args: ["/proc/self/mountinfo"] });
  return attempt(() => new TextDecoder().decode(cat.outputSync().stdout)) ?? "";
}

/** Returns the mounts in the text of `/proc/self/mountinfo`: the folder `root` of `device` is mounted at `at`. */
export const mountTable = (text = mountinfo()) =>
  text.split("\n").filter(Boolean).map((line) => {
    const [id = "", parent = "", device = "", root = "", at = "", mode] = line.split(" ");
    const [isReadOnly, isNfs] = [/^ro\b/.test(mode!), / - nfs4? /.test(line)];
    return { id, parent, device, root, at, isReadOnly, isNfs };
  });

/** Returns the line to compare if a path of the host is mounted at `at`. */
export function mountLine(
  mounts: readonly Mount[],
  { real, at = real, isReadOnly = false }: { real: string; at?: string; isReadOnly?: boolean },
): string {
  const path = asInMountinfo(real);
  const around = mounts.filter(({ at }) => at === "/" || `${path}/`.startsWith(`${at}/`))
    .toSorted((a, b) => a.at.length - b.at.length);
  // The shortest path first: a mount hides what was mounted deeper before it.
  let mount = around.find(({ id, parent }) =>
    id === parent || !around.some((other) => other.id === parent)
  );
  for (let next = mount; next !== undefined;) {
    mount = next;
    next = around.find(({ id, parent }) => parent === mount!.id && id !== parent);
  }
  // A list without the path must not match.
  if (mount === undefined) return `? ${asInMountinfo(at)} rw,`;
  const root = `${mount.root}${path.slice(mount.at === "/" ? 0 : mount.at.length)}`;
  // On NFS, the kernel shows no other root.
  const shown = mount.isNfs ? "/" : root.replace(/^\/\//, "/");
  const mode = isReadOnly || mount.isReadOnly ? "ro" : "rw";
  return `${mount.device} ${shown} ${asInMountinfo(at)} ${mode},`;
}

function asInMountinfo(path: string): string {
  const octal = (sign: string) => sign.charCodeAt(0).toString(8).padStart(3, "0");
  return path.replace(/[ \t\n\\]/g, (sign) => `\\${octal(sign)}`);
}
