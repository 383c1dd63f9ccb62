/** The table of the verbs of `copilot VERB`. Sessions and prompts do not load this module. @module */

import { runMcp } from "../extensions/mcp/mcp_verb.ts";
import { runPlugin } from "../extensions/plugins/plugin_verb.ts";
import { runAcp, runServe } from "./acp.ts";
import { completionScript } from "./completions.ts";
import { runDoctorVerb } from "./doctor_verb.ts";
import { runExam } from "./exam/exam.ts";
import { REPLAY_USAGE, runReplay } from "./replay.ts";
import { runSessions } from "./sessions_verb.ts";

/** Verbs that read their words themselves. */
export const OWN_WORDS = { mcp: runMcp, plugin: runPlugin, exam: runExam, sessions: runSessions };
/** Verbs that take the flags of a session. */
export const WITH_FLAGS = {
  doctor: runDoctorVerb,
  acp: runAcp,
  serve: runServe,
  replay: runReplay,
};
export { completionScript, REPLAY_USAGE };
