/** Makes the view of a folder for its settings. @module */

import { isInDependencies, SYSTEM_PATH } from "../find_program.ts";
import { isWithin } from "../text/paths.ts";
import { basename, dirname, join } from "../text/std_path.ts";
import { type Finding, FolderLooks, hasOtherBytes, type PathAccess } from "./folder_looks.ts";
import { findingsIn, GENERATED, type PlaceLook } from "./folder_search.ts";
import { isInsideGit, smallFile, withoutCredentials } from "./git_files.ts";
import { gitFindings, sshFindings, variableFindings } from "./named_files.ts";
import { READ_FILE, runInPlace } from "./in_place.ts";
import { makeNamed, makeOwnFolders } from "./missing_paths.ts";
import { listedOnce, type PathTable } from "./path_table.ts";
import { canOpen, entryAt, linkIn, linksOn, listedPlace, realPathOf } from "./places.ts";
import { OF_SYSTEM } from "./protected_paths.ts";
import { addPlaces, namedPlaces, programParts } from "./readable_folders.ts";
import { repositoryAround } from "./repositories.ts";
import { homeSecrets, systemSecrets } from "./secret_search.ts";
import { accessAt, type View } from "./view.ts";

interface ViewSources extends Pick<PlaceLook, "ruled"> {
  folder: string;
  isWritable: boolean;
  network: boolean;
  paths: PathTable;
  read?: readonly string[];
  write?: readonly string[];
  /** The folders of `write` that the user opened for one command. Folders of PATH stay read-only in them. */
  opened?: readonly string[];
  /** Further folders that commands may have written; the folder and `write` are. */
  written?: readonly string[];
  /** The access to folders without links, and to what is in them, which commands of another view may replace. */
  lent?: View["places"];
  ruledPlaces?: readonly string[];
  looks?: FolderLooks;
  programs?: readonly string[];
  /** Absolute folders of programs, from PATH, that may be in the folder. */
  allPrograms?: readonly string[];
}

/** Makes the view of a folder. Creates what git's settings name and is missing, so that no command can create it. */
export function makeView(sources: ViewSources): View {
  const { folder, isWritable, network, paths, write = [], programs = [] } = sources;
  const { looks = new FolderLooks(paths), lent: shared = new Map() } = sources;
  const lent = [...shared.keys()];
  makeOwnFolders([...paths.own, ...paths.temporary], [...isWritable ? [folder] : [], ...write]);
  const list = listedOnce((at) => looks.at(at, true)?.entries.map(({ name }) => name) ?? []);
  const places = namedPlaces(paths.home, programs, list);
  const ofHome = homeSecrets(places, paths, looks);
  const repository = repositoryAround(folder, paths.homes);
  const [toRead, toWrite] = listedPlaces(sources);
  addPlaces(places, "read", repository);
  for (const { name, real } of toRead) places.set(name, "read").set(real, "read");
  for (const [at, access] of shared) if (realPathOf(at) === at) places.set(at, access);
  for (const { name, real } of toWrite) places.set(name, "write").set(real, "write");
  const [listed, written] = [toRead.map(({ real }) => real), toWrite.map(({ real }) => real)];
  const named = new Set([...listed, ...written]);
  const mayRestrict = (path: string) =>
    // Programs may be in a folder that an administrator closed to others.
    !(named.has(path) ||
      [...named].some((at) => isWithin(at, path)) && paths.protectedKind(path) === OF_SYSTEM) &&
    ![folder, ...programs].some((at) => isWithin(path, at));
  const beside = looksBeside(sources, repository[0], [...listed, ...lent])
    .flatMap((look) => findingsIn(look, looks).found);
  const ofSystem = systemSecrets(looks, [folder, ...repository]);
  for (const { path, access } of [...ofSystem, ...beside, ...ofHome.found]) {
    const usual = accessAt({ places }, path);
    const isStricter = usual === "write" || usual === "read" && access === "hidden";
    if (isStricter && mayRestrict(path)) addPlaces(places, access, [path]);
  }
  // In a repository without a work tree, and in a folder of programs or settings, new files count as well.
  const isProtected = isInsideGit(folder) || paths.protectedKind(folder) !== undefined;
  places.set(folder, isWritable && !isProtected ? "write" : "read");
  for (const at of written) if (isInsideGit(at)) places.set(at, "read");
  const isInside = (path: string) => [folder, ...written].some((at) => isWithin(at, path));
  addPlaces(places, "read", programParts([folder, ...written]).filter(isInside));
  const repositories = new Set(repository.map((at, i) => i === 0 ? join(at, ".git") : at));
  // Settings of the surrounding repository name paths in the folder.
  const stated = beside.filter((one) => one.named !== undefined);
  const [all, links] = [[...beside], [] as string[]];
  let { isComplete } = ofHome;
  for (const root of new Set([folder, ...written])) {
    const isFolder = root === folder;
    const inside = findingsIn({ ...isFolder ? sources : { paths, isListed: true }, root }, looks);
    isComplete &&= inside.isComplete;
    const ofFolder = isFolder ? inside.found : inside.found.filter(({ path }) => mayRestrict(path));
    const found = [...ofFolder, ...programsIn(root, sources, looks, toWrite)];
    const git = found.filter(({ isGitFolder }) => isGitFolder).map(({ path }) => path);
    for (const at of git) if (isFolder || isWithin(root, at)) repositories.add(at);
    found.push(...stated);
    // Secrets come first: nothing that leads to one opens it.
    found.sort((a, b) => +(b.access === "hidden") - +(a.access === "hidden"));
    links.push(...protect(root, places, found));
    all.push(...found);
  }
  hideSecrets(places, folder, paths.confinedSecrets(list).filter(({ real }) => !named.has(real!)));
  hideTemporary(places, paths);
  const texts = replaceTexts(places, all);
  return { folder, places, texts, network, isComplete, links, lent, ...knownTo(repositories) };
}

