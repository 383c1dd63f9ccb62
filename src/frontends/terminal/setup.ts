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
const HINT = "Enter picks · Esc leaves it as it is";
const BACK_HINT = "Enter picks · Esc goes back";

/**
 * An address, and the key that a person gave for it: an empty one is that which is there already, if any.
 * Without one it was not asked about: the server gets none but that kept for its address.
 */
interface NamedServer {
  address: string;
  key?: string;
}

/** Has a person choose a server and a model, and keeps the choice; undefined where they chose none. */
export async function setUp(
  screen: SetupScreen,
  home: SetupHome,
  options: SetupOptions,
): Promise<ServerSettings | undefined> {
  return await new Setup(screen, home, options).run();
}

/** What is kept; undefined for none. */
type Kept = Promise<ServerSettings | undefined>;

class Setup {
  constructor(
    private readonly screen: SetupScreen,
    private readonly home: SetupHome,
    private readonly options: SetupOptions,
  ) {}

  async run(): Kept {
    const { screen, home, options: { isFirst, columns, signal } } = this;
    let pick: SetupPick | null = null;
    for (let limitMs = FIRST_LOOK_MS;; limitMs = SECOND_LOOK_MS) {
      const found = await this.#look(() => home.find(limitMs, signal));
      if (pick === "look" && found.every(({ models }) => models.length === 0)) {
        screen.print(`· looked at ${placesText(home.own())}: still no model`);
      }
      const own = found.flatMap(serverRows);
      // One place with several rows, or one that answered with no model, leaves something to choose.
      const isClear = isFirst && found.length === 1 && found[0]!.models.length === 1;
      if (isClear) pick = own[0]!.value;
      else {
        const items = [...own, ...home.hosted().map(hostedRow), ...lastRows(found, isFirst)];
        const title = wrapped(found.length > 0 ? "Which model?" : NOTHING_FOUND, columns);
        pick = await screen.choose({ title, items, hint: HINT }, signal);
      }
      if (pick === null) return undefined;
      if (pick === "look") continue;
      const kept = "address" in pick
        ? await this.#keepAddress(pick.address)
        : "offer" in pick
        ? await this.#keepHosted(pick.offer)
        : await this.#keep(pick.settings, pick.said);
      if (kept !== undefined) return kept;
    }
  }

