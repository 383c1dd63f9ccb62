/** The first choice of a model: a list of what there is, a key where one is needed. @module */

import { checkedUrl, isSettingError } from "../../config.ts";
import type { ListedModel } from "../../backends/local/model_list.ts";
import { modelFacts } from "../../session/model_server.ts";
import type { FoundServer } from "../../session/servers.ts";
import type { Screen } from "../../terminal/screen/screen.ts";
import { oneLine } from "../../text/one_line.ts";
import { wrapped } from "../../text/wrap.ts";
import { reasonOf } from "../../text/reason.ts";

/** A server and its model, by the names of the flags that choose them; `demo` is for one run. */
export interface ServerSettings {
  local?: true;
  hosted?: true;
  host?: string;
  "base-url"?: string;
  model?: string;
  demo?: true;
}

/** A hosted API that is offered. */
interface HostedOffer {
  name: string;
  /** The address that its key is for. */
  address: string;
  settings: ServerSettings;
  /** The place of the key that is there already, such as a variable. */
  keyIn?: string | undefined;
}

/** The side of a setup that knows addresses, keys and files. */
export interface SetupHome {
  /** Looks at the addresses of this machine, for at most `limitMs` milliseconds. */
  find(limitMs: number, signal: AbortSignal): Promise<readonly FoundServer[]>;
  hosted(): readonly HostedOffer[];
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

/** The time for servers to answer, in milliseconds, and for those that did not when looked at again. */
const FIRST_LOOK_MS = 300;
const SECOND_LOOK_MS = 5000;

/** The meaning of a row: settings, an API that wants a key first, another look, or an address to type. */
type Pick =
  | { settings: ServerSettings; said: string }
  | { offer: HostedOffer }
  | "look"
  | "address";

/** The screen of a setup; it breaks long lines. */
export type SetupScreen = globalThis.Pick<Screen, "print" | "choose" | "ask" | "askHidden">;

/** Has a person choose a server and a model, and keeps the choice; undefined where they chose none. */
export async function setUp(
  screen: SetupScreen,
  home: SetupHome,
  { isFirst, columns, signal, onLook }: SetupOptions,
): Promise<ServerSettings | undefined> {
  for (let limitMs = FIRST_LOOK_MS;; limitMs = SECOND_LOOK_MS) {
    onLook(true);
    const found = await home.find(limitMs, signal).finally(() => onLook(false));
    const own = found.flatMap(serverRows);
    // One place with several rows, or one that answered with no model, leaves something to choose.
    const isClear = isFirst && found.length === 1 && found[0]!.models.length === 1;
    let pick: Pick | null;
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
    const kept = pick === "address"
      ? await keepAddress(screen, home, signal)
      : "offer" in pick
      ? await keepHosted(screen, home, pick.offer, signal)
      : await keepChoice(screen, home, pick.settings, pick.said);
    if (kept !== undefined) return kept;
  }
}

const HINT = "Enter picks · Esc leaves it as it is";
/** How a server is started that is found afterwards. */
export const HOW_TO_START = `  Ollama (ollama.com): ollama pull qwen3:8b
  llama.cpp: llama-server -hf Qwen/Qwen3-8B-GGUF --jinja
  LM Studio (lmstudio.ai): load a model, start its server`;
const NOTHING_FOUND = `No model server answers on this machine. Start one, then look again:
${HOW_TO_START}
Or choose:`;

interface Row {
  label: string;
  detail: string;
  value: Pick;
}

function serverRows(server: FoundServer): Row[] {
  const { url, state, isNative, models } = server;
  const place = oneLine(new URL(url).host);
  if (state === "unasked") {
    const settings = { local: true, host: url } as const;
    const value = { settings, said: place };
    return [{ label: place, detail: "from OLLAMA_HOST; not asked yet", value }];
  }
  if (state === "slow") {
    return [{ label: place, detail: "did not answer in time: look again", value: "look" }];
  }
  if (models.length === 0) {
    const get = isNative ? "Ollama without models: ollama pull qwen3:8b" : "lists no models";
    return [{ label: place, detail: `${get}; look again`, value: "look" }];
  }
  const kind = isNative ? `Ollama, ${place}` : place;
  // A name with a space in it cannot stand behind a flag of /model.
  return models.filter(({ name }) => models.length === 1 || !/\s/.test(name)).map((model) => ({
    label: oneLine(model.name),
    detail: [modelFacts(model), kind].filter((text) => text !== "").join(" · "),
    value: { settings: settingsOf(server, model), said: `${oneLine(model.name)} at ${place}` },
  }));
}

/** The settings that choose a model of a server that was found. */
export function settingsOf(
  { url, isNative, models }: FoundServer,
  { name }: ListedModel,
): ServerSettings {
  if (isNative) return { local: true, host: url, model: name };
  // A server that was started with its model may have another one the next time.
  return { "base-url": `${url}/v1`, ...models.length > 1 && { model: name } };
}

function hostedRow(offer: HostedOffer): Row {
  const { name, address, keyIn } = offer;
  const key = keyIn === undefined ? "paste a key" : `with the key in ${keyIn}`;
  return { label: name, detail: `${key} · ${new URL(address).host}`, value: { offer } };
}

function lastRows(found: readonly FoundServer[], isFirst: boolean): Row[] {
  const look = { label: "Look again", detail: "once a server runs", value: "look" } as const;
  const other = { label: "Another server", detail: "type its address", value: "address" } as const;
  const settings = { demo: true } as const;
  const demo = { label: "Demo", detail: "fixed rules, no model; this time only" };
  return [
    other,
    ...found.length === 0 ? [look] : [],
    ...isFirst ? [{ ...demo, value: { settings, said: "" } }] : [],
  ];
}

/** Asks for the key where there is none yet; undefined where none was given, or it could not be kept. */
async function keepHosted(
  screen: SetupScreen,
  home: SetupHome,
  { name, address, settings, keyIn }: HostedOffer,
  signal: AbortSignal,
): Promise<ServerSettings | undefined> {
  if (keyIn !== undefined) return await keepChoice(screen, home, settings, name);
  const prompt = `The key for ${new URL(address).host} (hidden; Enter alone goes back): `;
  const objection = (line: string) => home.objection(line.trim());
  const key = (await screen.askHidden(prompt, objection, signal))?.trim();
  if (!key) return undefined;
  return await keepChoice(screen, home, settings, name, { address, key });
}

/** Asks for the address of a server, and over https for a key; undefined where none was given. */
async function keepAddress(
  screen: SetupScreen,
  home: SetupHome,
  signal: AbortSignal,
): Promise<ServerSettings | undefined> {
  let address = "";
  const objection = (line: string) => {
    try {
      address = line.trim() && checkedUrl("compat", "baseUrl", line);
    } catch (error) {
      return isSettingError(error) ? `Cannot use it as ${error.why}` : reasonOf(error);
    }
  };
  const prompt = "The server's address, such as http://gpu:8080 (Enter alone goes back): ";
  if (await screen.ask(prompt, objection, signal) === null || address === "") return undefined;
  const said = oneLine(new URL(address).host);
  // Where it is not Ollama, a session asks it by its OpenAI-compatible endpoint.
  const host = address.replace(/\/v1$/, "");
  if (!address.startsWith("https:")) {
    return await keepChoice(screen, home, { local: true, host }, said);
  }
  const ask = `The key for ${said} (hidden; Enter alone for none): `;
  const key = (await screen.askHidden(ask, (line) => home.objection(line.trim()), signal))?.trim();
  const given = key ? { address, key } : undefined;
  return await keepChoice(screen, home, { "base-url": address }, said, given);
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
