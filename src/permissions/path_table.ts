/** The table of protected paths, compiled for one person. @module */

import { escapeRegex } from "../text/glob.ts";
import { isAbsolute, join, resolve, slashed } from "../text/std_path.ts";
import { PROTECTED_ROWS, type ProtectedRow } from "./protected_paths.ts";
import { type Lookups, Remembered } from "./remembered.ts";

interface PersonalFolders {
  /** The home folder; left out, patterns that begin with `~/` match only below a folder called `~`. */
  home?: string | undefined;
  /** Absolute folders of this program's settings and records, wherever variables put them. */
  own?: readonly (string | undefined)[];
}

/** File system queries, replaced in tests. */
interface PathLooks {
  /** The file or folder to which a path leads; undefined where there is none, or none to be seen. */
  realPath(path: string): string | undefined;
  /** The names in a folder; none where it cannot be listed. */
  list(folder: string): readonly string[];
}

/** The path of a secret, and its contents in words. */
interface ConfinedPath {
  path: string;
  /** The file or folder to which the path leads; left out where there is none. */
  real?: string;
  what: string;
  /** True where a folder of that name, with all below it, is meant. */
  isFolder: boolean;
  /** True where a row matches the path itself: its pattern needs no other. */
  isInTable: boolean;
}

/** Rows of one kind: all in one expression, as few paths match any; a row's own is made for those. */
interface Matcher {
  any: RegExp;
  rows: readonly { what: string; source: string }[];
}

const SYSTEM_LOOKS: PathLooks = {
  realPath(path) {
    try {
      const real = Deno.realPathSync(path);
      const { isFile, isDirectory } = Deno.statSync(real);
      // No device: some people link the history of their shell to /dev/null.
      return isFile || isDirectory ? real : undefined;
    } catch {
      return undefined;
    }
  },
  list: namesIn,
};

/** The names in a folder; none for a file, or for a folder that cannot be listed. */
export function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch {
    return [];
  }
}

/** The table for one person. Patterns are compiled, and links looked up, with the first question. */
export class PathTable {
  readonly home: string | undefined;
  readonly #own: readonly string[];
  #secrets: Matcher | undefined;
  #protected: Matcher | undefined;
  readonly #confined = new Remembered<ConfinedPath[]>();

  constructor(
    { home, own = [] }: PersonalFolders = {},
    private readonly looks: PathLooks = SYSTEM_LOOKS,
  ) {
    // A relative one would be another folder after each /cd.
    this.home = home !== undefined && isAbsolute(home) ? home : undefined;
    this.#own = own.filter((folder) => folder !== undefined).map((folder) => resolve(folder));
  }

  /** The secret that an absolute path is likely to hold, in words; undefined for none known. */
  secretKind(path: string): string | undefined {
    return kindIn(this.#secretMatcher(), path);
  }

  /** The reason not to write an absolute path unasked, in words; undefined for none. */
  protectedKind(path: string): string | undefined {
    return kindIn(this.#protected ??= this.#matcher("protected"), path);
  }

  /** Matches the absolute path of a secret, with `/` between its parts. */
  get secretPattern(): RegExp {
    return this.#secretMatcher().any;
  }

  /** The secrets of the home folder and absolute ones; the target of a link is one by its own path. */
  confinedSecrets(): ConfinedPath[] {
    return this.#confined.get("", (from) => this.#locatedRows("secret", from));
  }

  /** @param from notes what the paths depend on, where they are remembered */
  #locatedRows(kind: ProtectedRow["kind"], from?: Lookups): ConfinedPath[] {
    const list = listedOnce((folder) => {
      from?.note(`${folder}/x`);
      return this.looks.list(folder);
    });
    const mayBeThere = homeNames(this.home, list);
    const own = kind === "secret" ? this.#own : [];
    const named = [
      ...tableRows(kind).flatMap((row) => located(row, this.home, list)),
      ...own.map((path) => ({
        path,
        what: "what this program keeps",
        isFolder: true,
        isInTable: false,
      })),
    ];
    return named.flatMap((one) => {
      const real = mayBeThere(one.path) ? this.#realPath(one.path, from) : undefined;
      if (real === undefined) return [one];
      return real === one.path
        ? [{ ...one, real }]
        : [{ ...one, real }, { ...one, path: real, real, isInTable: false }];
    });
  }

  #realPath(path: string, from?: Lookups): string | undefined {
    from?.note(path);
    const real = this.looks.realPath(path);
    from?.noteReal(path, real);
    return real;
  }

