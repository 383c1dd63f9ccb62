/**
 * What models write for our tools and their arguments: names of other agents' tools, and well-known
 * synonyms. Each is in its bare form. @module
 */

import { bareNames } from "../../text/tool_aliases.ts";

const EDITING = "edit_file replaces text, write_file makes a file, read_file shows one";

/** Tools that models have elsewhere and we have not: the tool that does it here, and how. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  applypatch: "edit_file replaces one text by another, a call for each change",
  deletefile: "run_bash can do it",
  removefile: "run_bash can do it",
  movefile: "run_bash can do it",
  renamefile: "run_bash can do it",
  copyfile: "run_bash can do it",
  makedirectory: "write_file makes the folders that it needs",
  createdirectory: "write_file makes the folders that it needs",
  createfolder: "write_file makes the folders that it needs",
  executecode: "run_bash runs programs",
  runcode: "run_bash runs programs",
  python: "run_bash runs programs",
  strreplaceeditor: EDITING,
  strreplacebasededittool: EDITING,
  texteditor: EDITING,
};

/** What each command of an editor tool is here. */
export const EDITOR_COMMANDS: Readonly<Record<string, string>> = {
  view: "read_file",
  create: "write_file",
  str_replace: "edit_file",
};

const FILE_SYNONYMS =
  "path file filename filepath targetfile absolutepath relativepath relativeworkspacepath target uri fullpath document source src absolutefilepath paths files filepaths filenames";
const FOLDER_SYNONYMS =
  "directory dir folder dirpath directorypath folderpath root searchpath targetdirectory location basepath relativeworkspacepath filepath file absolutepath cwd basedir where in paths searchdirectory";

/** What models write for our arguments, by tool. */
export const ARGUMENT_SYNONYMS: Readonly<
  Record<string, Readonly<Record<string, readonly string[]>>>
> = {
  fetch_url: {
    url: bareNames("uri link address href page website webpage target"),
    offset: bareNames("start from begin startindex"),
  },
  read_file: {
    file_path: bareNames(FILE_SYNONYMS),
    offset: bareNames(
      "start startline linestart fromline from firstline begin beginline startlineoneindexed linenumber line",
    ),
    limit: bareNames(
      "maxlines numlines linecount nlines count numberoflines numlinestoread length",
    ),
  },
  write_file: {
    file_path: bareNames(FILE_SYNONYMS),
    content: bareNames(
      "text contents body data filetext filecontent filecontents code sourcecode newcontent value fullcontent",
    ),
  },
  edit_file: {
    file_path: bareNames(FILE_SYNONYMS),
    old_string: bareNames(
      "old oldstr oldtext search find original before from oldcode oldcontent searchstring searchtext target targetcontent originaltext toreplace oldvalue",
    ),
    new_string: bareNames(
      "new newstr newtext replace replacement after to replacewith newcode newcontent replacestring replacementtext updated replacementcontent newvalue replacetext",
    ),
    replace_all: bareNames(
      "all global multiple allowmultiple replaceallmatches every replaceeverywhere",
    ),
  },
  run_bash: {
    command: bareNames(
      "cmd script bash bashcommand commandline code commands shellcommand cmdline run input",
    ),
    timeout_seconds: bareNames(
      "timeoutsec timeoutsecs timeouts seconds timeoutinseconds maxseconds",
    ),
    run_in_background: bareNames("background isbackground runasbackground detach detached async"),
    reason: bareNames("justification"),
  },
  glob_files: {
    pattern: bareNames(
      "glob globpattern query filepattern name filename search namepattern include",
    ),
    path: bareNames(FOLDER_SYNONYMS),
  },
  grep_code: {
    pattern: bareNames(
      "regex regexp query search searchpattern text searchterm term searchstring string q keyword needle regexpattern searchquery expression",
    ),
    path: bareNames(FOLDER_SYNONYMS),
    glob: bareNames(
      "include filepattern fileglob includes includepattern files globpattern filefilter",
    ),
    context_lines: bareNames(
      "context c linesofcontext contextline numcontextlines surroundinglines",
    ),
  },
  list_directory: { path: bareNames(`${FOLDER_SYNONYMS} dirname`) },
  job_output: {
    job: bareNames("jobid id number jobnumber bashid shellid"),
    stop: bareNames("kill end terminate"),
  },
};

/** Keys around the arguments; `name` and the like may stand beside them. */
export const ARGUMENT_WRAPPERS: readonly string[] = bareNames(
  "input parameters arguments args params kwargs toolinput actioninput properties function toolargs toolparameters argument body payload data",
);
export const CALL_NAME_KEYS: readonly string[] = bareNames(
  "name tool toolname functionname action type id",
);

/** Arguments that change nothing here, whatever they are. */
export const IDLE: ReadonlySet<string> = new Set(bareNames(
  "description explanation thought thinking rationale comment note purpose intent requiresapproval securityrisk taskprogress title summary justification explain instruction instructions linecount targetdescription message reason userintent goal",
));
/** Arguments for how other search tools show their results: they change nothing here. */
export const IDLE_OF_SEARCH: readonly string[] = bareNames(
  "n linenumbers showlinenumbers outputmode headlimit maxresults limit",
);
const SHELL_NAMES = ["bash", "sh", "shell", "zsh", "console", "terminal", "text"];
const idleIf = (names: string, values: readonly unknown[]) =>
  Object.fromEntries(bareNames(names).map((name) => [name, values]));
/** Arguments that change nothing here if they are one of these values. */
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