/** Returns the listed paths to read and to write that exist, resolved once: a job may exchange one for a link. */
function listedPlaces({ folder, paths, read = [], write = [], written = [] }: ViewSources) {
  const byCommands = [folder, ...written, ...realPathsOf(write)];
  return [read, write].map((names) =>
    names.flatMap((name) => {
      const { real, isMade } = listedPlace(name, byCommands, (at) => paths.isWorkplace(at));
      return isMade || entryAt(real) === undefined ? [] : [{ name, real }];
    })
  ) as [ListedPlace[], ListedPlace[]];
}

type ListedPlace = { name: string; real: string };

const realPathsOf = (paths: readonly string[]): string[] =>
  paths.flatMap((path) => realPathOf(path) ?? []);

/** Returns the places outside of the folder to search: its repository, the listed ones, and those of rules. */
function looksBeside(
  { folder, paths, ruled, ruledPlaces = [], write = [] }: ViewSources,
  repository: string | undefined,
  listed: readonly string[],
): PlaceLook[] {
  // A listed path may be as large as `/tmp`, and a user who lists a secret wants it readable.
  const shallow = [
    ...write.flatMap((at) => repositoryAround(at, paths.homes)[0] ?? []),
    ...listed.filter((root) => paths.secretKind(root) === undefined),
  ];
  return [
    ...ruledPlaces.map((root) => ({ root, ruled })),
    ...repository === undefined ? [] : [{ root: repository, paths }],
    ...shallow.map((root) => ({ root, paths, isShallow: true })),
  ].filter(({ root }) => !isWithin(folder, root));
}

/**
 * Returns what others run in a writable folder: what variables and ssh's settings name, the targets of links in folders
 * of PATH, and the folders of PATH. Those of dependencies are written by package managers, so that no session trusts
 * them by their names; behind a link with another name, it would trust what replaces the link.
 */
function programsIn(
  folder: string,
  { allPrograms = [], paths, opened = [] }: ViewSources,
  looks: FolderLooks,
  toWrite: readonly ListedPlace[],
): Finding[] {
  // A user who lists a folder of programs wants to build there.
  const listed = toWrite.flatMap(({ name, real }) => opened.includes(name) ? [] : real);
  const links = allPrograms.filter((at) => !SYSTEM_PATH.split(":").includes(at))
    .flatMap((at) => looks.at(at)?.entries ?? []).filter(({ isLink }) => isLink);
  const named = [
    ...allPrograms.map((path) => [path, "hooks"] as const),
    ...links.map(({ path }) => [path, "file"] as const),
  ];
  const found = named.flatMap(([path, kind]): Finding[] => {
    const real = realPathOf(path);
    if (!real || !isWithin(folder, real) || isInDependencies(path)) return [];
    if (kind === "file" && !entryAt(real)?.isFile) return [];
    // Such as a program that `npm link` leads to: each build writes it.
    const isBuilt = real.slice(folder.length).split("/").some((name) => GENERATED.test(name));
    if (kind === "file" && isBuilt) return [];
    const isOpen = isInDependencies(real) || listed.includes(real);
    return [{ path, access: "read", named: isOpen ? "link" : kind }];
  });
  // In a folder without a repository, too, the user's git runs what the user's settings name.
  const ofGit = gitFindings(undefined, folder, paths).filter((one) => one.named);
  return [...found, ...ofGit, ...variableFindings(folder, paths), ...sshFindings(paths.home)];
}

