/** Failures with hints that say how to fix them, in the terms of the frontend that shows them. @module */

import { COMPAT_API_KEY_ENV, type CopilotConfig, HOSTED_API_KEY_ENV } from "../config.ts";
import { BackendError } from "../errors.ts";
import { type ModelTarget, targetOf } from "../models/target.ts";
import { hasUserinfo, takesEnvKey } from "../server_address.ts";
import { oneLine } from "../text/one_line.ts";
import { reasonOf } from "../text/reason.ts";
import { isNear } from "../wire/connect.ts";

/** How settings are changed in a frontend: with flags, or in a session of a terminal or an editor. */
export type UiKind = "flags" | "terminal" | "editor";

type TargetKind = ModelTarget["kind"];

const ADDRESS_FLAGS = {
  compat: "--base-url",
  local: "--local --host",
  hosted: "--hosted --base-url",
};
const ADDRESS_ENDS = { compat: ", up to and including /v1", local: "", hosted: ", without /v1" };

/** Returns the flags that name a server, and `more`, as flags or as an argument of `/model`. */
export function serverNaming(kind: TargetKind, url: string, ui: UiKind, more = ""): string {
  const flags = `${ADDRESS_FLAGS[kind]} ${url}${more}`;
  return ui === "flags" ? flags : `/model ${flags}`;
}

export const modelNaming = (ui: UiKind): string => ui === "flags" ? "--model" : "/model";

export const keyGiving = (ui: UiKind): string =>
  ui === "flags"
    ? 'pass it with --api-key, or put it under "keys" in config.json'
    : 'put it under "keys" in config.json for the next session';

export const settingGiving = (name: string, value: string | number, ui: UiKind): string =>
  ui === "flags" ? `--${name} ${value}` : `"${name}": ${JSON.stringify(value)} in config.json`;

/** Returns the message of `error` in one line, and how to fix it if that is known. */
export function failureParts(
  error: unknown,
  config: CopilotConfig,
  ui: UiKind,
): { why: string; advice?: string } {
  const why = oneLine(reasonOf(error));
  const advice = error instanceof BackendError ? hintFor(error, config, ui) : undefined;
  return { why, ...advice !== undefined && { advice } };
}

export function failureText(error: unknown, config: CopilotConfig, ui: UiKind): string {
  const { why, advice } = failureParts(error, config, ui);
  return advice === undefined ? why : `${why}${/[.!?…]$/.test(why) ? "" : "."} ${advice}`;
}

/** Returns a sentence that says how to fix a failed request, without its full stop; undefined if that is unknown. */
export function hintFor(
  error: BackendError,
  config: CopilotConfig,
  ui: UiKind,
): string | undefined {
  const target = targetOf(config);
  const { kind, isNative, url } = target;
  switch (error.kind) {
    case "auth":
      return kind === "local" ? proxyKeyHint(ui) : keyHint(kind, url, ui);
    case "connection":
      if (kind === "local" || isNear(url)) return startHint(target, ui);
      return kind === "hosted"
        ? `Check the network, or use another server: ${addressFlags("hosted", ui)}`
        : addressHint(kind, ui);
    case "context_too_long":
      if (kind === "hosted") return undefined;
      return contextHint(isNative ? "request" : kind === "local" ? "server" : "model", ui);
    case "model_not_found":
      return modelHint(target, error.models, ui);
    case "protocol":
      // Without a status and a cause, the address is right but the model's answer is invalid.
      if (!error.status && !error.cause) return undefined;
      // falls through
    case "request":
      // llama.cpp, LM Studio and vLLM have no native endpoint, and say so in JSON or in plain text.
      if (isNative && error.status === 404) {
        const flags = serverNaming("local", "URL", ui, " --use-compat");
        return `If it is not Ollama, use its OpenAI-compatible endpoint: ${flags}`;
      }
      if (error.kind === "request" && (error.status !== 404 || kind === "local")) return undefined;
      return lacksVersion(target)
        ? `Try ${serverNaming("compat", new URL("/v1", url).href, ui)}`
        : addressHint(kind, ui);
    case "redirect":
      return addressHint(kind, ui);
    default:
      return undefined;
  }
}

const addressFlags = (kind: TargetKind, ui: UiKind) =>
  serverNaming(kind, "URL", ui) + ADDRESS_ENDS[kind];
const orSetup = (ui: UiKind) =>
  ui === "terminal" ? "; /setup lists the servers of this machine" : "";

const addressHint = (kind: TargetKind, ui: UiKind) =>
  `Check the address: ${addressFlags(kind, ui)}${orSetup(ui)}`;

/** True for the address of an OpenAI-style server without a path. */
const lacksVersion = ({ kind, url }: ModelTarget) =>
  kind === "compat" && new URL(url).pathname === "/" && !hasUserinfo(url);

function startHint({ kind, isNative, url }: ModelTarget, ui: UiKind): string {
  const { host, hostname, port } = new URL(url);
  const isHere = isNative && /^(localhost$|127\.|\[::1\]$)/.test(hostname);
  const variable = port === "11434" ? "" : `OLLAMA_HOST=${host} `;
  const start = isHere ? `Start a server with \`${variable}ollama serve\`` : "Start the server";
  const other = `use another with ${addressFlags(kind, ui)}`;
  return ui === "flags"
    ? `${start}, ${other}, or try the demo with --demo`
    : `${start}, or ${other}${orSetup(ui)}`;
}

export function modelHint(
  { kind, isNative, name }: ModelTarget,
  models: readonly string[] | undefined,
  ui: UiKind,
): string {
  const isEmpty = models?.length === 0;
  const naming = modelNaming(ui);
  if (isNative) {
    const other = isEmpty ? "" : `, or choose another with ${naming}`;
    return `Get it with ollama pull ${oneLine(name)}${other}`;
  }
  if (models) return isEmpty ? "Load a model there first" : `Choose one of them with ${naming}`;
  const check = kind === "local" ? "" : `, and check the address: ${addressFlags(kind, "flags")}`;
  return `Choose a model of this server with ${naming}${check}`;
}

/** The context is set with each request, at the server's start, or by the model. */
const MORE_CONTEXT = {
  request: (ui: UiKind) => `give the model more with ${settingGiving("context-length", 32768, ui)}`,
  server: () =>
    "start the server with more context: OLLAMA_CONTEXT_LENGTH=32768 ollama serve, llama-server -c 32768",
  model: (ui: UiKind) => `use a model with a longer context: ${modelNaming(ui)}`,
};

function contextHint(from: keyof typeof MORE_CONTEXT, ui: UiKind): string {
  const more = MORE_CONTEXT[from](ui);
  return ui === "flags"
    ? `${more[0]!.toUpperCase()}${more.slice(1)}`
    : `Make room with /compact, or ${more}`;
}

function keyHint(kind: "compat" | "hosted", url: string, ui: UiKind): string {
  const variable = kind === "hosted" ? HOSTED_API_KEY_ENV : COMPAT_API_KEY_ENV;
  if (takesEnvKey(url)) {
    return `Check the key: ${ui === "flags" ? `set ${variable} or pass --api-key` : keyGiving(ui)}`;
  }
  return hasUserinfo(url)
    ? "Check the user name and password in the address"
    : `Check the key: ${keyGiving(ui)} (${variable} is not sent over http)`;
}

const proxyKeyHint = (ui: UiKind) =>
  `Check the key or the password of the proxy in front of the server: ${
    ui === "flags" ? "--api-key, or http://USER:PASSWORD@HOST" : keyGiving(ui)
  }`;
