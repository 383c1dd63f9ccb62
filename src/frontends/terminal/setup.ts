/** The first choice of a model: a list of what there is, a key where one is needed. @module */

import { checkedUrl, isSettingError } from "../../config.ts";
import { BackendError } from "../../errors.ts";
import { modelFacts } from "../../session/model_server.ts";
import type { FoundServer } from "../../session/servers.ts";
import type { Screen } from "../../terminal/screen/screen.ts";
import { oneLine } from "../../text/one_line.ts";
import { wrapped } from "../../text/wrap.ts";
import { reasonOf } from "../../text/reason.ts";
import { placesText, type ServerSettings } from "../server_settings.ts";
import {
  type HostedOffer,
  hostedRow,
  hostShown,
  keptText,
  lastRows,
  nameable,
  NOTHING_FOUND,
  serverRows,
  type SetupPick,
} from "./setup_rows.ts";

/** The side of a setup that knows addresses, keys and files. */
export interface SetupHome {
  /** Looks at the addresses of this machine, for at most `limitMs` milliseconds. */
  find(limitMs: number, signal: AbortSignal): Promise<readonly FoundServer[]>;
  /** The addresses that `find` looks at. */
  own(): readonly string[];
  /** Asks the server at `address`, wherever it is, for its models; an empty key is the one that is there already. */
  ask(
    address: string,
    how: { key: string | undefined; limitMs: number; signal: AbortSignal },
  ): Promise<FoundServer>;
  /** The place of the key for `address` that is there already; undefined for none. */
  keyIn(address: string): string | undefined;
  hosted(): readonly HostedOffer[];
  /** Asks a hosted API whether it takes `key`. @throws {BackendError} when it does not, or does not answer. */
  tryKey(
    offer: HostedOffer,
    how: { key: string; limitMs: number; signal: AbortSignal },
  ): Promise<void>;
  /** A sentence on why `key` is none; undefined where it may be one. */
  objection(key: string): string | undefined;
  /** Keeps a choice, and the key for an address. @throws {Error} when that fails. */
  keep(settings: ServerSettings, key?: { address: string; key: string }): Promise<void>;
}

interface SetupOptions {
  /** True before there is a session: what is clear needs no question, and there is the demo. */
  isFirst: boolean;
  columns: number;
  signal: AbortSignal;
  /** Called as a look at the servers begins and ends. */
  onLook(isLooking: boolean): void;
}

/** The time for servers to answer, in milliseconds, and for those that did not, or that were named. */
const FIRST_LOOK_MS = 300;
const SECOND_LOOK_MS = 5000;

/** The screen of a setup; it breaks long lines. */
export type SetupScreen = Pick<Screen, "print" | "choose" | "ask" | "askHidden">;

/** Has a person choose a server and a model, and keeps the choice; undefined where they chose none. */
export async function setUp(
  screen: SetupScreen,
  home: SetupHome,
  options: SetupOptions,
): Promise<ServerSettings | undefined> {
  const { isFirst, columns, signal, onLook } = options;
  let pick: SetupPick | null = null;
  for (let limitMs = FIRST_LOOK_MS;; limitMs = SECOND_LOOK_MS) {
    onLook(true);
    const found = await home.find(limitMs, signal).finally(() => onLook(false));
    if (pick === "look" && found.every(({ models }) => models.length === 0)) {
      screen.print(`· looked at ${placesText(home.own())}: still no model`);
    }
    const own = found.flatMap(serverRows);
    // One place with several rows, or one that answered with no model, leaves something to choose.
    const isClear = isFirst && found.length === 1 && found[0]!.models.length === 1;
    if (isClear) pick = own[0]!.value;
    else {
      const rows = [...own, ...home.hosted().map(hostedRow), ...lastRows(found, isFirst)];
      const title = found.length > 0 ? "Which model?" : NOTHING_FOUND;
      pick = await screen.choose(
        { title: wrapped(title, columns), items: rows, hint: HINT },
        signal,
      );
    }
    if (pick === null) return undefined;
    if (pick === "look") continue;
    const kept = "address" in pick
      ? await keepAddress(screen, home, pick.address, options)
      : "offer" in pick
      ? await keepHosted(screen, home, pick.offer, options)
      : await keepChoice(screen, home, pick.settings, pick.said);
    if (kept !== undefined) return kept;
  }
}