  /** Does `step` while the screen says that something is looked at. */
  async #look<T>(step: () => Promise<T>): Promise<T> {
    this.options.onLook(true);
    return await step().finally(() => this.options.onLook(false));
  }

  /**
   * Asks for the key where there is none yet, and the API whether it takes it; undefined where none was
   * given, or it could not be kept. One that is not taken is kept only where the person says so.
   */
  async #keepHosted(offer: HostedOffer): Kept {
    const { name, address, settings, keyIn } = offer;
    if (keyIn !== undefined) return await this.#keep(settings, name);
    const { screen, home, options: { signal } } = this;
    const ask = async () => await this.#askKey(new URL(address).host, "goes back") || undefined;
    let key = await ask();
    while (key !== undefined) {
      const how = { key, limitMs: SECOND_LOOK_MS, signal };
      const problem = await this.#look(() => home.tryKey(offer, how)).catch(serverProblem);
      if (problem === undefined) break;
      screen.print(`· ${problem.text}`);
      const title = `What about ${hostShown(address)}?`;
      const next = await screen.choose({ title, items: NO_KEY_ROWS, hint: BACK_HINT }, signal);
      if (next === null) return undefined;
      if (next === "keep") break;
      if (next === "key") key = await ask();
    }
    return key === undefined ? undefined : await this.#keep(settings, name, { address, key });
  }

  /** A key that is pasted, which may be empty; undefined after Esc. */
  async #askKey(host: string, otherwise: string): Promise<string | undefined> {
    const prompt = `The key for ${host} (hidden; Enter alone ${otherwise}): `;
    const objection = (line: string) => this.home.objection(line.trim());
    return (await this.screen.askHidden(prompt, objection, this.options.signal))?.trim();
  }

  /** The key for `address`, empty for the one that is there already or none; undefined after Esc. */
  #keyFor(address: string): Promise<string | undefined> {
    const keyIn = this.home.keyIn(address);
    const otherwise = keyIn === undefined ? "none" : `the one in ${keyIn}`;
    return this.#askKey(hostShown(address), `for ${otherwise}`);
  }

  /**
   * Asks the server at `address`, which is typed where it is empty, for its models, and keeps the one that
   * is picked. A server that does not answer is kept only where the person says so; undefined for none.
   */
  async #keepAddress(address: string): Kept {
    const { screen, options: { signal } } = this;
    let server: NamedServer | undefined = address === "" ? await this.#typedServer() : { address };
    while (server !== undefined) {
      const answer = await this.#askNamed(server);
      if ("models" in answer) return await this.#keepModelOf(server, answer);
      const items = [...answer.wantsKey ? [KEY_ROW] : [], ...NO_MODEL_ROWS];
      screen.print(`· ${answer.text}`);
      const title = `What about ${hostShown(server.address)}?`;
      const next = await screen.choose({ title, items, hint: BACK_HINT }, signal);
      if (next === null) return undefined;
      if (next === "keep") return await this.#keepServer(server);
      if (next === "key") server.key = await this.#keyFor(server.address) ?? "";
      if (next === "address") server = await this.#typedServer(server.address);
    }
    return undefined;
  }

  /** The server with its models, or the problem that it offers none. */
  async #askNamed({ address, key }: NamedServer): Promise<FoundServer | ServerProblem> {
    const how = { key, limitMs: SECOND_LOOK_MS, signal: this.options.signal };
    const found = await this.#look(() => this.home.ask(address, how)).catch(serverProblem);
    if (!("models" in found) || found.models.length > 0) return found;
    const get = found.isNative ? ": ollama pull qwen3:8b gets one" : "";
    return { text: `${hostShown(address)} has no models${get}`, wantsKey: false };
  }

  /** Asks for an address, and over https for a key; undefined where no address was given. */
  async #typedServer(before = ""): Promise<NamedServer | undefined> {
    const { screen, options: { signal } } = this;
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
    const key = await this.#keyFor(address);
    return key === undefined ? undefined : { address, key };
  }

  /** Keeps the server with one of its models, which the person picks where there are several. */
  async #keepModelOf(server: NamedServer, found: FoundServer): Kept {
    const items = nameable(found.models).map((model) => (
      { label: oneLine(model.name), detail: modelFacts(model), value: model.name }
    ));
    const title = `Which model of ${hostShown(server.address)}?`;
    const model = items.length === 1
      ? items[0]!.value
      : await this.screen.choose({ title, items, hint: BACK_HINT }, this.options.signal);
    return model === null ? undefined : await this.#keepServer(server, { found, model });
  }

  /** Keeps a server, with a model that it was found to have or without one. */
  async #keepServer(
    { address, key }: NamedServer,
    answer?: { found: FoundServer; model: string },
  ): Kept {
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
    return await this.#keep(settings, said, key ? { address, key } : undefined);
  }

  async #keep(
    settings: ServerSettings,
    said: string,
    key?: { address: string; key: string },
  ): Kept {
    if (settings.demo) return settings;
    try {
      await this.home.keep(settings, key);
      this.screen.print(`· ${said}: kept in config.json; /setup changes it`);
      return settings;
    } catch (error) {
      this.screen.print(`· ${said}: cannot be kept: ${oneLine(reasonOf(error))}`);
      // Without its key a hosted model does not answer.
      return key === undefined ? settings : undefined;
    }
  }
}

/** Why a server offers no model, or takes no key. */
interface ServerProblem {
  text: string;
  wantsKey: boolean;
}

/** The problem of a server that refused, or that could not be reached. */
function serverProblem(error: unknown): ServerProblem {
  if (!(error instanceof BackendError)) throw error;
  return { text: oneLine(reasonOf(error)), wantsKey: error.kind === "auth" };
}
