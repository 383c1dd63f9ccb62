/**
 * `@std/path` for the system at hand. Its own choice asks `process`, which has Deno load Node's: 15 ms
 * that every run with a tool would pay.
 *
 * @module
 */

import { basename as posixBasename } from "@std/path/posix/basename";
import { dirname as posixDirname } from "@std/path/posix/dirname";
import { isAbsolute as posixIsAbsolute } from "@std/path/posix/is-absolute";
import { join as posixJoin } from "@std/path/posix/join";
import { relative as posixRelative } from "@std/path/posix/relative";
import { resolve as posixResolve } from "@std/path/posix/resolve";
import { basename as windowsBasename } from "@std/path/windows/basename";
import { dirname as windowsDirname } from "@std/path/windows/dirname";
import { isAbsolute as windowsIsAbsolute } from "@std/path/windows/is-absolute";
import { join as windowsJoin } from "@std/path/windows/join";
import { relative as windowsRelative } from "@std/path/windows/relative";
import { resolve as windowsResolve } from "@std/path/windows/resolve";

const isWindows = Deno.build.os === "windows";

/** What separates the parts of a path. */
export const SEPARATOR: string = isWindows ? "\\" : "/";
/** The last part of a path. */
export const basename: (path: string, suffix?: string) => string = isWindows
  ? windowsBasename
  : posixBasename;
/** A path without its last part. */
export const dirname: (path: string) => string = isWindows ? windowsDirname : posixDirname;
/** Whether a path begins at a root. */
export const isAbsolute: (path: string) => boolean = isWindows
  ? windowsIsAbsolute
  : posixIsAbsolute;
/** Paths put together. */
export const join: (...paths: string[]) => string = isWindows ? windowsJoin : posixJoin;
/** The way from one path to another. */
export const relative: (from: string, to: string) => string = isWindows
  ? windowsRelative
  : posixRelative;
/** The absolute path that paths make, one after the other. */
export const resolve: (...paths: string[]) => string = isWindows ? windowsResolve : posixResolve;
