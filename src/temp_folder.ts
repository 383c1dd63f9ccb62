/** A private folder for temporary files. @module */

import { reasonOf } from "./text/reason.ts";

/** Where the folder is made: the place that TMPDIR or the system names, then the usual ones. */
const PLACES = Deno.build.os === "windows" ? [undefined] : [undefined, "/tmp", "/var/tmp"];

/** Makes a folder that this user alone may enter; its path has no links. @throws {Error} where there is no place for one. */
export function makeTempFolder(prefix: string): string {
  let fault: unknown;
  for (const dir of PLACES) {
    try {
      return Deno.realPathSync(Deno.makeTempDirSync({ prefix, ...dir !== undefined && { dir } }));
    } catch (error) {
      fault ??= error;
    }
  }
  throw noTempFiles(Deno.env.get("TMPDIR") ?? "/tmp", fault);
}

/** The error of a folder in which no temporary files can be written. */
export function noTempFiles(folder: string, fault: unknown): Error {
  const reason = reasonOf(fault);
  return new Error(
    `Cannot write temporary files in ${folder} (${reason}): set TMPDIR to a folder with room`,
    { cause: fault },
  );
}
