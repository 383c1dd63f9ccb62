/** The first choice of a model: a list of what was found, and a key if one is needed. @module */

import { checkedUrl, isSettingError } from "../../../config.ts";
import { BackendError } from "../../../errors.ts";
import { modelFacts } from "../../../models/model_server.ts";
import type { FoundServer } from "../../../models/servers.ts";
import type { Screen } from "../screen/screen.ts";
import { oneLine } from "../../../text/one_line.ts";
import { wrapped } from "../../../text/wrap.ts";
import { reasonOf } from "../../../text/reason.ts";
import { isLoopback } from "../../../wire/connect.ts";
import { aborted, endingWith, within } from "../../../wire/wait.ts";
import type { ServerSettings } from "../../server_settings.ts";
import {
  type CurrentServer,
  type HostedOffer,
  hostedRow,
  hostShown,
  isOfServer,
  keptText,
  lastRows,
  NOTHING_FOUND,
  serverRows,
  type SetupPick,
} from "./setup_rows.ts";

export interface SetupHome {
  find(
    limitMs: number,
    signal: AbortSignal,
    chosen?: readonly string[],
  ): Promise<readonly FoundServer[]>;
  own(): readonly string[];
  /** Asks the server at any `address` for its models. An empty key means the saved one. */
  ask(
    address: string,
    how: { key: string | undefined; limitMs: number; signal: AbortSignal },
  ): Promise<FoundServer>;
  keyIn(address: string): string | undefined;
  hosted(): readonly HostedOffer[];
  /** Asks a hosted API if `key` is valid. @throws {BackendError} if it is not, or if there is no answer. */
  tryKey(
    offer: HostedOffer,
    how: { key: string; limitMs: number; signal: AbortSignal },
  ): Promise<void>;
  objection(key: string): string | undefined;
  /** Saves a choice, and the key for an address. @throws {Error} if that fails. */
  keep(settings: ServerSettings, key?: { address: string; key: string }): Promise<void>;
}

interface SetupOptions {
  /** True before there is a session: a clear choice needs no question, and the demo is offered. */
  isFirst: boolean;
  current?: CurrentServer | undefined;
  columns: number;
  signal: AbortSignal;
  onLook(isLooking: boolean): void;
  pollMs?: number;
}

/** The timeouts of servers in milliseconds: the first, and that of servers that missed it or were named. */
const FIRST_LOOK_MS = 300;
const SECOND_LOOK_MS = 5000;
const POLL_MS = 2000;

type SetupScreen = Pick<Screen, "print" | "choose" | "ask">;

const NO_MODEL_ROWS = [
  { label: "Change the address", value: "address" },
  { label: "Retry", detail: "after starting it", value: "again" },
  { label: "Save it anyway", detail: "for this session and later ones", value: "keep" },
] as const;
const NO_KEY_ROWS = [
  { label: "Enter another key", value: "key" },
  { label: "Retry", value: "again" },
  { label: "Save it anyway", value: "keep" },
] as const;
const HOW_TO_TYPE = "Type the server's address, such as http://gpu:8080 (empty to go back)";
const NO_ADDRESS = "That is not a server address. Example: http://gpu:8080, without ? and #";
const KEY_ROW = { label: "Enter a key", value: "key" } as const;
const HINT = "Enter to select · Esc to cancel";
const BACK_HINT = "Enter to select · Esc to go back";

/** An address and its key; an empty key is the saved one. Without `key`, only the saved one is sent. */
interface NamedServer {
  address: string;
  key?: string;
}

type Kept = Promise<ServerSettings | undefined>;

/** Lets the user choose a server and a model, and saves the choice. */
export class Setup {
  constructor(
    private readonly screen: SetupScreen,
    private readonly home: SetupHome,
    private readonly options: SetupOptions,
  ) {}

