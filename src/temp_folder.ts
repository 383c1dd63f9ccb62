/** A private folder for temporary files. @module */

import { reasonOf } from "./text/reason.ts";

/** The places for the folder: that of TMPDIR or the system, then the usual ones. */
const PLACES = Deno.build.os === "windows" ? [undefined] : [undefined, "/tmp", "/var/tmp"];

/** The folders of this program, which no sandboxed command may write. */
export const tempFolders = new Set<string>();

export interface TempFolderOptions {
  /** True for a folder that sandboxed commands can write: it is not used. */
  isOpen?(folder: string): boolean;
  last?: string | undefined;
}

/** Creates a folder for this user only, and returns its path without links. @throws {Error} if that fails everywhere. */
export function makeTempFolder(
  prefix: string,
  { isOpen = () => false, last }: TempFolderOptions = {},
): string {
  let fault: unknown;
  for (const dir of last === undefined ? PLACES : [...PLACES, last]) {
    try {
      const made = Deno.makeTempDirSync({ prefix, ...dir !== undefined && { dir } });
      const real = Deno.realPathSync(made);
      if (!isOpen(real)) {
        tempFolders.add(real);
        return real;
      }
      Deno.removeSync(real);
      throw new Error("sandboxed commands can write there");
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
