/** `@std/path` for this system. The package's own choice reads `process`, which loads 15 ms of code. @module */

import { basename as posixBasename } from "@std/path/posix/basename";
import { dirname as posixDirname } from "@std/path/posix/dirname";
import { fromFileUrl as posixFromFileUrl } from "@std/path/posix/from-file-url";
import { isAbsolute as posixIsAbsolute } from "@std/path/posix/is-absolute";
import { join as posixJoin } from "@std/path/posix/join";
import { relative as posixRelative } from "@std/path/posix/relative";
import { resolve as posixResolve } from "@std/path/posix/resolve";
import { basename as windowsBasename } from "@std/path/windows/basename";
import { dirname as windowsDirname } from "@std/path/windows/dirname";
import { fromFileUrl as windowsFromFileUrl } from "@std/path/windows/from-file-url";
import { isAbsolute as windowsIsAbsolute } from "@std/path/windows/is-absolute";
import { join as windowsJoin } from "@std/path/windows/join";
import { relative as windowsRelative } from "@std/path/windows/relative";
import { resolve as windowsResolve } from "@std/path/windows/resolve";

const isWindows = Deno.build.os === "windows";
export const SEPARATOR: string = isWindows ? "\\" : "/";
export const basename = isWindows ? windowsBasename : posixBasename;
export const dirname = isWindows ? windowsDirname : posixDirname;
export const fromFileUrl = isWindows ? windowsFromFileUrl : posixFromFileUrl;
export const isAbsolute = isWindows ? windowsIsAbsolute : posixIsAbsolute;
export const join = isWindows ? windowsJoin : posixJoin;
export const relative = isWindows ? windowsRelative : posixRelative;
export const resolve = isWindows ? windowsResolve : posixResolve;
export const slashed = (path: string): string => path.replaceAll(SEPARATOR, "/");
