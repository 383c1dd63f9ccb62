/** The parts of this machine that a setup of the model uses: addresses, keys, and the file that keeps a choice. @module */

import { DEFAULT_ADDRESSES } from "../config.ts";
import type { SetupHome } from "../frontends/terminal/setup.ts";
import { askServerAt, findServers, tryKey } from "../session/servers.ts";
import { isLoopback } from "../wire/connect.ts";
import { keepSettings } from "./defaults.ts";
import { type Env, KEY_VARIABLES, keyFor, keyObjection } from "./keys.ts";
import { hostIn } from "./settings.ts";

/** Where model servers listen: Ollama, llama.cpp, others' own port, LM Studio, vLLM. */
const PORTS = [11434, 8080, 9931, 1234, 8000];

/** The hosted APIs, with the settings that choose them. */
const HOSTED = [
  { name: "Anthropic", kind: "hosted", settings: { hosted: true } },
  { name: "OpenAI", kind: "compat", settings: {} },
] as const;

/** The setup on this machine, with the variables of `env`; `ports` of 127.0.0.1 are looked at. */
export function setupHome(env: Env = Deno.env, ports: readonly number[] = PORTS): SetupHome {
  const addresses = () => {
    const named = hostIn(env);
    return [
      ...named === undefined ? [] : [named.replace("//localhost:", "//127.0.0.1:")],
      ...ports.map((port) => `http://127.0.0.1:${port}`),
    ];
  };
  return {
    find: (limitMs, signal) =>
      findServers(addresses(), {
        limitMs,
        signal,
        // Over http goes a key alone that was given for this address.
        keyOf: (url) => keyFor("local", url, env),
      }),
    own: () => [...new Set(addresses())].filter(isLoopback),
    keyIn: (address) => keyPlace("compat", address, env),
    ask(address, { key, ...how }) {
      // A variable's key goes to an address that the person typed, and was told of it.
      const apiKey = key === undefined
        ? keyFor("local", address, env)
        : key || keyFor("compat", address, env);
      return askServerAt(address.replace(/\/v1$/, ""), { apiKey, ...how });
    },
    hosted: () =>
      HOSTED.map(({ name, kind, settings }) => {
        const address = DEFAULT_ADDRESSES[kind];
        const keyIn = keyPlace(kind, address, env);
        return { name, address, settings: { ...settings, "base-url": address }, keyIn };
      }),
    objection: keyObjection,
    tryKey: ({ address: baseUrl, settings }, { key: apiKey, ...limits }) =>
      tryKey(settings.hosted ? "hosted" : "compat", { baseUrl, apiKey }, limits),
    async keep(settings, key) {
      await keepSettings(settings, key, (name) => env.get(name));
    },
  };
}

/** The place of the key that the server at `address` would get; undefined for none. */
function keyPlace(kind: "compat" | "hosted", address: string, env: Env): string | undefined {
  if (keyFor("local", address, env) !== "") return "config.json";
  return keyFor(kind, address, env) === "" ? undefined : KEY_VARIABLES[kind];
}
