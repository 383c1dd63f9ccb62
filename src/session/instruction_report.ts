/**
 * The instructions that a folder brings, as data for a person.
 *
 * @module
 */

/** A file with instructions. */
export interface InstructionSize {
  /** Its path relative to the working directory. */
  name: string;
  lines: number;
}

/** A file of a folder that is not read, as it is a link. */
export interface RefusedInstructions {
  /** Its path relative to the working directory. */
  name: string;
  /** Where the link leads: out of the folder, or to a secret. */
  reason: "outside" | "secret";
}

/** The instructions that a folder brings, and whether the model gets them. */
export interface HeededInstructions {
  /** The files, with their sizes in lines. */
  files: readonly InstructionSize[];
  /** Files that are never heeded. */
  refused: readonly RefusedInstructions[];
  /** True where the files are heeded, or there are none; false where the person said no, undefined where nobody said. */
  isHeeded: boolean | undefined;
  /** The reason why the person's answer could not be saved. */
  unsaved?: string;
}
