/** The servers of this machine, looked for where nothing says which one is asked: by `copilot doctor` and `-p`. @module */

import { EXIT } from "../frontends/exit_codes.ts";
import {
  HOW_TO_START,
  placesText,
  type ServerSettings,
  settingsOf,
} from "../frontends/server_settings.ts";
import type { SetupHome } from "../frontends/terminal/setup.ts";
import type { Check } from "../session/report.ts";
import type { FoundServer } from "../session/servers.ts";
import { oneLine } from "../text/one_line.ts";
import { wrapped } from "../text/wrap.ts";
import { checkRows } from "./doctor.ts";
import { KEY_VARIABLES } from "./keys.ts";

interface SearchOptions {
  json: boolean;
  columns: number;
  write(text: string): void;
  signal: AbortSignal;
}

/** The time for servers to answer, in milliseconds. */
const DOCTOR_SEARCH_MS = 3000;
/** The same before a run that cannot begin. */
const FLAGS_SEARCH_MS = 1000;
/** The most models of a server that are named. */
const MAX_NAMED_MODELS = 10;

/**
 * Looks for servers: the flags of the one server with one model, which a session would take; else what was
 * found is written, with what to do, and the exit code returned.
 */
export async function searchServers(
  home: SetupHome,
  { json, columns, write, signal }: SearchOptions,
): Promise<ServerSettings | number> {
  const found = await home.find(DOCTOR_SEARCH_MS, signal);
  const [only] = found;
  if (only && found.length === 1 && only.models.length === 1) {
    return settingsOf(only, only.models[0]!);
  }
  const checks = found.map(checkOf);
  for (const { name, keyIn, settings } of home.hosted()) {
    if (keyIn === undefined) continue;
    const advice = `copilot doctor${settings.hosted ? " --hosted" : ""} examines it`;
    checks.push({ name: "key", status: "ok", text: `${keyIn} has a key for ${name}`, advice });
  }
  if (checks.length === 0) {
    const text = `no model server answers on this machine (looked at ${placesText(home.own())})`;
    checks.push({ name: "server", status: "fail", text, advice: `Start one:\n${HOW_TO_START}` });
  }
  if (json) {
    write(`${JSON.stringify({ ok: false, backend: "", server: "", model: "", checks })}\n`);
  } else {
    const say = (line: string) => write(`${wrapped(line, columns)}\n`);
    say("copilot doctor: no model is chosen yet; this is what there is");
    for (const check of checks) write(checkRows(check, columns));
    say("Not ready: run copilot to choose a model, or examine one with the flags of its server");
  }
  return EXIT.error;
}

const CHOOSING = "copilot without -p, in a terminal, helps to choose";

/** The error of a run that nothing tells which server is asked: what there is, or how there comes to be one. */
export async function noServerText(home: SetupHome): Promise<string> {
  const flags = await ownFlags(home);
  const { compat, hosted } = KEY_VARIABLES;
  return flags === undefined
    ? `No model server answers on this machine (looked at ${
      placesText(home.own())
    }), and there is no key. Start a server, such as \`ollama serve\` or llama-server, name one with --base-url URL, or set ${compat}, or ${hosted} with --hosted; --demo needs none of them. ${CHOOSING}`
    : `No model is chosen: add ${flags}. Or set ${compat}; --demo needs neither. ${CHOOSING}`;
}

/**
 * The flags that name the servers of this machine, that of OLLAMA_HOST and a hosted API with its key;
 * undefined where there are none.
 */
async function ownFlags(home: SetupHome): Promise<string | undefined> {
  const found = await home.find(FLAGS_SEARCH_MS, new AbortController().signal);
  const flags = found.filter(({ state }) => state !== "slow").map((server) => {
    if (server.state === "unasked") {
      return `--local (OLLAMA_HOST names ${oneLine(new URL(server.url).host)})`;
    }
    const get = server.isNative ? ": ollama pull qwen3:8b" : "";
    return `${flagsOfServer(server)}${server.models.length > 0 ? "" : ` (without models${get})`}`;
  });
  const { keyIn } = home.hosted().find(({ settings }) => settings.hosted) ?? {};
  if (keyIn !== undefined) flags.push(`--hosted (with the key in ${keyIn})`);
  return flags.length > 0 ? flags.join(", or ") : undefined;
}

const flagsOfServer = ({ url, isNative }: FoundServer): string =>
  isNative ? `--local --host ${url}` : `--base-url ${url}/v1`;

function checkOf(server: FoundServer): Check {
  const { url, state, isNative, models } = server;
  const place = oneLine(new URL(url).host);
  const row = (status: Check["status"], text: string, advice: string): Check => (
    { name: "server", status, text, advice }
  );
  if (state === "unasked") {
    const text = `${place} is in OLLAMA_HOST; it is another machine, so nothing was sent to it`;
    return row("note", text, "copilot doctor --local examines it");
  }
  if (state === "slow") {
    return row(
      "note",
      `${place} did not answer within ${DOCTOR_SEARCH_MS / 1000} s`,
      "Try again later",
    );
  }
  const who = isNative ? `Ollama at ${place}` : place;
  if (models.length === 0) {
    const advice = isNative ? "ollama pull qwen3:8b" : "Load a model there, then try again";
    return row("note", `${who} has no models`, advice);
  }
  const names = models.slice(0, MAX_NAMED_MODELS).map(({ name }) => oneLine(name));
  const more = models.length - names.length;
  return row(
    "ok",
    `${who} has ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`,
    `copilot doctor ${flagsOfServer(server)} --model NAME examines one`,
  );
}