  #secretMatcher(): Matcher {
    return this.#secrets ??= this.#matcher("secret");
  }

  /** The rows of the table, and what they do not match: files of this home folder, and behind links. */
  #matcher(kind: ProtectedRow["kind"]): Matcher {
    // The sandbox heeds the others, too.
    const others = this.#locatedRows(kind).filter(({ isInTable }) => !isInTable)
      .map((one) => ({ what: one.what, source: absoluteSource(one) }));
    const rows = [...sourcesOf(kind), ...others];
    return { any: new RegExp(rows.map(({ source }) => source).join("|"), IGNORE_CASE), rows };
  }
}

/** The rows that count wherever the home folder is; its links are not looked up. */
export const ANY_HOME = new PathTable({}, { realPath: () => undefined, list: () => [] });

/** Some file systems take .GIT for .git. */
const IGNORE_CASE = "i";
/** Signs without width, which older file systems of Apple leave out when they compare names. */
const IGNORED = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/** Paths of a row's files; a pattern for every folder is looked up in `folder` only. */
function located(
  { what, globs, except }: PatternRow,
  folder: string | undefined,
  list: PathLooks["list"],
): ConfinedPath[] {
  const taken = except === "" ? undefined : new RegExp(`/${except}[^/]*$`, IGNORE_CASE);
  return globs.flatMap((glob) => {
    // Confined, a program sees no processes but its own; what git reads itself cannot be hidden from it.
    if (glob.startsWith("/proc/") || scopeOf(glob) === "deep") return [];
    const base = scopeOf(glob) === "root" ? "/" : folder;
    if (base === undefined) return [];
    const isInTable = scopeOf(glob) !== "home";
    return matchesBelow(base, glob.replace(/^~?\/|\/$/g, ""), list)
      .filter((path) => taken?.test(composedPath(path)) ?? true)
      .map((path) => ({ path, what, isFolder: glob.endsWith("/"), isInTable }));
  });
}

/** The paths in `base` that a pattern without braces matches; without wildcards, also where nothing is. */
function matchesBelow(base: string, glob: string, list: PathLooks["list"]): string[] {
  if (!/[*?]/.test(glob)) return [join(base, glob)];
  return glob.split("/").reduce((paths, name) => {
    if (!/[*?]/.test(name)) return paths.map((path) => join(path, name));
    const regex = new RegExp(`^${globSource(name)}`, IGNORE_CASE);
    return paths.flatMap((path) =>
      list(path).filter((one) => regex.test(one)).map((one) => join(path, one))
    );
  }, [base]);
}

/**
 * A quick look at what is surely not in the home folder, by listings of it and of folders in it: for most of
 * the paths that are known there is nothing, and to ask the system about each takes long. False for these
 * alone.
 */
export function homeNames(
  home: string | undefined,
  list: PathLooks["list"],
): (path: string) => boolean {
  if (home === undefined) return () => true;
  const comparable = (name: string) => plainPath(name).toLowerCase();
  const prefix = slashed(join(home, "x")).slice(0, -1);
  const listed: Record<string, ReadonlySet<string>> = {};
  return (path) => {
    if (!slashed(path).startsWith(prefix)) return true;
    let at = home;
    return slashed(path).slice(prefix.length).split("/").every((name) => {
      const names = listed[at] ??= new Set(list(at).map(comparable));
      at = join(at, name);
      // A folder that cannot be listed may hold anything.
      return names.size === 0 || names.has(comparable(name));
    });
  };
}

/** Lists each folder once: many patterns look at the same. */
function listedOnce(list: PathLooks["list"]): PathLooks["list"] {
  const listed: Record<string, readonly string[]> = {};
  return (folder) => listed[folder] ??= list(folder);
}

/** A path as the patterns are written; other file systems take it for the same. */
function plainPath(path: string): string {
  // If case is ignored, the long s is an s; the Kelvin sign becomes a K as letters are composed.
  return path.replaceAll("\\", "/").replace(IGNORED, "").replace(/\/(?:\.?\/)+/g, "/")
    .replaceAll("\u017f", "s").normalize();
}

