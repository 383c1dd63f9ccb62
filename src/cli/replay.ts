/** `copilot replay`: plays the user's messages of a session again, in a copy of its folder. @module */

import { keepAsExam } from "./exam/from_session.ts";
import { whyCheckFails } from "./exam/run_task.ts";
import { attempt } from "../attempt.ts";
import { compatConfig, type CopilotConfig } from "../config.ts";
import { UsageError } from "../errors.ts";
import { EXIT } from "../exit_codes.ts";
import { InstructionsExtension } from "../extensions/instructions/instructions_extension.ts";
import { SkillsExtension } from "../extensions/skills/skills_extension.ts";
import { programFolders } from "../find_program.ts";
import { systemProgram } from "../start_program.ts";
import type { Backend } from "../models/backend.ts";
import { targetOf } from "../models/target.ts";
import type { StoredSession } from "../records/store.ts";
import { OPEN_ALL } from "../safety/in_place.ts";
import { openPermissions } from "../safety/permissions.ts";
import { repositoryOf } from "../safety/repositories.ts";
import { PLAIN_SURFACE, type SessionEvent } from "../session/frontend.ts";
import { noticeLines } from "../session/notices.ts";
import { recordedFolder, sessionWithId } from "../session/record.ts";
import { openSession } from "../session/session.ts";
import { makeTempFolder, removeTempFolder } from "../temp_folder.ts";
import { oneLine } from "../text/one_line.ts";
import { isTyped, notePart, typedText } from "../text/parts.ts";
import { sanitize } from "../text/sanitize.ts";
import { dirname, join, relative } from "../text/std_path.ts";
import { utf8Text } from "../text/utf8.ts";
import type { Message, ToolCall } from "../types/message.ts";
import { progressLine } from "../ui/progress.ts";
import type { Args } from "./args.ts";
import type { Run } from "./process.ts";
import { checkLimitsOf } from "./settings.ts";
import { withSettings } from "./with_settings.ts";

const THE_RECORD = { baseUrl: "http://recorded.invalid/v1", model: "Recorded calls" };

export const REPLAY_USAGE = `Usage: copilot replay ID [flags]

Plays your messages of a session again, in a copy of its folder: with the recorded answers, and with
the model of --model, if given. It prints the changes of each run. copilot sessions list shows the IDs.

  --model NAME [--base-url URL, --local, ...]  another model, as for a session
  --from N         let that model answer from your message N on
  --until COMMAND  run COMMAND after each run; exit code 5 if it fails after the last
  --as-exam NAME   make a task of copilot exam instead: the first message, with the check of --until
`;

/** A message of the user, and the answers to it, without calls that were refused. */
type RecordedTurn = { message: Message; answers: Message[] };