const HINT = "Enter picks · Esc leaves it as it is";
const BACK_HINT = "Enter picks · Esc goes back";
/**
 * Asks for the key where there is none yet, and the API whether it takes it; undefined where none was given,
 * or it could not be kept. One that is not taken is kept only where the person says so.
 */
async function keepHosted(
  screen: SetupScreen,
  home: SetupHome,
  offer: HostedOffer,
  options: SetupOptions,
): Promise<ServerSettings | undefined> {
  const { name, address, settings, keyIn } = offer;
  const { signal } = options;
  if (keyIn !== undefined) return await keepChoice(screen, home, settings, name);
  let key = await hostedKey(screen, home, address, signal);
  while (key !== undefined) {
    const problem = await keyProblem(home, offer, key, options);
    if (problem === undefined) break;
    screen.print(`· ${problem}`);
    const title = `What about ${hostShown(address)}?`;
    const next = await screen.choose({ title, items: NO_KEY_ROWS, hint: BACK_HINT }, signal);
    if (next === null) return undefined;
    if (next === "keep") break;
    if (next === "key") key = await hostedKey(screen, home, address, signal);
  }
  return key === undefined
    ? undefined
    : await keepChoice(screen, home, settings, name, { address, key });
}

/** The key that is pasted for a hosted API; undefined for none. */
async function hostedKey(
  screen: SetupScreen,
  home: SetupHome,
  address: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const prompt = `The key for ${new URL(address).host} (hidden; Enter alone goes back): `;
  const objection = (line: string) => home.objection(line.trim());
  return (await screen.askHidden(prompt, objection, signal))?.trim() || undefined;
}

/** A sentence on why a hosted API does not take the key; undefined where it does. */
async function keyProblem(
  home: SetupHome,
  offer: HostedOffer,
  key: string,
  { signal, onLook }: SetupOptions,
): Promise<string | undefined> {
  onLook(true);
  try {
    return void await home.tryKey(offer, { key, limitMs: SECOND_LOOK_MS, signal });
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return oneLine(reasonOf(error));
  } finally {
    onLook(false);
  }
}

/**
 * An address, and the key that a person gave for it: an empty one is that which is there already, if any.
 * Without one it was not asked about: the server gets none but that kept for its address.
 */
interface NamedServer {
  address: string;
  key?: string;
}

/** The ways on from a server that did not say which models it has. */
const NO_MODEL_ROWS = [
  { label: "Change the address", value: "address" },
  { label: "Ask again", detail: "once it runs", value: "again" },
  { label: "Keep it anyway", detail: "for this session and later ones", value: "keep" },
] as const;
const NO_KEY_ROWS = [
  { label: "Give another key", value: "key" },
  { label: "Ask again", value: "again" },
  { label: "Keep it anyway", value: "keep" },
] as const;
const HOW_TO_TYPE = "Type the server's address, such as http://gpu:8080 (Enter alone goes back)";
const NO_ADDRESS = "That is no address of a server. One is like http://gpu:8080, without ? and #";
const KEY_ROW = { label: "Give a key", value: "key" } as const;

/**
 * Asks the server at `address`, which is typed where it is empty, for its models, and keeps the one that is
 * picked. A server that does not answer is kept only where the person says so; undefined for none.
 */
async function keepAddress(
  screen: SetupScreen,
  home: SetupHome,
  address: string,
  options: SetupOptions,
): Promise<ServerSettings | undefined> {
  const { signal } = options;
  let server = address === ""
    ? await typedServer(screen, home, signal)
    : { address } satisfies NamedServer;
  while (server !== undefined) {
    const answer = await askNamed(home, server, options);
    if ("models" in answer) return await keepModelOf(screen, home, server, answer, signal);
    const items = [...answer.wantsKey ? [KEY_ROW] : [], ...NO_MODEL_ROWS];
    screen.print(`· ${answer.problem}`);
    const title = `What about ${hostShown(server.address)}?`;
    const next = await screen.choose({ title, items, hint: BACK_HINT }, signal);
    if (next === null) return undefined;
    if (next === "keep") return await keepServer(screen, home, server);
    if (next === "key") server.key = await typedKey(screen, home, server.address, signal) ?? "";
    if (next === "address") server = await typedServer(screen, home, signal, server.address);
  }
  return undefined;
}

