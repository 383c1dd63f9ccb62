/** The wording of a session's notices, the same in every frontend. @module */

import type { CacheLoss } from "./cache_watch.ts";
import type { AttachedFile, Check, Notice } from "./data.ts";
import { aboutSeconds, count, thousands } from "../text/count.ts";
import { oneLine } from "../text/one_line.ts";
import { excerpt } from "../wire/excerpt.ts";
import { keyGiving, modelNaming, settingGiving, type UiKind } from "./hint_text.ts";

/**
 * Returns the lines of `notice`, safe to print; two spaces before a line stay. They suggest what is possible in the
 * frontend.
 */
export function noticeLines(notice: Notice, ui: UiKind): string[] {
  return [noticeText(notice, ui)].flat().map((line) => /^( {2})?/.exec(line)![0] + oneLine(line));
}

const ON_MODEL = {
  text_tools:
    "The model's template does not support tools: they are described in the prompt, and calls are parsed from the answer",
  no_tools:
    "The model wrote code in five turns without calling a tool, so nothing was read or changed. `copilot doctor` checks if it can call tools; another model may do better",
  no_thinking: "The model does not support thinking: the think setting is ignored",
};

const BEHIND_LINK =
  "behind a link that a command may have made, and has no effect: name the folder that you mean";

function noticeText(notice: Notice, ui: UiKind): string | string[] {
  switch (notice.code) {
    case "settings_unheeded":
      return `ignored, because only you may set servers and keys: ${notice.names.join(", ")}`;
    case "key_withheld":
      return `${notice.variable} is the model's key: commands never get it`;
    case "project_stricter": {
      const { file, modes, rules } = notice;
      const changes = Object.entries(modes).map(([name, mode]) => `${name}: ${mode}`);
      if (rules > 0) changes.push(count(rules, "rule"));
      return `${file} tightens permissions: ${changes.join(", ")}`;
    }
    case "project_ignored":
      return `${notice.file} can only tighten permissions; ignored: ${notice.settings.join(", ")}`;
    case "look_incomplete":
      return `${notice.folder} is large: until it is searched for secrets, commands see only parts of it`;
    case "path_missing":
      return `${notice.by} names ${notice.path}, which is ${
        notice.isMade ? BEHIND_LINK : "missing"
      }`;
    case "sandbox_missing":
      return sandboxMissingText(notice.why, ui);
    case "sandbox_off":
      return sandboxOffText(notice, ui);
    case "model_instead":
      return `model: ${excerpt(notice.model)} (the server's model; ${
        modelNaming(ui)
      } selects another)`;
    case "other_model":
      return otherModelText(notice);
    case "text_tools":
    case "no_tools":
    case "no_thinking":
      return ON_MODEL[notice.code];
    case "compatible_endpoint":
      return `${COMPATIBLE_ENDPOINT}${ui === "flags" ? " (--use-compat)" : ""}`;
    case "key_unsent":
      return Object.values(unsentKeyText(notice, ui)).join(". ");
    case "record":
      return recordText(notice.why);
    case "unread_session":
      return `no session was resumed: ${notice.why}`;
    case "server": {
      const own = notice.instead === undefined
        ? ""
        : ` (the server's model; ${modelNaming(ui)} selects another)`;
      return greetingText(notice.checks) + own;
    }
    case "cache_lost":
      return cacheLostText(notice);
    case "extension":
      return [...notice.lines];
    case "mended":
      return notice.why;
    case "attached":
      return attachedText(notice);
  }
}

const LOSS_CAUSES: Readonly<Record<NonNullable<CacheLoss["cause"]>, string>> = {
  restart: "the server was restarted",
  slot: "another program used this session's slot (llama-server -np gives each program its own)",
  only_slot:
    "another program likely used the server's only slot (llama-server -np 2 or --cache-ram keeps both prompts)",
  sub_agent: "a sub-agent used this session's slot (llama-server -np 2 gives each its own)",
  cut: "the server cut the prompt to fit its context",
};

