/** The table of protected paths, compiled for one person. @module */

import { escapeRegex } from "../text/glob.ts";
import { isWithin } from "../text/paths.ts";
import { isAbsolute, join, resolve, SEPARATOR, slashed } from "../text/std_path.ts";
import { PROTECTED_ROWS, type ProtectedRow } from "./protected_paths.ts";

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

/** Rows of one kind. Few paths match any: expressions, which take V8 long, are made for what may match. */
class Matcher {
  /** A path that matches holds one of them, in small letters. */
  readonly #pieces: readonly string[];
  #any?: RegExp;
  #rows?: readonly { what: string; source: string }[];

  /** @param others paths that the table's patterns do not match */
  constructor(
    private readonly table: readonly PatternRow[],
    private readonly others: ConfinedPath[],
  ) {
    const texts = [
      ...table.flatMap(({ globs }) => globs),
      ...others.map(({ path }) => plainPath(path)),
    ];
    this.#pieces = [...new Set(texts.map(tellingPiece))];
  }

  get rows(): readonly { what: string; source: string }[] {
    return this.#rows ??= [
      ...this.table.map((row) => ({ what: row.what, source: rowSource(row) })),
      ...this.others.map((one) => ({ what: one.what, source: absoluteSource(one) })),
    ];
  }

  get any(): RegExp {
    return this.#any ??= new RegExp(this.rows.map(({ source }) => source).join("|"), IGNORE_CASE);
  }

  kindOf(path: string): string | undefined {
    const plain = plainPath(path);
    const small = plain.toLowerCase();
    if (!this.#pieces.some((piece) => small.includes(piece)) || !this.any.test(plain)) return;
    return this.rows.find(({ source }) => new RegExp(source, IGNORE_CASE).test(plain))?.what;
  }
}

/** The longest piece of a pattern or path that each match holds as it is, but for the case. */
function tellingPiece(text: string): string {
  const pieces = text.replace(/^~|\/$/g, "").toLowerCase().split(/[^!-)+->@-~]+/);
  return pieces.reduce((longest, piece) => piece.length > longest.length ? piece : longest);
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
  /** The folder to which the home folder leads. */
  readonly realHome: string | undefined;
  /** The absolute folders of this program's settings and records. */
  readonly own: readonly string[];
  #secrets: Matcher | undefined;
  #protected: Matcher | undefined;
  #names: { names: ReadonlySet<string>; pieces: readonly string[] } | undefined;

  constructor(
    { home, own = [] }: PersonalFolders = {},
    private readonly looks: PathLooks = SYSTEM_LOOKS,
  ) {
    // A relative one would be another folder after each /cd.
    this.home = home !== undefined && isAbsolute(home) ? join(home) : undefined;
    this.realHome = this.home && (looks.realPath(this.home) ?? this.home);
    this.own = own.filter((folder) => folder !== undefined).map((folder) => resolve(folder));
  }

  /** The secret that an absolute path is likely to hold, in words; undefined for none known. */
  secretKind(path: string): string | undefined {
    return this.#secretMatcher().kindOf(path);
  }

  /** The reason not to write an absolute path unasked, in words; undefined for none. */
  protectedKind(path: string): string | undefined {
    return (this.#protected ??= this.#matcher("protected")).kindOf(path);
  }

  /**
   * Returns why not to write an absolute path unasked in the working folder `root`, in which new files configure
   * programs; undefined for no reason.
   */
  configuredKind(root: string, path: string): string | undefined {
    const { realHome: home } = this;
    if (home === undefined || !isWithin(root, home)) return this.protectedKind(root);
    return isWithin(home, path) && HOME_SETTING.test(slashed(path.slice(home.length)))
      ? "a setting or a program of yours"
      : undefined;
  }

  /** A quick look at the name of a file in a folder that is none of these: false where its path is surely none either. */
  mayMatch(name: string): boolean {
    const { names, pieces } = this.#names ??= this.#lastNames();
    const small = name.toLowerCase();
    return small.startsWith(".") || names.has(small) ||
      names.has(small.slice(small.lastIndexOf("."))) ||
      /[^!-~]/.test(small) || pieces.some((piece) => small.includes(piece));
  }

  /** The last names of all patterns, and endings such as `.pem`; the telling pieces of those with other wildcards. */
  #lastNames(): { names: ReadonlySet<string>; pieces: readonly string[] } {
    const all = (["secret", "protected"] as const).flatMap((kind) => [
      ...tableRows(kind).flatMap(({ globs }) => globs),
      ...this.#locatedRows(kind).map(({ path }) => slashed(path)),
    ]).map((glob) => glob.toLowerCase().replace(/\/$/, "").replace(/^.*\//, ""));
    const isEnding = (name: string) => /^\*\.[^.*]+$/.test(name);
    const others = all.filter((name) => name.includes("*") && !isEnding(name));
    return {
      names: new Set(all.map((name) => isEnding(name) ? name.slice(1) : name)),
      pieces: [...new Set(others.map(tellingPiece))].filter((piece) => !piece.startsWith(".")),
    };
  }

  /** Matches the absolute path of a secret, with `/` between its parts. */
  get secretPattern(): RegExp {
    return this.#secretMatcher().any;
  }

  /** The secrets of the home folder and absolute ones; the target of a link is one by its own path. */
  confinedSecrets(): ConfinedPath[] {
    return this.#locatedRows("secret");
  }

  #locatedRows(kind: ProtectedRow["kind"]): ConfinedPath[] {
    const list = listedOnce((folder) => this.looks.list(folder));
    const isToAsk = mayBeThere(this.home, list);
    const own = kind === "secret" ? this.own : [];
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
      const real = isToAsk(one.path) ? this.looks.realPath(one.path) : undefined;
      if (real === undefined) return [one];
      return real === one.path
        ? [{ ...one, real }]
        : [{ ...one, real }, { ...one, path: real, real, isInTable: false }];
    });
  }

  #secretMatcher(): Matcher {
    return this.#secrets ??= this.#matcher("secret");
  }

  /** The rows of the table, and what they do not match: files of this home folder, and behind links. */
  #matcher(kind: ProtectedRow["kind"]): Matcher {
    // The sandbox heeds the others, too.
    const others = this.#locatedRows(kind).filter(({ isInTable }) => !isInTable);
    return new Matcher(tableRows(kind), others);
  }
}

