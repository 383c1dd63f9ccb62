/** What calls with a command line need beside the policy: one module, so that one import loads it. @module */

export { commandVerdict, programNames } from "./command_verdict.ts";
export { commandRules } from "./kept_rules.ts";
