/** The changes that may fix a failed request, as data; `hint_text.ts` has the wording. @module */

import { COMPAT_API_KEY_ENV, type CopilotConfig, HOSTED_API_KEY_ENV } from "../config.ts";
import { hasUserinfo, takesEnvKey } from "../server_address.ts";
import type { BackendError } from "../errors.ts";
import { type ModelTarget, targetOf } from "../model_target.ts";

/** A change that may fix a request to a model server. */
export type Hint =
  /** Another address: nothing answers there, or with another protocol. */
  | { type: "address"; kind: ModelTarget["kind"] }
  /** The network, or another address: the hosted API does not answer. */
  | { type: "network" }
  /** A running local server. `isOther`: it is not Ollama. */
  | { type: "server"; isOther?: true }
  /** Another model. `pull` is the one that Ollama can download; `has` lists the server's models, if known. */
  | { type: "model"; kind: ModelTarget["kind"]; pull?: string; has?: "some" | "none" }
  /** A shorter session, or more context: set per request, at the server's start, or by the model. */
  | { type: "context"; from: "request" | "server" | "model" }
  /** The OpenAI-compatible endpoint of a local server. */
  | { type: "compatible_endpoint" }
  /** Another key. `isUnsent`: the variable's key is not sent to an address with plain HTTP. */
  | { type: "key"; variable: string; isUnsent: boolean }
  /** The key or the password of a proxy before a local server. */
  | { type: "proxy_key" }
  /** The user name and the password in the address. */
  | { type: "userinfo" };

/** Returns the change that may fix a request that failed with `error`; undefined if none is known. */
export function hintFor(error: BackendError, config: CopilotConfig): Hint | undefined {
  const target = targetOf(config);
  const { kind, isNative, url } = target;
  switch (error.kind) {
    case "auth":
      return kind === "local" ? { type: "proxy_key" } : keyHint(kind, url);
    case "connection":
      if (kind === "local") return { type: "server", ...!isNative && { isOther: true } };
      return kind === "hosted" ? { type: "network" } : { type: "address", kind };
    case "context_too_long":
      if (kind === "hosted") return undefined;
      // The native endpoint sets the context with each request.
      if (isNative) return { type: "context", from: "request" };
      return { type: "context", from: kind === "local" ? "server" : "model" };
    case "model_not_found":
      return modelHint(target, error.models);
    case "protocol":
      // Without a status and a cause, the address is right but the model's answer is invalid.
      if (!error.status && !error.cause) return undefined;
      // falls through
    case "request":
      // llama.cpp, LM Studio and vLLM have no native endpoint, and say so in JSON or in plain text.
      if (isNative && error.status === 404) return { type: "compatible_endpoint" };
      if (error.kind === "protocol") return { type: "address", kind };
      return error.status === 404 && kind !== "local" ? { type: "address", kind } : undefined;
    case "redirect":
      return { type: "address", kind };
    default:
      return undefined;
  }
}

/** `models`: those that the server lists, if known. */
export function modelHint(
  { kind, isNative, name }: ModelTarget,
  models: readonly string[] | undefined,
): Hint {
  return {
    ...{ type: "model", kind },
    ...isNative && { pull: name },
    ...models && { has: models.length > 0 ? "some" : "none" },
  };
}

function keyHint(kind: "compat" | "hosted", url: string): Hint {
  const variable = kind === "hosted" ? HOSTED_API_KEY_ENV : COMPAT_API_KEY_ENV;
  if (takesEnvKey(url)) return { type: "key", variable, isUnsent: false };
  return hasUserinfo(url) ? { type: "userinfo" } : { type: "key", variable, isUnsent: true };
}
