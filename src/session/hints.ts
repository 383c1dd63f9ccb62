/** Hints for requests that failed, in the words of the command line. @module */

import {
  COMPAT_API_KEY_ENV,
  type CopilotConfig,
  hasUserinfo,
  HOSTED_API_KEY_ENV,
  takesEnvKey,
} from "../config.ts";
import { BackendError, type BackendErrorKind } from "../errors.ts";
import { type ModelTarget, targetOf } from "../model_target.ts";
import { oneLine } from "../text/one_line.ts";
import { reasonOf } from "../text/reason.ts";

type Hints = Partial<Record<BackendErrorKind, string>>;

/** How a key is given to one server, at the end of a sentence. */
export const GIVE_KEY = 'give it with --api-key, or under "keys" in config.json';

const HINTS: Record<ModelTarget["kind"], Hints> = {
  compat: {
    connection: "Check the address: --base-url, up to and including /v1",
    protocol: "Check the address: --base-url, up to and including /v1",
    context_too_long: "Make room with /compact, or use a model with a longer context",
    model_not_found: "Name a model that this server has with --model, and check --base-url",
  },
  local: {
    auth:
      "Check the key or the password of the proxy in front of the server: --api-key, or http://USER:PASSWORD@HOST",
    connection:
      "Start a server with `ollama serve`, name another with --host, or try the demo with --demo",
    context_too_long:
      "Make room with /compact, or start the server with more context: OLLAMA_CONTEXT_LENGTH=32768 ollama serve, llama-server -c 32768",
    model_not_found: "Name one of them with --model",
    protocol: "Check the address: --host",
  },
  hosted: {
    connection: "Check the network, and --base-url if it is another server (without /v1)",
    protocol: "Check the address: --base-url, without /v1",
    model_not_found: "Name a model that this server has with --model, and check --base-url",
  },
};

/** The message of `error` in one line, with a hint where one helps. */
export function withHint(error: unknown, config: CopilotConfig): string {
  const message = oneLine(reasonOf(error));
  const hint = error instanceof BackendError ? hintFor(error, config) : undefined;
  if (hint === undefined) return message;
  return `${message}${/[.!?…]$/.test(message) ? "" : "."} ${hint}`;
}

/** The native endpoint gives the model the context that each request asks for. */
const MORE_CONTEXT = "Make room with /compact, or give the model more with --context-length";

function hintFor(error: BackendError, config: CopilotConfig): string | undefined {
  const { kind, isNative, url } = targetOf(config);
  if (error.kind === "context_too_long" && isNative) return MORE_CONTEXT;
  if (error.kind === "auth" && kind !== "local") return authHint(kind, url);
  if (error.kind !== "request" || error.status !== 404) return HINTS[kind][error.kind];
  // llama.cpp, LM Studio and vLLM have no native endpoint.
  if (isNative) return "If it is not Ollama, use its OpenAI-compatible endpoint: --use-compat";
  return kind === "local" ? undefined : HINTS[kind].protocol;
}

function authHint(kind: "compat" | "hosted", url: string): string {
  const name = kind === "hosted" ? HOSTED_API_KEY_ENV : COMPAT_API_KEY_ENV;
  if (takesEnvKey(url)) return `Check the key: set ${name} or pass --api-key`;
  if (hasUserinfo(url)) return "Check the user name and password in the address";
  return `Check the key: ${GIVE_KEY} (${name} is not sent over http)`;
}
