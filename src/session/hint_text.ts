/** The wording of hints, which suggest what is possible in a frontend. @module */

import type { Hint } from "./hints.ts";
import { oneLine } from "../text/one_line.ts";

/** How settings are changed in a frontend: with flags, or in a session of a terminal or an editor. */
export type Way = "flags" | "terminal" | "editor";

type HintedKind = Extract<Hint, { type: "address" }>["kind"];

const ADDRESS_FLAGS = {
  compat: "--base-url",
  local: "--local --host",
  hosted: "--hosted --base-url",
};
const ADDRESS_ENDS = { compat: ", up to and including /v1", local: "", hosted: ", without /v1" };

/** Returns the flags that name a server, and `more`, as flags or as an argument of `/model`. */
export function serverNaming(kind: HintedKind, url: string, way: Way, more = ""): string {
  const flags = `${ADDRESS_FLAGS[kind]} ${url}${more}`;
  return way === "flags" ? flags : `/model ${flags}`;
}

/** The flag or the command that names another model. */
export const modelNaming = (way: Way): string => way === "flags" ? "--model" : "/model";

/** How to pass a key to one server, at the end of a sentence. */
export const keyGiving = (way: Way): string =>
  way === "flags"
    ? 'give it with --api-key, or under "keys" in config.json'
    : 'put it under "keys" in config.json for the next session';

/** The command for MCP servers in a session or a shell. */
export const mcpNaming = (way: Way): "/mcp" | "copilot mcp" =>
  way === "flags" ? "copilot mcp" : "/mcp";

/** How to change a setting for the next session. */
export const settingGiving = (name: string, value: string | number, way: Way): string =>
  way === "flags" ? `--${name} ${value}` : `"${name}": ${JSON.stringify(value)} in config.json`;

/** Returns a sentence that says how to fix a request, without its full stop. */
export function hintText(hint: Hint, way: Way): string {
  const setup = way === "terminal" ? "; /setup lists the servers of this machine" : "";
  const address = (kind: HintedKind) => serverNaming(kind, "URL", way) + ADDRESS_ENDS[kind];
  switch (hint.type) {
    case "address":
      return `Check the address: ${address(hint.kind)}${setup}`;
    case "network":
      return `Check the network, or name another server: ${address("hosted")}`;
    case "server": {
      const demo = way === "flags" ? ", or try the demo with --demo" : "";
      const how = `name another with ${address("local")}`;
      const start = hint.isOther ? "Start the server" : "Start a server with `ollama serve`";
      return `${start}, ${demo ? "" : "or "}${how}${demo}${setup}`;
    }
    case "model": {
      const { kind, pull, has } = hint;
      if (pull !== undefined) {
        const other = has === "none" ? "" : `, or name another with ${modelNaming(way)}`;
        return `Get it with ollama pull ${oneLine(pull)}${other}`;
      }
      if (has === "none") return "Load a model there first";
      if (has === "some") return `Name one of them with ${modelNaming(way)}`;
      const check = kind === "local" ? "" : `, and check the address: ${address(kind)}`;
      return `Name a model that this server has with ${modelNaming(way)}${check}`;
    }
    case "context": {
      const more = MORE_CONTEXT[hint.from](way);
      return way === "flags"
        ? `${more[0]!.toUpperCase()}${more.slice(1)}`
        : `Make room with /compact, or ${more}`;
    }
    case "compatible_endpoint": {
      const how = serverNaming("local", "URL", way, " --use-compat");
      return `If it is not Ollama, use its OpenAI-compatible endpoint: ${how}`;
    }
    case "key":
      if (hint.isUnsent) {
        return `Check the key: ${keyGiving(way)} (${hint.variable} is not sent over http)`;
      }
      return way === "flags"
        ? `Check the key: set ${hint.variable} or pass --api-key`
        : `Check the key: ${keyGiving(way)}`;
    case "proxy_key": {
      const how = way === "flags" ? "--api-key, or http://USER:PASSWORD@HOST" : keyGiving(way);
      return `Check the key or the password of the proxy in front of the server: ${how}`;
    }
    case "userinfo":
      return "Check the user name and password in the address";
  }
}

const MORE_CONTEXT: Readonly<
  Record<Extract<Hint, { type: "context" }>["from"], (way: Way) => string>
> = {
  request: (way) => `give the model more with ${settingGiving("context-length", 32768, way)}`,
  server: () =>
    "start the server with more context: OLLAMA_CONTEXT_LENGTH=32768 ollama serve, llama-server -c 32768",
  model: (way) => `use a model with a longer context: ${modelNaming(way)}`,
};