/** The server with its models, or a sentence on why it offers none. */
async function askNamed(
  home: SetupHome,
  { address, key }: NamedServer,
  { signal, onLook }: SetupOptions,
): Promise<FoundServer | { problem: string; wantsKey: boolean }> {
  onLook(true);
  try {
    const found = await home.ask(address, { key, limitMs: SECOND_LOOK_MS, signal });
    if (found.models.length > 0) return found;
    const get = found.isNative ? ": ollama pull qwen3:8b gets one" : "";
    return { problem: `${hostShown(address)} has no models${get}`, wantsKey: false };
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return { problem: oneLine(reasonOf(error)), wantsKey: error.kind === "auth" };
  } finally {
    onLook(false);
  }
}

/** Asks for an address, and over https for a key; undefined where no address was given. */
async function typedServer(
  screen: SetupScreen,
  home: SetupHome,
  signal: AbortSignal,
  before = "",
): Promise<NamedServer | undefined> {
  let address = "";
  const objection = (line: string) => {
    try {
      address = line.trim() && checkedUrl("compat", "baseUrl", line);
    } catch (error) {
      return isSettingError(error) ? NO_ADDRESS : reasonOf(error);
    }
  };
  if (before === "") screen.print(`· ${HOW_TO_TYPE}`);
  const line = await screen.ask("Address: ", objection, signal, before, { waits: false });
  if (line === null || address === "") return undefined;
  if (!address.startsWith("https:")) return { address, key: "" };
  const key = await typedKey(screen, home, address, signal);
  return key === undefined ? undefined : { address, key };
}

/** The key that is pasted for `address`, empty for the one that is there already or none; undefined after Esc. */
async function typedKey(
  screen: SetupScreen,
  home: SetupHome,
  address: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const keyIn = home.keyIn(address);
  const otherwise = keyIn === undefined ? "none" : `the one in ${keyIn}`;
  const prompt = `The key for ${hostShown(address)} (hidden; Enter alone for ${otherwise}): `;
  return (await screen.askHidden(prompt, (line) => home.objection(line.trim()), signal))?.trim();
}

/** Keeps the server with one of its models, which the person picks where there are several; undefined for none. */
async function keepModelOf(
  screen: SetupScreen,
  home: SetupHome,
  server: NamedServer,
  found: FoundServer,
  signal: AbortSignal,
): Promise<ServerSettings | undefined> {
  const items = nameable(found.models).map((model) => (
    { label: oneLine(model.name), detail: modelFacts(model), value: model.name }
  ));
  const list = { title: `Which model of ${hostShown(server.address)}?`, items, hint: BACK_HINT };
  const model = items.length === 1 ? items[0]!.value : await screen.choose(list, signal);
  return model === null ? undefined : await keepServer(screen, home, server, { found, model });
}

/** Keeps a server, with a model that it was found to have or without one. */
async function keepServer(
  screen: SetupScreen,
  home: SetupHome,
  { address, key }: NamedServer,
  answer?: { found: FoundServer; model: string },
): Promise<ServerSettings | undefined> {
  const host = address.replace(/\/v1$/, "");
  const isNative = answer?.found.isNative === true;
  // Where it is not Ollama, a session asks it by its OpenAI-compatible endpoint.
  const isLocal = isNative || address.startsWith("http:");
  // A server that was started with its model may have another one the next time.
  const isNamed = answer && (isNative || !isLocal || answer.found.models.length > 1);
  const settings: ServerSettings = {
    // A server that is known not to be Ollama is spared the question at each start.
    ...isLocal
      ? { local: true, host, ...answer && !isNative && { "use-compat": true } }
      : { "base-url": answer ? `${host}/v1` : address },
    ...isNamed && { model: answer.model },
  };
  const said = keptText(hostShown(address), settings);
  const given = key ? { address, key } : undefined;
  return await keepChoice(screen, home, settings, said, given);
}

async function keepChoice(
  screen: SetupScreen,
  home: SetupHome,
  settings: ServerSettings,
  said: string,
  key?: { address: string; key: string },
): Promise<ServerSettings | undefined> {
  if (settings.demo) return settings;
  try {
    await home.keep(settings, key);
    screen.print(`· ${said}: kept in config.json; /setup changes it`);
    return settings;
  } catch (error) {
    screen.print(`· ${said}: cannot be kept: ${oneLine(reasonOf(error))}`);
    // Without its key a hosted model does not answer.
    return key === undefined ? settings : undefined;
  }
}
