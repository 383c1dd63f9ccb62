/** The process's exit codes, as `--help` and the README list them. */
export const EXIT = {
  done: 0,
  error: 1,
  usage: 2,
  /** A call was refused by the policy. */
  refused: 3,
  /** Stopped by a limit: rounds, repetition, budget. */
  limit: 4,
  hangup: 129,
  interrupted: 130,
  /** The reader of stdout has gone away. */
  closed: 141,
  terminated: 143,
} as const;
