/** Other agents' tools and wrappers that models write. Each is in its bare form. @module */

import { bareNames } from "../../text/tool_aliases.ts";

/** Keys around the arguments. `name` and the like may be beside them. */
export const ARGUMENT_WRAPPERS: readonly string[] = bareNames(
  "input parameters arguments args params kwargs toolinput actioninput properties function toolargs toolparameters argument body payload data",
);
export const CALL_NAME_KEYS: readonly string[] = bareNames(
  "name tool toolname functionname action type id",
);

/** Arguments without effect here, with any value. */
export const IDLE: ReadonlySet<string> = new Set(bareNames(
  "description explanation thought thinking rationale comment note purpose intent requiresapproval securityrisk taskprogress title summary justification explain instruction instructions linecount targetdescription message reason userintent goal",
));
const SHELL_NAMES = ["bash", "sh", "shell", "zsh", "console", "terminal", "text"];
const idleIf = (names: string, values: readonly unknown[]) =>
  Object.fromEntries(bareNames(names).map((name) => [name, values]));
/** Arguments without effect here if they have one of these values. */
export const IDLE_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  ...idleIf("language lang", SHELL_NAMES),
  encoding: ["utf-8", "utf8", "UTF-8", "UTF8"],
  mode: ["w", "write", "overwrite", "text", "replace"],
  action: ["run", "execute", "exec"],
  shell: ["bash", "sh", "/bin/bash", "/bin/sh", true],
  login: [true, false],
  ...idleIf("expectedreplacements count occurrence occurrences", [1]),
  ...idleIf(
    "overwrite createdirs createdirectories createparents createparentdirectories mkdir mkdirs makedirs parents sandbox casesensitive",
    [true],
  ),
  ...idleIf(
    "append dryrun force backup runinbackground isbackground background interactive dangerouslydisablesandbox isregex regex tty ignorecase i",
    [false],
  ),
};