function cacheLostText({ tokens, seconds, cause }: CacheLoss): string {
  const time = seconds === undefined
    ? "had to be read again"
    : `reading them again took ${aboutSeconds(seconds)}`;
  const why = cause ? LOSS_CAUSES[cause] : "copilot doctor checks the cache";
  return `${thousands(tokens)} tokens were no longer in the server's cache, and ${time}: ${why}`;
}

const COMPATIBLE_ENDPOINT = "The server is not Ollama: using its OpenAI-compatible endpoint";

const MAX_NAMED_MODELS = 5;

function otherModelText({ models, asked }: Extract<Notice, { code: "other_model" }>): string {
  const named = models.slice(0, MAX_NAMED_MODELS).map((name) => excerpt(name)).join(", ");
  if (models.length === 1) return `the server's only model is ${named}, not ${excerpt(asked)}`;
  const rest = models.length > MAX_NAMED_MODELS ? ", …" : "";
  return `the server does not list ${excerpt(asked)} and may answer with another: ${named}${rest}`;
}

const sandboxMissingText = (why: string, ui: UiKind): string =>
  `no sandbox available, so commands are refused: ${why} (${
    settingGiving("sandbox", "off", ui)
  } allows them)`;

function sandboxOffText(
  { why, isAsked }: Extract<Notice, { code: "sandbox_off" }>,
  ui: UiKind,
): string {
  const how = isAsked ? "and need approval" : "and run without asking";
  const more = why === undefined
    ? ` (${settingGiving("sandbox", "workspace-write", ui)})`
    : `, ${how} (${why})`;
  return `no sandbox: commands can do everything you can${more}`;
}

function greetingText(checks: readonly Check[]): string {
  const failure = checks.find(({ status }) => status === "fail");
  if (failure) {
    const { text, advice } = failure;
    return `${text}${advice ? `. ${advice}` : ""}`;
  }
  return checks.filter(({ name }) => name !== "server").map(({ text, contextLength }) =>
    contextLength === undefined ? text : `${contextLength} tokens of context`
  ).join(" · ");
}

function attachedText({ files, limit }: Extract<Notice, { code: "attached" }>): string[] {
  const read = files.filter(({ result }) => result === "attached").length;
  const lines = files.flatMap(attachedLines);
  if (read > 0) lines.unshift(read === 1 ? "1 file attached" : `${read} files attached`);
  if (limit !== undefined) {
    lines.push(`only ${limit} files are attached: the model can read the rest`);
  }
  return lines;
}

function attachedLines({ name, place, result, why, about, range }: AttachedFile): string[] {
  const shown = place === undefined ? `@${name}` : `@${name} (${place})`;
  if (result === "absent") return [`${shown} is not a file here: only the name is sent`];
  if (result === "refused") return [`${shown} is not attached: ${why}`];
  if (result === "unreadable") return [`${shown} cannot be read: ${why}`];
  const total = range && `${range.isExact ? "" : "at least "}${range.total}`;
  return [
    ...place === undefined ? [] : [`${shown} is attached`],
    ...about === undefined ? [] : [`${name}: ${about}`],
    ...range ? [`${shown}: only its first ${range.last} of ${total} lines are attached`] : [],
  ];
}

export function unsentKeyText(
  { variable, to, why }: Extract<Notice, { code: "key_unsent" }>,
  ui: UiKind,
): { text: string; advice: string } {
  if (why === "http") {
    const advice = `If ${oneLine(to)} needs a key, ${keyGiving(ui)}`;
    return { text: `${variable} is not sent over http`, advice };
  }
  const other = `the user name or password in the address goes to ${oneLine(to)} instead`;
  return { text: `${variable} is not sent: ${other}`, advice: "Remove it to send the key" };
}

function recordText(why: string | undefined): string {
  return why === undefined
    ? "the session is saved again, including everything since the failure"
    : `the session cannot be saved for now: ${why}`;
}
