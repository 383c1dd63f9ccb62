/** The limits of a check. @module */

export interface CheckLimits {
  /** The maximum number of runs in a turn. */
  rounds: number;
  /** The maximum seconds of one run. */
  seconds: number;
  /** True counts a check as passed although the turn changed the files that decide it. */
  mayEdit: boolean;
}

export const DEFAULT_LIMITS: CheckLimits = { rounds: 5, seconds: 600, mayEdit: false };
