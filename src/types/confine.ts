/** The programs that confine commands. @module */

/**
 * What a command gets beside the sandbox's usual view: `git` writes git's folders, but for what makes git
 * run programs, `network` uses the network as well, `sandbox` runs without one.
 */
export type Leave = "git" | "network" | "sandbox";

/** Replaces the program to start by one that confines it, but for what it may `leave`. */
export type Confine = (
  program: string,
  args: readonly string[],
  leave?: Leave,
) => Promise<ConfinedProgram>;

/** The program that confines another, with its arguments. */
export interface ConfinedProgram {
  /** The program to start. */
  program: string;
  /** Its arguments. */
  args: string[];
  /** The limits that a program which fails may have run into, in one line for the model. */
  limits?: string;
  /** The name of the process that holds the program, which may outlive it by a moment. */
  holder?: string;
  /** Variables beside the usual ones. */
  variables?: Readonly<Record<string, string>>;
  /** Called at its end: puts back what it may not have replaced, and says so in one line for the model. */
  mend?(): string | undefined;
}
