// The fallback's types of @std/path. Each `// ./name` line opens the part that becomes the types of
// that subpath, and of its ./posix and ./windows forms; "." re-exports them all.

// ./basename
export declare function basename(path: string | URL, suffix?: string): string;

// ./common
export declare function common(paths: string[]): string;

// ./constants
export declare const DELIMITER: ":" | ";";
export declare const SEPARATOR: "/" | "\\";
export declare const SEPARATOR_PATTERN: RegExp;

// ./dirname
export declare function dirname(path: string | URL): string;

// ./extname
export declare function extname(path: string | URL): string;

// ./format
export declare function format(
  pathObject: { root?: string; dir?: string; base?: string; ext?: string; name?: string },
): string;

// ./from-file-url
export declare function fromFileUrl(url: string | URL): string;

// ./glob-to-regexp
export interface GlobOptions {
  extended?: boolean;
  globstar?: boolean;
  caseInsensitive?: boolean;
}
export declare function globToRegExp(glob: string, options?: GlobOptions): RegExp;

// ./is-absolute
export declare function isAbsolute(path: string): boolean;

// ./is-glob
export declare function isGlob(str: string): boolean;

// ./join
export declare function join(path: string | URL, ...paths: string[]): string;

// ./join-globs
export declare function joinGlobs(
  globs: string[],
  options?: { extended?: boolean; globstar?: boolean; caseInsensitive?: boolean },
): string;

// ./normalize
export declare function normalize(path: string | URL): string;

// ./normalize-glob
export declare function normalizeGlob(
  glob: string,
  options?: { extended?: boolean; globstar?: boolean; caseInsensitive?: boolean },
): string;

// ./parse
export interface ParsedPath {
  root: string;
  dir: string;
  base: string;
  ext: string;
  name: string;
}
export declare function parse(path: string): ParsedPath;

// ./relative
export declare function relative(from: string, to: string): string;

// ./resolve
export declare function resolve(...pathSegments: string[]): string;

// ./to-file-url
export declare function toFileUrl(path: string): URL;

// ./to-namespaced-path
export declare function toNamespacedPath(path: string): string;
