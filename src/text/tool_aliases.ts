/** Other agents' names for our tools. @module */

import { bareName } from "./bare_name.ts";

export const bareNames = (text: string): string[] => text.split(/\s+/);

/** Other agents' bare names for our tools. If several tools match, the arguments decide. */
export const ALIASES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries({
    read_file:
      "read cat view open openfile viewfile getfile fileread loadfile readtextfile showfile getfilecontents readfilecontents filecontents viewcode head readfiles fsread",
    write_file:
      "write createfile writetofile savefile filewrite create createnewfile newfile overwritefile writetextfile updatefile insertfile fswrite",
    edit_file:
      "edit strreplace replace replaceinfile searchreplace searchandreplace stringreplace editblock replacestringinfile editfiles modifyfile applyedit updatefile fileedit patchfile multiedit replacetext",
    run_bash:
      "bash shell sh terminal cmd exec execute executecommand executebash executeshell executeshellcommand runcommand runshell runshellcommand runterminalcmd runterminalcommand runinterminal execcommand commandline bashcommand shellcommand localshell shellexec runcmd system process",
    glob_files:
      "glob find findfiles filesearch findfile globsearch searchfilenames findbyname searchfiles findpath",
    grep_code:
      "grep search searchcode rg ripgrep grepsearch codesearch searchtext findinfiles searchfilecontent searchincode textsearch searchfiles searchcontent greptool",
    list_directory:
      "ls list listdir listfiles dir listfolder readdir readdirectory showdirectory listfilesindirectory listdirectorycontents",
    fetch_url:
      "webfetch fetch fetchwebpage fetchpage fetchweb fetchwebcontent urlfetch geturl readurl openurl readwebpage browseurl httpget visiturl visitpage",
  }).map(([tool, names]) => [tool, bareNames(names)]),
);

/** Other agents' tools that combine several. Their `command` selects one. */
export const EDITOR_TOOLS: ReadonlySet<string> = new Set(
  bareNames("strreplaceeditor strreplacebasededittool texteditor editor fileeditor"),
);

/** Other agents' tools that we lack: the tool to use instead, and how. */
export const ELSEWHERE: ReadonlyMap<string, readonly [tool: string, how: string]> = new Map(
  ([
    ["applypatch", "edit_file", "replaces one text by another, a call for each change"],
    ["deletefile removefile movefile renamefile copyfile", "run_bash", "can do it"],
    ["makedirectory createdirectory createfolder", "write_file", "makes the folders that it needs"],
    ["executecode runcode python", "run_bash", "runs programs"],
    [
      "strreplaceeditor strreplacebasededittool texteditor",
      "edit_file",
      "replaces text, write_file makes a file, read_file shows one",
    ],
  ] as const).flatMap(([names, tool, how]) =>
    bareNames(names).map((name) => [name, [tool, how]] as const)
  ),
);

/** Aliases that are plain lower-case words. In a text, they may be other tools. */
const PLAIN_WORDS = /^(?:read|view|open|edit|find|list|head|create|system|process|fetch|python)$/;

/** True if `name` is another agent's name for one of `tools`. A plain word is one only with `mayBeWord`. */
export function isAlias(name: string, tools: Iterable<string>, mayBeWord = false): boolean {
  if (!mayBeWord && PLAIN_WORDS.test(name)) return false;
  const bare = bareName(name);
  const offered = [...tools];
  return (EDITOR_TOOLS.has(bare) || ELSEWHERE.has(bare)) && offered.includes("edit_file") ||
    offered.some((tool) => ALIASES[tool]?.includes(bare));
}

/** Other agents' names for the arguments of our tools. Each confirms a plain word. */
const PLAIN_ARGUMENTS = bareNames(
  "path file filepath filename absolutepath targetfile dir directory folder oldstr newstr oldtext newtext text contents startline endline url uri",
);

/** False for a plain word whose argument names match no tool that it may name. */
export function isMeantAlias(
  name: string,
  args: readonly string[],
  schemas: Readonly<Record<string, unknown>>,
): boolean {
  if (!PLAIN_WORDS.test(name)) return true;
  return Object.entries(ALIASES).some(([tool, aliases]) => {
    const { properties } = (schemas[tool] ?? {}) as { properties?: Record<string, unknown> };
    if (!properties || !aliases.includes(name)) return false;
    const own = Object.keys(properties).map(bareName);
    return args.length > 0 &&
      args.every((arg) => own.includes(bareName(arg)) || PLAIN_ARGUMENTS.includes(bareName(arg)));
  });
}
