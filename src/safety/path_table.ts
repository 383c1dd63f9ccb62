/** The table of protected paths, compiled for one user. @module */

import { attempt } from "../attempt.ts";
import { escapeRegex } from "../text/glob.ts";
import { isWithin } from "../text/paths.ts";
import { isAbsolute, join, resolve, SEPARATOR, slashed } from "../text/std_path.ts";
import { PROTECTED_ROWS, type ProtectedRow } from "./protected_paths.ts";

interface PersonalFolders {
  /** The home folder. Without it, `~/` in patterns matches only a folder called `~`. */
  home?: string | undefined;
  /** The absolute home folders of other users, whose files this one can write. */
  others?: readonly string[];
  /** Absolute folders of this program's settings and data, which variables may set. */
  own?: readonly (string | undefined)[];
  /** The absolute folder of this program's temporary files. */
  temporary?: string | undefined;
}

interface PathLooks {
  /** Returns the file or folder that a path leads to; undefined if it is missing or not accessible. */
  realPath(path: string): string | undefined;
  list(folder: string): readonly string[];
}

interface ConfinedPath {
  path: string;
  /** The file or folder that the path leads to; missing if it does not exist. */
  real?: string;
  what: string;
  /** True if the name covers a folder with everything below it. */
  isFolder: boolean;
  /** True if a row of the table matches the path itself. */
  isInTable: boolean;
}

/** The last names of patterns and paths: a fast test by the names of a path. */
class LastNames {
  readonly #whole: ReadonlySet<string>;
  /** Matches names that need a closer look, and the fixed pieces of patterns with other wildcards. */
  readonly #pieces: RegExp;

