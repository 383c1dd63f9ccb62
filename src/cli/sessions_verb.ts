/** `copilot sessions`: what is recorded, for the user and for scripts. @module */

import { UsageError } from "../errors.ts";
import { EXIT } from "../exit_codes.ts";
import { isOfPrint, shortName } from "../records/store.ts";
import { changeSession } from "../session/commands/resume.ts";
import { asTree, recordedSessions, sessionTitle, sessionWithId } from "../session/record.ts";
import { ago } from "../text/count.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { exportedText, exportSession } from "../ui/export.ts";
import { jsonLine } from "../ui/print/json_output.ts";
import { keepUserSecrets } from "./defaults.ts";
import type { Run } from "./process.ts";

const SESSIONS_USAGE = `Usage:
  copilot sessions [list] [flags]      the sessions of this folder
  copilot sessions show ID             prints a session as Markdown
  copilot sessions rename ID TITLE     gives it another title
  copilot sessions delete ID           deletes it
  copilot sessions export ID [flags]   writes it to a file, without credentials

Flags of list: --all (of all folders), -p (those of copilot -p), --json
Flags of export: --html, --md (the default), -o FILE
The beginning of an ID is enough, from 4 characters on.
`;
const MAX_SHOWN_TITLE = 60;

export function runSessions(words: readonly string[], { stdout, stderr }: Run): number {
  if (words[0]?.startsWith("-") ?? true) words = ["list", ...words];
  const [verb = ""] = words;
  if (words.some((word) => /^(--help|-h)$/.test(word)) || verb === "help") {
    stdout.write(SESSIONS_USAGE);
    return EXIT.done;
  }
  if (verb === "list") {
    stdout.write(listText(words.slice(1)));
    return EXIT.done;
  }
  if (!/^(show|rename|delete|export)$/.test(verb)) throw unexpectedWord(verb);
  const at = words.findIndex((word, i) => i > 0 && !word.startsWith("-") && words[i - 1] !== "-o");
  const [id = "", rest] = [words[at], words.filter((_, i) => i > 0 && i !== at)];
  if (id === "") throw new UsageError("Name a session: copilot sessions --help");
  if (verb === "rename" && rest.length === 0) {
    throw new UsageError("rename needs a title: copilot sessions rename ID TITLE");
  }
  if (rest.length > 0 && /show|delete/.test(verb)) throw unexpectedWord(rest[0]!);
  const session = sessionWithId(id);
  if (verb === "rename" || verb === "delete") {
    const { isDone, text } = changeSession(session, verb, rest.join(" "));
    (isDone ? stdout : stderr).write(`${text}\n`);
    return isDone ? EXIT.done : EXIT.error;
  }
  keepUserSecrets();
  stdout.write(verb === "show" ? exportedText(session) : `${exportSession(session, rest)}\n`);
  return EXIT.done;
}

const unexpectedWord = (word: string) =>
  new UsageError(`Unexpected argument ${oneLine(word)}: copilot sessions --help`);

function listText(words: readonly string[]): string {
  const other = words.find((word) => !["-p", "--all", "--json"].includes(word));
  if (other !== undefined) throw unexpectedWord(other);
  const isWide = words.includes("--all");
  const listed = recordedSessions(
    isWide ? undefined : Deno.realPathSync("."),
    words.includes("-p") ? isOfPrint : undefined,
  );
  const rows = asTree([...listed]).map(({ mark, title, ...one }) => {
    const { name, head: { folder, started, branch, parent }, updated, used, isCut } = one;
    const id = shortName(name);
    const shown = mark + shortened(oneLine(title), MAX_SHOWN_TITLE);
    const place = isWide ? `  ${oneLine(folder)}` : "";
    return {
      text: `${id}  ${ago(Date.parse(updated)).padEnd(14)}  ${shown}${place}\n`,
      json: {
        id,
        ...sessionTitle(one),
        folder,
        started,
        updated,
        branch,
        model: used?.model,
        ...!isCut && { messages: one.messages.length },
        parent: parent && shortName(parent),
      },
    };
  });
  if (words.includes("--json")) return jsonLine(rows.map(({ json }) => json));
  return rows.map(({ text }) => text).join("") ||
    "There are no sessions here (--all: of all folders, -p: those of copilot -p)\n";
}
