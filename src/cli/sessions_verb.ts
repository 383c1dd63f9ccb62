/** `copilot sessions`: what is recorded, for the user and for scripts. @module */

import { API_KEY_ENVS } from "../config.ts";
import { UsageError } from "../errors.ts";
import { EXIT } from "../exit_codes.ts";
import { isOfPrint, type ListedSession, shortName } from "../records/store.ts";
import { changeSession } from "../session/commands/resume.ts";
import { asTree, recordedSessions, sessionTitle, sessionWithId } from "../session/record.ts";
import { ago } from "../text/count.ts";
import { didYouMean } from "../text/nearest.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { exportedText, exportSession } from "../ui/export.ts";
import { jsonLine } from "../ui/print/json_output.ts";
import { keepSecrets } from "../wire/excerpt.ts";
import { readConfigFile } from "./defaults.ts";
import type { Run } from "./process.ts";

const SESSIONS_USAGE = `Usage:
  copilot sessions list [flags]        the sessions of this folder
  copilot sessions show ID             prints a session as Markdown
  copilot sessions rename ID TITLE     gives it another title
  copilot sessions delete ID           deletes it
  copilot sessions export ID [flags]   writes it to a file, without credentials

Flags of list: --all (of all folders), -p (those of copilot -p), --json
Flags of export: --html, --md (the default), -o FILE
The beginning of an ID is enough, from 4 characters on.
`;
const VERBS = ["list", "show", "rename", "delete", "export"];
const MAX_SHOWN_TITLE = 60;

/** Runs `copilot sessions` with its words and returns the exit code. @throws {UsageError} for invalid words. */
export function runSessions([verb = "", ...words]: readonly string[], run: Run): number {
  const { stdout, stderr } = run;
  if (verb === "" || [verb, ...words].some((word) => /^(--help|-h|help)$/.test(word))) {
    stdout.write(SESSIONS_USAGE);
    return verb === "" ? EXIT.usage : EXIT.done;
  }
  if (!VERBS.includes(verb)) {
    const hint = didYouMean(verb, VERBS, "copilot sessions --help lists them");
    throw new UsageError(`There is no command copilot sessions ${oneLine(verb)}: ${hint}`);
  }
  if (verb === "list") return printList(words, run);
  const [id, ...rest] = words;
  if (id === undefined) {
    throw new UsageError("Name a session: copilot sessions list shows their ids");
  }
  if (rest.length > 0 && /show|delete/.test(verb)) throw unexpectedWord(rest[0]!);
  if (verb === "rename" && rest.length === 0) throw new UsageError("Name the title, too");
  const session = sessionWithId(id);
  if (verb === "rename" || verb === "delete") {
    const { isDone, text } = changeSession(session, verb, rest.join(" "));
    (isDone ? stdout : stderr).write(`${text}\n`);
    return isDone ? EXIT.done : EXIT.error;
  }
  // The user's keys are removed in any form.
  const { keys } = readConfigFile((name) => Deno.env.get(name))?.settings ?? {};
  for (
    const key of [...API_KEY_ENVS.map((name) => Deno.env.get(name)), ...Object.values(keys ?? {})]
  ) {
    if (typeof key === "string") keepSecrets({ key });
  }
  if (verb === "show") stdout.write(exportedText(session));
  else {
    const flag = rest.indexOf("-o");
    if (flag !== -1 && rest[flag + 1] === undefined) throw new UsageError("-o needs a file");
    stdout.write(`${exportSession(session, rest.filter((_, at) => at !== flag))}\n`);
  }
  return EXIT.done;
}

const unexpectedWord = (word: string) => new UsageError(`Unexpected argument ${oneLine(word)}`);

function printList(words: readonly string[], { stdout }: Run): number {
  const other = words.find((word) => !["-p", "--all", "--json"].includes(word));
  if (other !== undefined) throw unexpectedWord(other);
  const folder = words.includes("--all") ? undefined : Deno.realPathSync(".");
  const sessions = asTree([...recordedSessions(folder, words.includes("-p") ? "print" : "own")]);
  const rows = sessions.map((one) => {
    const title = one.mark + shortened(oneLine(sessionTitle(one).title), MAX_SHOWN_TITLE);
    const place = folder === undefined ? `  ${oneLine(one.head.folder)}` : "";
    return `${shortName(one.name)}  ${ago(Date.parse(one.updated)).padEnd(14)}  ${title}${place}\n`;
  });
  const none = "There are no sessions here (--all: of all folders, -p: those of copilot -p)\n";
  stdout.write(words.includes("--json") ? jsonLine(sessions.map(asJson)) : rows.join("") || none);
  return EXIT.done;
}

function asJson(one: ListedSession) {
  const { name, head: { folder, started, branch, parent }, updated, used, isCut, messages } = one;
  return {
    id: shortName(name),
    title: sessionTitle(one).title,
    ...{ folder, started, updated, branch, model: used?.model },
    ...!isCut && { messages: messages.length },
    parent: parent && shortName(parent),
    ...isOfPrint(name) && { print: true },
  };
}
