// The fallback's types of @std/path. Each `// ./name` line opens the part that becomes the types of
// that subpath, and of its ./posix and ./windows forms; "." re-exports them all.

// ./basename
export declare function basename(path: string | URL, suffix?: string): string;

// ./dirname
export declare function dirname(path: string | URL): string;

// ./extname
export declare function extname(path: string | URL): string;

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

// ./join
export declare function join(path: string | URL, ...paths: string[]): string;

// ./normalize
export declare function normalize(path: string | URL): string;

// ./relative
export declare function relative(from: string, to: string): string;

// ./resolve
export declare function resolve(...pathSegments: string[]): string;

// ./to-file-url
export declare function toFileUrl(path: string): URL;