/** Settings of programs, and programs, in the home folder. */
const HOME_SETTING = /^\/?(\.|Library\/|(\w+\/)?s?bin\/)/i;

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
    const scope = scopeOf(glob);
    // Confined, a program sees no processes but its own; what git reads itself cannot be hidden from it.
    if (glob.startsWith("/proc/") || scope === "deep") return [];
    const base = scope === "root" ? "/" : folder;
    if (base === undefined) return [];
    const isInTable = scope !== "home";
    return matchesBelow(base, glob.replace(/^~?\/|\/$/g, ""), list)
      .filter((path) => taken?.test(composedPath(path)) ?? true)
      .map((path) => ({ path, what, isFolder: glob.endsWith("/"), isInTable }));
  });
}

/** The paths in `base` that a pattern without braces matches; without wildcards, also where nothing is. */
function matchesBelow(base: string, glob: string, list: PathLooks["list"]): string[] {
  if (!glob.includes("*")) return [below(base, glob)];
  return glob.split("/").reduce((paths, name) => {
    const [start, end] = name.toLowerCase().split("*") as [string, string?];
    if (end === undefined) return paths.map((path) => below(path, name));
    const isMatch = (one: string) =>
      one.length >= start.length + end.length && one.startsWith(start) && one.endsWith(end);
    return paths.flatMap((path) =>
      list(path).filter((one) => isMatch(comparable(one))).map((one) => below(path, one))
    );
  }, [base]);
}

/** `names`, with `/` between them, in the folder `base`. `join` would take each apart again. */
const below = (base: string, names: string): string =>
  (base.endsWith(SEPARATOR) ? base : base + SEPARATOR) + names.replaceAll("/", SEPARATOR);

/** A name as file systems compare it that ignore case. */
function comparable(name: string): string {
  return (/[^\0-\x7f]/.test(name) ? plainPath(name) : name).toLowerCase();
}

/**
 * A quick look at what is surely not in a home folder or in those of the system, by listings of them and of
 * folders in them: for most of the paths that are known there is nothing, and to ask the system about each
 * takes long. False for these alone.
 */
export function mayBeThere(
  home: string | undefined,
  list: PathLooks["list"],
): (path: string) => boolean {
  const roots = [...home === undefined ? [] : [home], "/etc", "/var/lib"];
  const listed: Record<string, ReadonlySet<string>> = {};
  return (path) => {
    const root = roots.find((folder) => path.startsWith(below(folder, "")));
    if (root === undefined) return true;
    let at = root;
    return slashed(path.slice(below(root, "").length)).split("/").every((name) => {
      const names = listed[at] ??= new Set(list(at).map(comparable));
      at = below(at, name);
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

/** Patterns are anchored at a `/` or at the end, with one `*` in a name at most: tests take linear time. */
function rowSource({ globs: all, except }: PatternRow): string {
  const globs = Object.groupBy(all, scopeOf);
  const inFolder = (folder: string, names: readonly string[] = []) => {
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
    ...inFolder("", anywhere),
    ...inFolder("^", globs.root?.map((glob) => glob.slice(1))),
    // To tools `~` is a name like any other; a model that writes it means the home folder.
    ...inFolder("/~", globs.home?.map((glob) => glob.slice(2))),
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

/** The expression for an absolute path, as it is and as it is compared, in both of Unicode's ways to compose letters. */
function absoluteSource({ path, isFolder }: ConfinedPath): string {
  const forms = [composedPath(path), plainPath(path)].flatMap((one) => [one, one.normalize("NFD")]);
  const source = [...new Set(forms)].map(escapeRegex).join("|");
  return `^(?:${source})${isFolder ? FOLDER_END : FILE_END}`;
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
