/** The programs that confine commands. @module */

/** A right of a command beyond those of every command in the sandbox. */
export interface Right {
  /**
   * `git` writes git's folders except for what makes git run programs, `network` also uses the network, `write` only
   * writes in `folder`, `sandbox` runs without a sandbox. `credentials` is a single git command that also uses the
   * network, and reads all that the user can read; it writes only git's folders.
   */
  kind: "credentials" | "git" | "network" | "sandbox" | "write";
  /** With `git` and `write`, the absolute path of a folder that the command may also write. */
  folder?: string;
  /** With `credentials`, further variables. */
  variables?: Readonly<Record<string, string>>;
  /** With `credentials`, the remote and the references to push; the branches then track the remote's. */
  tracks?: readonly string[];
  /** With `credentials`, the absolute path of git's folder. */
  gitFolder?: string;
  /** With `credentials`, the absolute path of the repository that has its settings. */
  repository?: string;
}

/** Replaces a program by one that runs it in the sandbox, with a right that only this program has. */
export type Confine = (
  program: string,
  args: readonly string[],
  right?: Right,
  more?: {
    /** Absolute paths that it may read beside the others. */
    reads?: readonly string[];
    /** True if it may change the state of plug-ins in the folder. */
    changesState?: boolean;
    /** True for a command in the background, which writes no git folders: its writes are checked at its end only. */
    isJob?: boolean;
  },
) => Promise<ConfinedProgram>;

/** The program that sandboxes another, with its arguments. */
export interface ConfinedProgram {
  /** The program to start. */
  program: string;
  /** Its arguments. */
  args: string[];
  /** The limits of the program, in one line for the model. */
  limits?: string;
  /** Returns the limit that made the program fail; undefined if its output shows no limit. */
  limitOf?(
    end: { command: string; code: number | undefined; stdout?: string; stderr?: string },
  ): SandboxLimit | undefined;
  /** Additional variables. */
  variables?: Readonly<Record<string, string>>;
  /** Returns the environment to start `program` in, so that the program in it gets these variables. */
  environment?(variables: Readonly<Record<string, string>>): Record<string, string>;
  /**
   * Called after the program, with the end of its output and its exit code. Restores what it was not allowed to
   * replace, and reports that in one line for the model.
   */
  finish?(output: string, code?: number): string | undefined;
}

/**
 * The kinds of limits. `loopback`: a server of 127.0.0.1 outside of the sandbox; `own_loopback`: one of another
 * command; `ssh`: its keys and hosts, and the network; `hidden`, `ruled` and `secret`: a path that commands do not see;
 * `tmp`: a file in the system's `/tmp`; `outside` and `protected`: a path that they do not write; `read_only` and
 * `plan`: the working directory.
 */
export const LIMIT_KINDS = [
  ...["network", "loopback", "own_loopback", "ssh", "hidden", "ruled", "secret"] as const,
  ...["tmp", "outside", "protected", "read_only", "plan", "socket", "kernel"] as const,
];

/** The limit of the sandbox that made a command fail. */
export interface SandboxLimit {
  /** The kind of right that the command lacked. */
  kind: typeof LIMIT_KINDS[number];
  /** The absolute path that is closed. */
  path?: string;
  /** True if the user can be asked to lift it for the command. */
  mayAsk?: boolean;
}