function kindIn({ any, rows }: Matcher, path: string): string | undefined {
  const plain = plainPath(path);
  if (!any.test(plain)) return undefined;
  return rows.find(({ source }) => new RegExp(source, IGNORE_CASE).test(plain))?.what;
}

/** A row with its patterns apart, without braces. */
interface PatternRow {
  what: string;
  globs: readonly string[];
  /** The expression for names that `globs` match and that are harmless; empty for none. */
  except: string;
}

const partedRows: Partial<Record<ProtectedRow["kind"], readonly PatternRow[]>> = {};
const tableRows = (kind: ProtectedRow["kind"]): readonly PatternRow[] =>
  partedRows[kind] ??= PROTECTED_ROWS.filter((row) => row.kind === kind).map(
    ({ what, paths, except }) => ({
      what,
      globs: alternativesOf(paths),
      except: except === undefined ? "" : `(?!${alternativesOf(except).map(globSource).join("|")})`,
    }),
  );
const sourcesOf = (kind: ProtectedRow["kind"]) =>
  tableRows(kind).map((row) => ({ what: row.what, source: rowSource(row) }));

/** Patterns are anchored at a `/` or at the end, with one `*` in a name at most: tests take linear time. */
function rowSource({ globs: all, except }: PatternRow): string {
  const globs = Object.groupBy(all, scopeOf);
  const below = (folder: string, names: readonly string[] = []) => {
    const source = names.map(globSource).join("|");
    return source === "" ? [] : [`${folder}/${except}(?:${source})`];
  };
  // `*` at the start of a name is whatever stands there: looking for it takes more time than the rest.
  const [endings, anywhere] = [true, false].map((isEnding) =>
    globs.anywhere?.filter((glob) => isEnding === (glob.startsWith("*") && except === ""))
  );
  return [
    ...(globs.deep ?? []).map((glob) => {
      const [folder, name] = glob.split("/**/");
      // The two ends are looked for by themselves: what stands between them is not tried out.
      return `^(?=[^]*?/${escapeRegex(folder!)}/)[^]*/${globSource(name!)}`;
    }),
    ...(endings ?? []).map((glob) => globSource(glob.slice(1))),
    ...below("", anywhere),
    ...below("^", globs.root?.map((glob) => glob.slice(1))),
    // To tools `~` is a name like any other; a model that writes it means the home folder.
    ...below("/~", globs.home?.map((glob) => glob.slice(2))),
  ].join("|");
}

function scopeOf(glob: string): "home" | "root" | "deep" | "anywhere" {
  if (glob.startsWith("~/")) return "home";
  if (glob.startsWith("/")) return "root";
  return glob.includes("/**/") ? "deep" : "anywhere";
}

/** The expression for a pattern without braces, up to the end of the path or of the folder's name. */
function globSource(glob: string): string {
  const name = escapeRegex(glob.replace(/\/$/, "")).replace(/\\\*/g, "[^/]*")
    .replace(/\\\?/g, "[^/]");
  return name + (glob.endsWith("/") ? FOLDER_END : FILE_END);
}

const FOLDER_END = "(?:/|$)";
const FILE_END = "/?$";

/** The expression for an absolute path, in both of the ways in which Unicode composes letters. */
function absoluteSource({ path, isFolder }: ConfinedPath): string {
  const composed = composedPath(path);
  const forms = [...new Set([composed, composed.normalize("NFD")])].map(escapeRegex).join("|");
  return `^(?:${forms})${isFolder ? FOLDER_END : FILE_END}`;
}

/** The words of `text`, each as often as its braces have alternatives. */
function alternativesOf(text: string): string[] {
  return text.split(/\s+/).filter((glob) => glob !== "").flatMap((glob) => {
    const [, before, inner, after] = /^(.*?)\{(.*?)\}(.*)$/.exec(glob) ?? [];
    if (inner === undefined) return [glob];
    return inner.split(",").flatMap((part) => alternativesOf(`${before}${part}${after}`));
  });
}

/** A path with `/`, in Unicode's form NFC, as the paths that are tested. */
const composedPath = (path: string): string => slashed(path).normalize();
