/** The exit codes of the process. */
export const EXIT = {
  done: 0,
  error: 1,
  usage: 2,
  /** The permissions refused a call. */
  refused: 3,
  /** A limit stopped the turn: rounds, repetition or budget. */
  limit: 4,
  /** The check of `--until`, or a Stop hook, did not pass. */
  check: 5,
  hangup: 129,
  interrupted: 130,
  /** The reader of stdout closed it. */
  closed: 141,
  terminated: 143,
} as const;

/** The codes listed in the help. */
export const EXIT_CODES = [
  [EXIT.done, "done"],
  [EXIT.error, "error"],
  [EXIT.usage, "wrong usage"],
  [EXIT.refused, "a call was refused: its line says what allows or forbids it"],
  [EXIT.limit, "stopped by a limit"],
  [EXIT.check, "the check of --until or a Stop hook did not pass"],
  [EXIT.interrupted, "interrupted"],
  [EXIT.terminated, "terminated"],
  [EXIT.hangup, "the terminal was closed"],
  [EXIT.closed, "stdout was closed"],
] as const;