/** Replays a session with its recorded answers, then with the model of the flags if any. Returns the exit code. */
export async function runReplay(args: Args, run: Run): Promise<number> {
  if (args.message === undefined) {
    throw new UsageError("Name a session: copilot replay --help");
  }
  const session = sessionWithId(args.message);
  const folder = recordedFolder(session);
  if (!attempt(() => Deno.statSync(folder).isDirectory)) {
    throw new UsageError(`Cannot replay it as its folder ${oneLine(folder)} is missing`);
  }
  const turns = turnsOf(session);
  const first = Number(args.from ?? 1) - 1;
  if (turns.length === 0) throw new UsageError("The session has no message to play again");
  if (!turns[first] || args.from && !args.model) {
    throw new UsageError(
      `--from needs --model, and the number of a message, at most ${turns.length}`,
    );
  }
  const top = repositoryOf(folder);
  const home = makeTempFolder("copilot-replay-");
  const placeIn = (copy: string) => join(copy, relative(top, folder));
  const copyTo = async (copy: string) => {
    const said = await runScript("copy", COPY_SCRIPT, top, copy, session.head.started);
    const at = placeIn(copy);
    // A command may have made the commit, with a link in its place.
    if (attempt(() => Deno.realPathSync(at)) === at) return said;
    throw new Error(`Cannot replay it as its copy has no folder ${oneLine(folder)}`);
  };
  const play = async (config: CopilotConfig, from: number) => {
    const copy = `${home}/${from}`;
    const said = await copyTo(copy);
    if (from === turns.length) run.stderr.line(said);
    const at = placeIn(copy);
    const there = new RegExp(`${RegExp.escape(folder)}(?![\\w.-])`, "g");
    const moved: RecordedTurn[] = JSON.parse(JSON.stringify(turns).replace(there, () => at));
    const title = oneLine(targetOf(config).name);
    run.stderr.line(`· ${title}:`);
    const hasPassed = await playIn(at, moved, { config, from, folder }, args, run);
    const check = hasPassed === undefined
      ? ""
      : `: the check ${hasPassed ? "passed" : "did not pass"}`;
    const diff = await changesOfCopy(copy);
    run.stdout.write(`${title}${check}. Changes:\n${sanitize(diff) || "(no change)"}\n`);
    return hasPassed === false ? EXIT.check : EXIT.done;
  };
  try {
    if (args["as-exam"] !== undefined) {
      const [at, copy] = [placeIn(`${home}/1`), () => copyTo(`${home}/1`)];
      return await keepAsExam({ folder, first: turns[0]!.message, at, copy }, args, run);
    }
    const code = await play({ compat: compatConfig(THE_RECORD) }, turns.length);
    return args.model ? await withSettings(args, "look", (config) => play(config, first)) : code;
  } finally {
    removeTempFolder(home);
  }
}

function turnsOf({ messages, executions }: StoredSession): RecordedTurn[] {
  const turns: RecordedTurn[] = [];
  const hasRun = ({ id }: ToolCall) => !/refused|not_run/.test(executions.get(id)?.outcome ?? "");
  for (const message of messages) {
    const hasText = turns.length === 0 || typedText(message) !== "";
    if (message.role === "assistant") {
      const toolCalls = message.toolCalls?.filter(hasRun) ?? [];
      const content = message.content || (toolCalls.length > 0 ? "" : "(Refused.)");
      turns.at(-1)?.answers.push({ ...message, content, toolCalls });
    }
    if (isTyped(message) && hasText) {
      turns.push({ message, answers: [] });
    }
  }
  return turns;
}

const recorded = (answers: Message[]): Backend => ({
  model: THE_RECORD.model,
  hasBlocks: true,
  hasGrammar: false,
  send: () => {
    const { content, toolCalls } = answers.shift() ?? { content: "(The record ends here.)" };
    const message = { role: "assistant" as const, content, ...toolCalls && { toolCalls } };
    return Promise.resolve({ message, finish: "stop", finishDetail: "", usage: undefined });
  },
});

