/** The parts of this machine that a setup uses: addresses, keys, and the settings file. @module */

import { DEFAULT_ADDRESSES } from "../config.ts";
import type { SetupHome } from "../ui/terminal/session/setup.ts";
import { askServerAt, findServers, tryKey } from "../models/servers.ts";
import { listedAddress } from "../server_address.ts";
import { isLoopback } from "../wire/connect.ts";
import { headersFor, keepSettings } from "./defaults.ts";
import { type Env, hostIn, KEY_VARIABLES, keyFor, keyObjection } from "./keys.ts";

/** The ports of model servers: Ollama, llama.cpp, other common ones, LM Studio, vLLM. */
const PORTS = [11434, 8080, 9931, 1234, 8000];

const HOSTED = [
  { name: "Anthropic", kind: "hosted", settings: { hosted: true } },
  { name: "OpenAI", kind: "compat", settings: {} },
] as const;

/** Returns the setup of this machine, with the variables of `env`. It tries `ports` of 127.0.0.1. */
export function setupHome(env: Env = Deno.env, ports: readonly number[] = PORTS): SetupHome {
  const addresses = () => {
    const named = hostIn(env);
    return [
      ...named === undefined ? [] : [listedAddress(named)],
      ...ports.map((port) => `http://127.0.0.1:${port}`),
    ];
  };
  return {
    find: (limitMs, signal, chosen = []) =>
      findServers(addresses(), {
        limitMs,
        signal,
        chosen,
        // Over http only a key for this very address is sent.
        accessTo: (url) => ({ apiKey: keyFor("local", url, env), headers: headersFor(url, env) }),
      }),
    own: () => [...new Set(addresses())].filter(isLoopback),
    keyIn: (address) => keyPlace("compat", address, env),
    ask(address, { key, ...how }) {
      // A variable's key is sent to an address that the user typed, which a line reports.
      const apiKey = key === undefined
        ? keyFor("local", address, env)
        : key || keyFor("compat", address, env);
      return askServerAt(address, { apiKey, headers: headersFor(address, env), ...how });
    },
    hosted: () =>
      HOSTED.map(({ name, kind, settings }) => {
        const address = DEFAULT_ADDRESSES[kind];
        const keyIn = keyPlace(kind, address, env);
        return { name, address, settings: { ...settings, "base-url": address }, keyIn };
      }),
    objection: keyObjection,
    tryKey({ address: baseUrl, settings }, { key: apiKey, ...limits }) {
      const server = { baseUrl, apiKey, headers: headersFor(baseUrl, env) };
      return tryKey(settings.hosted ? "hosted" : "compat", server, limits);
    },
    async keep(settings, key) {
      await keepSettings(settings, key, (name) => env.get(name));
    },
  };
}

/** Returns the source of the key for the server at `address`; undefined if there is none. */
function keyPlace(kind: "compat" | "hosted", address: string, env: Env): string | undefined {
  if (keyFor("local", address, env) !== "") return "config.json";
  return keyFor(kind, address, env) === "" ? undefined : KEY_VARIABLES[kind];
}
