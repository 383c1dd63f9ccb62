/**
 * The shape of a slash command.
 *
 * @module
 */

import type { CommandInfo, Report } from "../report.ts";
import type { SessionState } from "../state.ts";

/** A slash command. */
export interface Command extends CommandInfo {
  /** Runs it; `argument` is trimmed, and empty where `CommandInfo.argument` is left out. */
  run(session: SessionState, argument: string, signal: AbortSignal): Report | Promise<Report>;
  /** Arguments that may complete `begun`; those that do not begin like it are left out afterwards. */
  values?(session: SessionState, begun: string): string[] | Promise<string[]>;
}

/** The report of a command that did what it was asked for, in one sentence. */
export const done = (message: string): Report => ({ type: "message", level: "info", message });

/** The report of a command that could not do what it was asked for. */
export const failed = (message: string): Report => ({ type: "message", level: "error", message });