/** Plays the turns: before `from` with their answers, then with the model. Returns if the check passes, if there is one. */
async function playIn(
  copy: string,
  turns: readonly RecordedTurn[],
  { config, from, folder }: { config: CopilotConfig; from: number; folder: string },
  args: Args,
  { stderr, signal }: Run,
): Promise<boolean | undefined> {
  const onEvent = (event: SessionEvent) => {
    if (event.type === "tool_done") {
      const label = from < turns.length && session.agent.recorded ? " (recorded)" : "";
      stderr.line(progressLine(event)! + label);
    }
    if (event.type !== "session_notice") return;
    for (const line of noticeLines(event.notice, "flags")) stderr.line(`· ${line}`);
  };
  const { seconds } = checkLimitsOf(args);
  const permissions = openPermissions({
    approve: "auto",
    sandbox: "workspace-write",
    network: args.network === true,
    level: { allow: [], deny: [`*(${folder})`], sandboxWrite: [] },
  });
  // The rules of the folder are about its copy, too.
  permissions.addCopy({ at: copy, of: folder, reads: new Map() }, dirname(copy));
  await using session = await openSession(
    {
      config,
      folder: copy,
      readsFolder: true,
      trust: args.trust,
      isChosen: true,
      permissions,
      extensions: [new InstructionsExtension(new SkillsExtension())],
    },
    { onEvent, showsStatus: false, surface: { ...PLAIN_SURFACE, kind: "flags" } },
    signal,
  );
  for (const [at, { message: { content, parts = [] }, answers }] of turns.entries()) {
    const left = at < from ? answers : [];
    session.agent.recorded = at < from ? recorded(left) : undefined;
    // Files are attached again, from the copy.
    const given = parts.filter((part) => part.type !== "resource" || part.kind === "stdin");
    await session.prompt(given.length > 0 ? given : content, signal);
    // A check or a hook continued the recorded turn.
    const next = [notePart("[The recorded turn continues.]")];
    while (left.length > 0 && !signal.aborted) await session.prompt(next, signal);
    signal.throwIfAborted();
  }
  if (args.until === undefined) return undefined;
  const why = await whyCheckFails(args.until, copy, signal, permissions, seconds);
  if (why !== undefined) stderr.line(`· ${args.until}: ${why}`);
  return why === undefined;
}

/**
 * Copies the commit of `$1` at the time `$3` to `$2`, or else its files. Both are added to the repository `$2.git`, as
 * the settings of the folder's own may name programs. No command sees it: what they change in `$2` is compared with it.
 */
const COPY_SCRIPT = `
at=$(git -C "$1" rev-parse --verify "HEAD@{$3}" 2>&1) || at=-
mkdir "$2"
export GIT_DIR="$2.git" GIT_WORK_TREE="$2"
git init -q --template=
case $at in *[!0-9a-f]*)
  echo "· a copy of the folder as it is now: its commit at that time is unknown"
  mkdir "$2.git/info"
  echo node_modules > "$2.git/info/exclude"
  git --work-tree="$1" add -A
  git -c user.name=copilot -c user.email=copilot@localhost commit -q --allow-empty -m replay;;
*)
  echo "· a copy of the commit $at"
  git fetch -q --depth 1 "$1" "$at"
  git update-ref HEAD "$at"
  git read-tree HEAD
  git --work-tree="$1" status --porcelain -uall --ignore-submodules=all > "$2.changed"
  [ ! -s "$2.changed" ] || echo "· files that differ from it now: $(wc -l < "$2.changed")"
  head "$2.changed";;
esac
git reset -q --hard
cp -R "$2.git" "$2/.git"`;

/**
 * Shows the changes in `$1`, those in repositories that a command made included. It removes their `.git`: git would run
 * what the settings there name, add no file of such a repository, and fail at one without a commit.
 */
const DIFF_SCRIPT = `cd "$1"
${OPEN_ALL}
find . -mindepth 2 -iname .git -prune -exec rm -rf '{}' +
export GIT_DIR="$1.git" GIT_WORK_TREE="$1"
git add -A
git diff --cached --no-ext-diff --no-textconv HEAD`;

export const changesOfCopy = (copy: string): Promise<string> =>
  runScript("compare", DIFF_SCRIPT, copy);

/** Runs a script of git without the settings of the user and the system, and returns its output. @throws {Error} */
async function runScript(
  verb: string,
  script: string,
  folder: string,
  ...args: string[]
): Promise<string> {
  const env = {
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_ALLOW_PROTOCOL: "file",
    GIT_NO_LAZY_FETCH: "1",
    PATH: programFolders(folder).join(":"),
  };
  const how = { args: ["-ec", script, "sh", folder, ...args], env };
  const { success, stdout, stderr } = await systemProgram("/bin/sh", how).output();
  if (!success) {
    throw new Error(`git cannot ${verb} ${oneLine(folder)}: ${oneLine(utf8Text(stderr))}`);
  }
  return utf8Text(stdout).trimEnd();
}