  constructor(globs: readonly string[]) {
    const all = globs.map((glob) => glob.toLowerCase().replace(/\/$/, "").replace(/^.*\//, ""));
    const isEnding = (name: string) => /^\*\.[^.*]+$/.test(name);
    const others = all.filter((name) => name.includes("*") && !isEnding(name));
    this.#whole = new Set(all.map((name) => isEnding(name) ? name.slice(1) : name));
    const pieces = ["[^!-~]", ...new Set(others.map(tellingPiece).map(escapeRegex))];
    this.#pieces = new RegExp(pieces.join("|"));
  }

  /** If it is false for all names of a path, no pattern matches the path. */
  mayMatch(name: string): boolean {
    const small = name.toLowerCase();
    if (this.#pieces.test(small)) return true;
    const whole = small.replace(COPY, "");
    const has = (one: string) => this.#whole.has(one);
    return has(whole) || has(whole.slice(whole.lastIndexOf("."))) ||
      /^[.#]/.test(whole) && has(whole.slice(1));
  }
}

class Matcher {
  readonly globs: readonly string[];
  readonly #names: LastNames;
  /** The paths that no row matches. The sandbox protects them, too. */
  readonly #others: readonly { what: string; source: string }[];
  #ofOthers: RegExp | undefined;
  #any: RegExp | undefined;

  /** @param located the paths of the table's rows, and paths that its patterns do not match */
  constructor(private readonly table: readonly PatternRow[], located: readonly ConfinedPath[]) {
    this.globs = [
      ...table.flatMap(({ globs }) => globs),
      ...located.map(({ path }) => slashed(path)),
    ];
    this.#names = new LastNames(this.globs);
    this.#others = located.filter(({ isInTable }) => !isInTable)
      .map((one) => ({ what: one.what, source: absoluteSource(one) }));
  }

  /** Matches a path in the form of {@linkcode plainPath}. */
  get any(): RegExp {
    return this.#any ??= pathPattern([...this.table, ...this.#others]);
  }

  kindOf(path: string): string | undefined {
    const plain = plainPath(path);
    const names = plain.split("/");
    const mayMatch = (known: LastNames) => names.some((name) => known.mayMatch(name));
    if (!mayMatch(this.#names)) return undefined;
    // V8 takes 10 ms to compile the patterns of all rows.
    const row = this.table.find((one) => mayMatch(one.names) && one.pattern.test(plain));
    if (row !== undefined) return row.what;
    this.#ofOthers ??= pathPattern(this.#others);
    if (!this.#ofOthers.test(plain)) return undefined;
    return this.#others.find((one) => pathPattern([one]).test(plain))!.what;
  }
}

const pathPattern = (rows: readonly { source: string }[]): RegExp =>
  new RegExp(rows.map(({ source }) => source).join("|") || "$^", IGNORE_CASE);

/** Returns the longest piece of a pattern or path that each match contains, in lower case. */
function tellingPiece(text: string): string {
  const pieces = text.replace(/^~|\/$/g, "").toLowerCase().split(/[^!-)+->@-~]+/);
  return pieces.reduce((longest, piece) => piece.length > longest.length ? piece : longest);
}

export const namesIn = (folder: string): string[] =>
  attempt(() => [...Deno.readDirSync(folder)])?.map(({ name }) => name) ?? [];

const SYSTEM_LOOKS: PathLooks = {
  realPath: (path) =>
    attempt(() => {
      const real = Deno.realPathSync(path);
      const { isFile, isDirectory } = Deno.statSync(real);
      // No device: some users link their shell history to /dev/null.
      return isFile || isDirectory ? real : undefined;
    }),
  list: namesIn,
};

/** The table for one user. The first query compiles the patterns and resolves links. */
export class PathTable {
  readonly home: string | undefined;
  readonly homes: readonly string[];
  readonly own: readonly string[];
  readonly temporary: readonly string[];
  readonly #namedHomes: readonly string[];
  readonly #matchers: Partial<Record<ProtectedRow["kind"], Matcher>> = {};
  #names: LastNames | undefined;
  /** The paths of rows without wildcards. */
  readonly #fixed: Partial<Record<ProtectedRow["kind"], readonly ConfinedPath[]>> = {};
  readonly #linked: Partial<Record<string, string[]>> = {};

  constructor(
    { home, own = [], others = [], temporary }: PersonalFolders = {},
    private readonly looks: PathLooks = SYSTEM_LOOKS,
  ) {
    this.temporary = temporary === undefined ? [] : [temporary];
    // A relative path would lead elsewhere after each /cd.
    this.home = home !== undefined && isAbsolute(home) ? join(home) : undefined;
    this.#namedHomes = [...this.home === undefined ? [] : [this.home], ...others];
    this.homes = this.#namedHomes.map((path) => looks.realPath(path) ?? path);
    this.own = own.filter((folder) => folder !== undefined).map((folder) => resolve(folder));
  }

  /** Returns which secret an absolute path is likely to contain, in words; undefined for other paths. */
  secretKind(path: string): string | undefined {
    return this.#matcher("secret").kindOf(path);
  }

  /** Returns why writing an absolute path needs approval, in words; undefined if it does not. */
  protectedKind(path: string): string | undefined {
    return this.#matcher("protected").kindOf(path);
  }

  /** True if commands of a session in the folder `at` write it: it has no home folder, and is not one of settings. */
  isWorkplace(at: string): boolean {
    return this.protectedKind(at) === undefined && !this.homes.some((home) => isWithin(at, home));
  }

  /** Returns why writing a path needs approval if new files in the folder `root` configure programs. */
  configuredKind(root: string, path: string): string | undefined {
    const homes = this.homes.filter((home) => isWithin(root, home));
    if (homes.length === 0) return this.protectedKind(root);
    const isSetting = (home: string) =>
      isWithin(home, path) && HOME_SETTING.test(slashed(path.slice(home.length)));
    return homes.some(isSetting) ? "a setting or a program of yours" : undefined;
  }

  /** A fast test by a name: false if no file of that name is in the table, unless its folder is. */
  mayMatch(name: string): boolean {
    const kinds = ["secret", "protected"] as const;
    this.#names ??= new LastNames(kinds.flatMap((kind) => this.#matcher(kind).globs));
    return this.#names.mayMatch(name);
  }

  get secretPattern(): RegExp {
    return this.#matcher("secret").any;
  }

  /** Returns the secrets of the home folder, and those with absolute paths, with the targets of links. */
  confinedSecrets(list?: NameForms): ConfinedPath[] {
    return this.#locatedRows("secret", list);
  }

  #locatedRows(
    kind: ProtectedRow["kind"],
    list = listedOnce(this.looks.list),
  ): ConfinedPath[] {
    const isToAsk = mayBeThere(this.#namedHomes, list);
    const own = kind === "secret" ? this.own : [];
    const listIn = (at: string) => isToAsk(at) ? list(at) : [];
    const rows = tableRows(kind);
    const fixed = this.#fixed[kind] ??= rows.flatMap((row) => located(row, this.#namedHomes));
    const named = [
      ...fixed,
      ...rows.flatMap((row) => located(row, this.#namedHomes, listIn)),
      ...own.map((path) => ({
        path,
        what: "a file of this program",
        isFolder: true,
        isInTable: false,
      })),
    ];
    return named.flatMap((one) => {
      const real = isToAsk(one.path) ? this.looks.realPath(one.path) : undefined;
      if (real === undefined) return [one];
      const mayLink = one.isFolder &&
        [...this.#namedHomes, ...this.own].some((at) => isWithin(at, one.path));
      const linked = mayLink ? this.#linked[real] ??= linkedFrom(real, this.looks.realPath) : [];
      return [
        { ...one, real },
        ...[...real === one.path ? [] : [real], ...linked]
          .map((path) => ({ ...one, path, real: path, isInTable: false })),
      ];
    });
  }

  #matcher(kind: ProtectedRow["kind"]): Matcher {
    return this.#matchers[kind] ??= new Matcher(tableRows(kind), this.#locatedRows(kind));
  }
}

/** Returns the home folders of people in the text of `/etc/passwd`, not those of services, such as `/app`. */
export function homesIn(passwd: string): string[] {
  return passwd.split("\n").flatMap((line) => {
    const [, , uid, , , home = ""] = line.split(":");
    const isPerson = Number(uid) >= 1000 && uid !== "65534";
    return isPerson && /^(\/[^/]+){2,}$/.test(home) ? [home] : [];
  });
}

const HOME_SETTING = /^\/?(\.|Library\/|(\w+\/)?s?bin\/)/i;

export const ANY_HOME = new PathTable({}, { realPath: () => undefined, list: () => [] });

/** Some file systems ignore case: .GIT is .git. */
const IGNORE_CASE = "i";
/** Zero-width characters, which older file systems of Apple ignore in names. */
const IGNORED = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

const MAX_LINK_LOOKS = 300;

/** Returns where links in a folder lead: its own anywhere, those in its folders to files. Its first entries count. */
function linkedFrom(folder: string, realPath: PathLooks["realPath"]): string[] {
  const found: string[] = [];
  const folders = [folder];
  let left = MAX_LINK_LOOKS;
  for (const at of folders) {
    const entries = attempt(() => [...Deno.readDirSync(at)]) ?? [];
    for (const { name, isDirectory, isSymlink } of entries) {
      if (left-- === 0) return found;
      const path = below(at, name);
      if (isDirectory && at === folder) folders.push(path);
      const real = isSymlink ? realPath(path) : undefined;
      if (real === undefined || isWithin(folder, real)) continue;
      if (at === folder || attempt(() => Deno.statSync(real).isFile)) found.push(real);
    }
  }
  return found;
}

/**
 * Returns the paths of a row's patterns without wildcards; with `list`, those of the others that exist. A pattern for
 * every folder is searched for in `homes` only.
 */
function located(
  { what, globs, except }: PatternRow,
  homes: readonly string[],
  list?: NameForms,
): ConfinedPath[] {
  const taken = except === "" ? undefined : new RegExp(`/${except}[^/]*$`, IGNORE_CASE);
  return globs.filter((glob) => glob.includes("*") === (list !== undefined)).flatMap((glob) => {
    const scope = scopeOf(glob);
    // A sandboxed program sees only its own processes, and git has to read some secrets itself.
    if (glob.startsWith("/proc/") || scope === "deep") return [];
    const bases = scope === "root" ? ["/"] : homes;
    const isInTable = scope !== "home";
    const names = glob.replace(/^~?\/|\/$/g, "");
    return bases.flatMap((base) => list ? matchesBelow(base, names, list) : [below(base, names)])
      .filter((path) => taken?.test(composedPath(path)) ?? true)
      .map((path) => ({ path, what, isFolder: glob.endsWith("/"), isInTable }));
  });
}

/** Returns the paths in `base` that a pattern with wildcards, without braces, matches. */
function matchesBelow(base: string, glob: string, list: NameForms): string[] {
  return glob.split("/").reduce((paths, name) => {
    const [start, end] = name.toLowerCase().split("*") as [string, string?];
    if (end === undefined) return paths.map((path) => below(path, name));
    const isMatch = (one: string) =>
      one.length >= start.length + end.length && one.startsWith(start) && one.endsWith(end);
    return paths.flatMap((path) =>
      list(path).filter(({ form }) => isMatch(form)).map((one) => below(path, one.name))
    );
  }, [base]);
}

/** Returns the path of `names`, with `/` between them, in the folder `base`. Faster than `join`. */
const below = (base: string, names: string): string =>
  (base.endsWith(SEPARATOR) ? base : base + SEPARATOR) +
  (SEPARATOR === "/" ? names : names.replaceAll("/", SEPARATOR));

/** Returns a name in the form in which file systems that ignore case compare it. */
function comparable(name: string): string {
  return (/[^\0-\x7f]/.test(name) ? plainPath(name) : name).toLowerCase();
}

/** Returns a fast test that is false only for missing paths. It lists folders: most known paths are missing. */
export function mayBeThere(
  homes: readonly string[],
  list: NameForms,
): (path: string) => boolean {
  const roots = [...homes, "/etc", "/var/lib"].map((root) => ({ root, start: below(root, "") }));
  const listed: Record<string, ReadonlySet<string>> = {};
  return (path) => {
    const known = roots.find(({ start }) => path.startsWith(start));
    if (known === undefined) return true;
    let at = known.root;
    return slashed(path.slice(known.start.length)).split("/").every((name) => {
      const names = listed[at] ??= new Set(list(at).map(({ form }) => form));
      at = below(at, name);
      // A folder that cannot be listed may contain any name.
      return names.size === 0 || names.has(comparable(name));
    });
  };
}

export type NameForms = (folder: string) => readonly { name: string; form: string }[];

/** Lists each folder once, because many patterns query the same one. */
export function listedOnce(list: PathLooks["list"]): NameForms {
  const listed: Record<string, ReturnType<NameForms>> = {};
  return (folder) =>
    listed[folder] ??= list(folder).map((name) => ({ name, form: comparable(name) }));
}

/** Returns a path in the form of the patterns. To some file systems it is the same path. */
function plainPath(path: string): string {
  // If case is ignored, the long s equals an s. Normalization turns the Kelvin sign into a K. Windows ignores blanks at
  // the end of a name, and people overlook them.
  return path.replaceAll("\\", "/").replace(IGNORED, "").replace(/(?<! ) +(?=\/|$)/g, "").replace(
    /\/(?:\.?\/)+/g,
    "/",
  )
    .replaceAll("\u017f", "s").normalize();
}

/** A row of the table. Its expressions are made when they are needed, once for all users. */
class PatternRow {
  readonly what: string;
  readonly globs: readonly string[];
  readonly except: string;
  #source: string | undefined;
  #names: LastNames | undefined;
  #pattern: RegExp | undefined;

  constructor({ what, paths, except }: ProtectedRow) {
    this.what = what;
    this.globs = alternativesOf(paths);
    this.except = except === undefined ? "" : `(?!${globSource(alternativesOf(except), "/?$")})`;
  }

  get source(): string {
    return this.#source ??= rowSource(this);
  }

  get names(): LastNames {
    return this.#names ??= new LastNames(this.globs);
  }

  get pattern(): RegExp {
    return this.#pattern ??= pathPattern([this]);
  }
}

const partedRows: Partial<Record<ProtectedRow["kind"], readonly PatternRow[]>> = {};
const tableRows = (kind: ProtectedRow["kind"]): readonly PatternRow[] =>
  partedRows[kind] ??= PROTECTED_ROWS.filter((row) => row.kind === kind)
    .map((row) => new PatternRow(row));

/** Patterns are anchored at a `/` or at the end and have at most one `*` per name, so tests take linear time. */
function rowSource({ globs: all, except }: PatternRow): string {
  const globs = Object.groupBy(all, scopeOf);
  const inFolder = (folder: string, names: readonly string[] = []) => {
    return names.length === 0 ? [] : [`${folder}/${except}(?:${globSource(names)})`];
  };
  // Skipping a leading `*` is faster than matching it.
  const [endings, anywhere] = [true, false].map((isEnding) =>
    globs.anywhere?.filter((glob) => isEnding === (glob.startsWith("*") && except === ""))
  );
  return [
    ...(globs.deep ?? []).map((glob) => {
      const [folder, name] = glob.split("/**/");
      // Each end is searched for separately, which avoids backtracking.
      return `^(?=[^]*?/${escapeRegex(folder!)}/)[^]*/${globSource([name!])}`;
    }),
    ...endings?.length ? [globSource(endings.map((glob) => glob.slice(1)))] : [],
    ...inFolder("", anywhere),
    ...inFolder("^", globs.root?.map((glob) => glob.slice(1))),
    // To tools `~` is an ordinary name, but a model that writes it means the home folder.
    ...inFolder("/~", globs.home?.map((glob) => glob.slice(2))),
  ].join("|");
}

function scopeOf(glob: string): "home" | "root" | "deep" | "anywhere" {
  if (glob.startsWith("~/")) return "home";
  if (glob.startsWith("/")) return "root";
  return glob.includes("/**/") ? "deep" : "anywhere";
}

/** Returns the expression for patterns without braces, and for copies that editors or file managers made. */
function globSource(globs: readonly string[], fileEnd = FILE_END): string {
  const escaped = (text: string) =>
    escapeRegex(text).replace(/\\\*/g, "[^/]*").replace(/\\\?/g, "[^/]");
  const folders = globs.filter((glob) => glob.endsWith("/")).map((glob) =>
    escaped(glob.slice(0, -1))
  );
  const files = globs.filter((glob) => !glob.endsWith("/")).map((glob) => {
    const start = glob.lastIndexOf("/") + 1;
    return `${escaped(glob.slice(0, start))}[.#]?${escaped(glob.slice(start))}`;
  });
  return [[folders, FOLDER_END] as const, [files, fileEnd] as const].flatMap(([names, end]) =>
    names.length === 0 ? [] : [`(?:${names.join("|")})${end}`]
  ).join("|");
}

const FOLDER_END = "(?:/|$)";
const COPY_END = "(?:~|#|\\.(?:bak|old|orig|save|sw[a-p])| copy| \\(copy\\))";
const FILE_END = `${COPY_END}?/?$`;
const COPY = new RegExp(`${COPY_END}$`);

/** Returns the expression for an absolute path in all forms in which file systems compare it. */
function absoluteSource({ path, isFolder }: ConfinedPath): string {
  const forms = [composedPath(path), plainPath(path)].flatMap((one) => [one, one.normalize("NFD")]);
  const source = [...new Set(forms)].map(escapeRegex).join("|");
  return `^(?:${source})${isFolder ? FOLDER_END : FILE_END}`;
}

function alternativesOf(text: string): string[] {
  return text.split(/\s+/).filter((glob) => glob !== "").flatMap((glob) => {
    if (!glob.includes("{")) return [glob];
    const [, before, inner, after] = /^(.*?)\{(.*?)\}(.*)$/.exec(glob)!;
    return inner!.split(",").flatMap((part) => alternativesOf(`${before}${part}${after}`));
  });
}

/** Returns a path with `/` in Unicode's form NFC, like the paths that are tested. */
const composedPath = (path: string): string => slashed(path).normalize();
