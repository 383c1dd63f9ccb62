/** The keys of model servers, and which server gets which key. @module */

import {
  checkedUrl,
  COMPAT_API_KEY_ENV,
  type CopilotConfig,
  HOSTED_API_KEY_ENV,
} from "../config.ts";
import { hasUserinfo, serverAt, takesEnvKey } from "../server_address.ts";
import { UsageError } from "../errors.ts";
import { type ModelTarget, targetOf } from "../models/target.ts";
import { isObject } from "../text/json.ts";
import type { Notice } from "../session/data.ts";
import { isKeyboardKey, readConfigFile } from "./defaults.ts";

export type Env = Pick<typeof Deno.env, "get">;

/** The variables with the keys of backends. A local server has no key. */
export const KEY_VARIABLES = {
  compat: COMPAT_API_KEY_ENV,
  hosted: HOSTED_API_KEY_ENV,
  local: undefined,
} as const satisfies Record<ModelTarget["kind"], string | undefined>;

export function variableIn(env: Env, name: string): string {
  try {
    return env.get(name)?.trim() ?? "";
  } catch (error) {
    // Deno's message would quote the whole value.
    if (!(error instanceof Deno.errors.InvalidData)) throw error;
    return "\ufffd";
  }
}

/** Returns the server address in `OLLAMA_HOST`, which may lack the scheme and the port. */
export function hostIn(env: Env): string | undefined {
  const text = env.get("OLLAMA_HOST")?.trim();
  if (!text) return undefined;
  const address = text.startsWith(":") ? `127.0.0.1${text}` : text;
  const url = URL.parse(/^https?:\/\//.test(address) ? address : `http://${address}`);
  if (url === null) throw new UsageError("OLLAMA_HOST is not an address: unset it, or pass --host");
  if (!/:\d+(?:\/|$)/.test(text) && url.protocol === "http:") url.port = "11434";
  // A server listens on this address, which means all interfaces. A client cannot call it.
  if (/^(?:0\.0\.0\.0|\[::\])$/.test(url.hostname)) url.hostname = "127.0.0.1";
  return url.href.replace(/\/$/, "");
}

const PRINTABLE = /^[\x21-\x7e]*$/;

/** Returns a sentence on why `key` is invalid, which quotes nothing of it; undefined if it may be valid. */
export function keyObjection(key: string): string | undefined {
  return PRINTABLE.test(key) ? undefined : "A key is printable ASCII without spaces";
}

/**
 * Returns the key for the server at `address`, a whole URL, if no key was given for this run: the key of
 * config.json for the address, or the environment's key if it may go there; otherwise empty.
 * @throws {UsageError} if config.json or the variable contains an unusable key.
 */
export function keyFor(kind: ModelTarget["kind"], address: string, env: Env): string {
  const saved = savedKey(address, env);
  if (saved !== undefined) return saved;
  const name = KEY_VARIABLES[kind];
  if (name === undefined || !takesEnvKey(address)) return "";
  const key = variableIn(env, name);
  if (PRINTABLE.test(key)) return key;
  throw new UsageError(
    `Cannot use ${name} as it must be printable ASCII without spaces: the current value is not`,
  );
}

/** Returns the key of the user's config.json for `address`: `"keys": {"http://localhost:8080/v1": "KEY"}`. */
function savedKey(address: string, env: Env): string | undefined {
  const file = readConfigFile((name) => env.get(name));
  if (file?.settings.keys === undefined) return undefined;
  const wrong = () =>
    new UsageError(
      `Cannot use "keys" in ${file.path} as it must name keys by address, such as {"http://localhost:8080/v1": "KEY"}, or bind those of the keyboard: {"f2": "editor"}`,
    );
  if (!isObject(file.settings.keys)) throw wrong();
  let saved: string | undefined;
  for (const [of, key] of Object.entries(file.settings.keys)) {
    if (isKeyboardKey(of)) continue; // a session validates it
    if (typeof key !== "string" || key === "" || !PRINTABLE.test(key)) throw wrong();
    let server: string;
    try {
      server = serverAt(checkedUrl("compat", "baseUrl", of));
    } catch {
      throw wrong();
    }
    if (server === serverAt(address)) saved = key;
  }
  return saved;
}

/** Returns a notice of the environment's key that the server of `config` does not get; undefined without one. */
export function unsentKey(
  config: CopilotConfig,
  env: Env = Deno.env,
): Extract<Notice, { code: "key_unsent" }> | undefined {
  const { kind, url, apiKey } = targetOf(config);
  const name = KEY_VARIABLES[kind];
  if (name === undefined || apiKey !== "" || variableIn(env, name) === "") return undefined;
  // The host is shown: an address such as https://api.openai.com@evil.example looks like another one.
  const goes = hasUserinfo(url)
    ? { why: "userinfo", to: new URL(url).host } as const
    : { why: "http", to: url } as const;
  return { code: "key_unsent", variable: name, ...goes };
}
