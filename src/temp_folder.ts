/** A private folder for temporary files. @module */

import { reasonOf } from "./text/reason.ts";

/** The places for the folder: that of TMPDIR or the system, then the usual ones. */
const PLACES = Deno.build.os === "windows" ? [undefined] : [undefined, "/tmp", "/var/tmp"];

/** Creates a folder for this user only, and returns its path without links. @throws {Error} if that fails everywhere. */
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

/** Returns the error for a folder in which no temporary files can be written. */
export function noTempFiles(folder: string, fault: unknown): Error {
  const reason = reasonOf(fault);
  return new Error(
    `Cannot write temporary files in ${folder} (${reason}): set TMPDIR to a folder with room`,
    { cause: fault },
  );
}