/** Restricts access to what was found in a folder, and returns the protected links that are directly in it. */
function protect(
  root: string,
  places: Map<string, PathAccess>,
  found: readonly Finding[],
): string[] {
  const links = new Set<string>();
  for (const { path, access, named } of found) {
    const isMade = named && named !== "link";
    if (isMade && accessAt({ places }, root) === "write") makeNamed(root, path, named);
    const reached = realPathOf(path, "");
    const real = reached === "" ? path : reached;
    // Most have no link on the way. Links are restored only directly in the folder, which no command can move.
    const mayLink = reached !== path || hasOtherBytes(path);
    for (const link of mayLink && (named || entryAt(path)?.isSymlink) ? linksOn(root, path) : []) {
      const around = dirname(link);
      const isOfPackages = named === "link" && isInDependencies(around);
      if (isOfPackages || accessAt({ places }, around) !== "write") continue;
      if (around === root) links.add(link);
      else if (named || access === "read" && link !== path) places.set(around, "read");
    }
    // A link out of the folder has the access of its target.
    if (real === undefined || !isWithin(root, real)) continue;
    if (access === "read" && accessAt({ places }, real) === "hidden") continue;
    // A mount cannot be made behind a link, whose target has another path.
    const closed = named === "link" ? [] : named ? [real] : [path, real];
    for (const one of closed) places.set(one, access);
  }
  // A command could replace what `..` follows by a link, which no mount can be.
  for (const { path } of found.filter(({ named }) => named !== undefined)) {
    for (const { index } of path.matchAll(/\/\.\.(?=\/|$)/g)) {
      let at = realPathOf(path.slice(0, index)) ?? root;
      for (; at !== root && isWithin(root, at); at = dirname(at)) {
        if (accessAt({ places }, at) === "write") places.set(at, "write");
      }
    }
  }
  return [...links];
}

function hideSecrets(
  places: Map<string, PathAccess>,
  folder: string,
  secrets: readonly { path: string; real?: string }[],
): void {
  for (const { path, real } of secrets) {
    // The folder itself is never hidden, and what this user cannot open needs no hiding.
    if (real === undefined || isWithin(real, folder) || !canOpen(real)) continue;
    for (const one of [path, real]) places.set(one, "hidden");
  }
}

/** Hides the private folders of all sessions; the view's own folder, which may be a copy in them, stays visible. */
function hideTemporary(places: Map<string, PathAccess>, { temporary }: PathTable): void {
  for (const at of realPathsOf(temporary)) {
    if (/read|write/.test(accessAt({ places }, at))) places.set(at, "hidden");
  }
}

/** Texts with credentials that were read at paths without a link. */
const knownTexts = new Map<string, string>();

/** Makes settings that contain credentials read-only, and returns the texts that programs see instead of them. */
function replaceTexts(
  places: Map<string, PathAccess>,
  found: readonly Finding[],
): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { path, isSettings } of found) {
    const real = isSettings && realPathOf(path);
    if (!real || !/read|write/.test(accessAt({ places }, real))) continue;
    const text = smallFile(real);
    const plain = withoutCredentials(text);
    if (plain === text) continue;
    places.set(real, "read");
    // A program that runs may just have put a link to a hidden file there.
    if (knownTexts.get(real) !== text) {
      const { output } = runInPlace(dirname(real), READ_FILE, [basename(real)]);
      if (output === text.trim()) knownTexts.set(real, text);
    }
    texts.set(real, knownTexts.get(real) === text ? plain : "");
  }
  return texts;
}

function knownTo(paths: ReadonlySet<string>): Pick<View, "repositories" | "gitLinks"> {
  const gitLinks = new Map<string, string>();
  for (const path of paths) {
    const target = entryAt(path)?.isSymlink ? linkIn(path) : undefined;
    if (target !== undefined) gitLinks.set(path, target);
  }
  return { repositories: [...paths], gitLinks };
}