  /** Resolves with undefined if the user cancels. */
  async run(): Kept {
    const { screen, home, options: { isFirst, current, columns, signal } } = this;
    let pick: SetupPick | null = null;
    let news: readonly FoundServer[] | undefined;
    for (let limitMs = FIRST_LOOK_MS;; limitMs = SECOND_LOOK_MS) {
      const found = news ?? await this.#withSpinner(() => this.#find(limitMs, signal));
      news = undefined;
      const own = found.flatMap((server) => serverRows(server, current));
      // A place with several rows, or without a model, leaves something to choose.
      const isClear = isFirst && found.length === 1 && found[0]!.models.length === 1;
      if (isClear) pick = own[0]!.value;
      else {
        const hosted = home.hosted().map((offer) => hostedRow(offer, current));
        const items = [...own, ...hosted, ...lastRows(isFirst)];
        const chosen = Math.max(0, items.findIndex(({ isCurrent }) => isCurrent));
        using list = endingWith(signal);
        const title = wrapped(
          found.length > 0 || !isFirst ? "Which model should copilot use?" : NOTHING_FOUND,
          columns,
        );
        using poll = endingWith(list.signal);
        if (hasNone(found)) {
          void this.#poll(poll.signal).then((later) => {
            news = later;
            if (later !== undefined) list.abort();
          });
        }
        pick = await screen.choose({ title, items, chosen, hint: HINT }, list.signal);
        poll.abort();
      }
      if (news !== undefined) continue;
      if (pick === null) return undefined;
      const kept = "address" in pick
        ? await this.#keepAddress(pick.address)
        : "offer" in pick
        ? await this.#keepHosted(pick.offer)
        : await this.#keep(pick.settings, pick.said);
      if (kept !== undefined) return kept;
    }
  }

  async #find(limitMs: number, signal: AbortSignal): Promise<readonly FoundServer[]> {
    const { home, options: { current } } = this;
    const isOffered = current && home.hosted().some((offer) => isOfServer(offer, current));
    return await home.find(limitMs, signal, current && !isOffered ? [current.url] : []);
  }

  /** Resolves with the servers once one has a model; with undefined once `signal` is aborted. */
  async #poll(signal: AbortSignal): Promise<readonly FoundServer[] | undefined> {
    while (!signal.aborted) {
      await within(this.options.pollMs ?? POLL_MS, aborted(signal));
      if (signal.aborted) return;
      const found = await this.#find(SECOND_LOOK_MS, signal).catch(() => []);
      if (!signal.aborted && !hasNone(found)) return found;
    }
  }

  async #withSpinner<T>(step: () => Promise<T>): Promise<T> {
    this.options.onLook(true);
    return await step().finally(() => this.options.onLook(false));
  }

  /** Asks for a missing key, and verifies it; undefined without one. The user may save a rejected one. */
  async #keepHosted(offer: HostedOffer): Kept {
    const { name, address, settings, keyIn } = offer;
    if (keyIn !== undefined) return await this.#keep(settings, name);
    const { screen, home, options: { signal } } = this;
    const ask = async () => await this.#askKey(new URL(address).host, "goes back") || undefined;
    let key = await ask();
    while (key !== undefined) {
      const how = { key, limitMs: SECOND_LOOK_MS, signal };
      const problem = await this.#withSpinner(() => home.tryKey(offer, how)).catch(serverProblem);
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

  async #askKey(host: string, otherwise: string): Promise<string | undefined> {
    const prompt = `The key for ${host} (hidden; Enter alone ${otherwise}): `;
    const objection = (line: string) => this.home.objection(line.trim());
    const how = { isHidden: true, waits: false };
    return (await this.screen.ask(prompt, objection, this.options.signal, how))?.trim();
  }

  /** Returns the key for `address`, empty for the saved key or for no key; undefined after Esc. */
  #keyFor(address: string): Promise<string | undefined> {
    const keyIn = this.home.keyIn(address);
    const otherwise = keyIn === undefined ? "none" : `the one in ${keyIn}`;
    return this.#askKey(hostShown(address), `for ${otherwise}`);
  }

  /** Saves a model of the server at `address`, which is asked for if empty. The user may save a server without answer. */
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

  /** Returns the server with its models, or why it offers no model. */
  async #askNamed({ address, key }: NamedServer): Promise<FoundServer | ServerProblem> {
    const how = { key, limitMs: SECOND_LOOK_MS, signal: this.options.signal };
    const found = await this.#withSpinner(() => this.home.ask(address, how)).catch(serverProblem);
    if (!("models" in found) || found.models.length > 0) return found;
    const get = found.isNative ? ": ollama pull qwen3:8b gets one" : "";
    return { text: `${hostShown(address)} has no models${get}`, wantsKey: false };
  }

  /** Asks for an address, and for a key if it is https; undefined if no address was entered. */
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
    const how = { text: before, waits: false };
    const line = await screen.ask("Address: ", objection, signal, how);
    if (line === null || address === "") return undefined;
    if (!address.startsWith("https:")) return { address, key: "" };
    const key = await this.#keyFor(address);
    return key === undefined ? undefined : { address, key };
  }

  async #keepModelOf(server: NamedServer, found: FoundServer): Kept {
    const items = found.models.map((model) => (
      { label: oneLine(model.name), detail: modelFacts(model), value: model.name }
    ));
    const title = `Which model of ${hostShown(server.address)}?`;
    const model = items.length === 1
      ? items[0]!.value
      : await this.screen.choose({ title, items, hint: BACK_HINT }, this.options.signal);
    return model === null ? undefined : await this.#keepServer(server, { found, model });
  }

  async #keepServer(
    { address, key }: NamedServer,
    answer?: { found: FoundServer; model: string },
  ): Kept {
    const host = address.replace(/\/v1$/, "");
    const isNative = answer?.found.isNative === true;
    // Until an http server answers, each start asks it if it is Ollama.
    const isLocal = isNative || !answer && address.startsWith("http:");
    // A server on this machine that was started for one model may have another one next time.
    const isNamed = answer && (isNative || !isLoopback(address) || answer.found.models.length > 1);
    const settings: ServerSettings = {
      ...isLocal ? { local: true, host } : { "base-url": answer ? `${host}/v1` : address },
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
      this.screen.print(`· ${said}. Saved to config.json. Run /setup to change it.`);
      return settings;
    } catch (error) {
      this.screen.print(`· ${said}: cannot be saved: ${oneLine(reasonOf(error))}`);
      // A hosted model needs its key.
      return key === undefined ? settings : undefined;
    }
  }
}

const hasNone = (found: readonly FoundServer[]): boolean =>
  found.every(({ models }) => models.length === 0);

interface ServerProblem {
  text: string;
  wantsKey: boolean;
}

function serverProblem(error: unknown): ServerProblem {
  if (!(error instanceof BackendError)) throw error;
  return { text: oneLine(reasonOf(error)), wantsKey: error.kind === "auth" };
}
