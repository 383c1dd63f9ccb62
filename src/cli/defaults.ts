/** Defaults of command-line flags from the user's `config.json`. @module */

import { attempt } from "../attempt.ts";
import { API_KEY_ENVS, checkedUrl, MODEL_ROLES, type Theme } from "../config.ts";
import { UsageError } from "../errors.ts";
import type { ServerSettings } from "../ui/server_settings.ts";
import { CHECKS_FORM } from "../extensions/checks/checkers.ts";
import { serverAt } from "../server_address.ts";
import { isObject } from "../text/json.ts";
import { withVariables } from "../text/variables.ts";
import { schemaObjection } from "../tools/schema_check.ts";
import type { JsonSchema } from "../types/tool.ts";
import { didYouMean } from "../text/nearest.ts";
import { keepSecrets } from "../wire/excerpt.ts";
import { readJsonFile, replaceUserFile, userFile, type VariableReader } from "../user_files.ts";
import { STATUS_PARTS } from "../ui/terminal/session/footer.ts";
import { type Args, type Flag, FLAGS, isNumber, takesNumber } from "./args.ts";

/** Flags for one run, or for something other than a run. */
const PER_RUN = new Set(
  "continue resume fork-session as-exam print output json-schema until rounds until-timeout until-may-edit allow deny add-dir image output-last-message mcp-config yes trust stdin demo api-key json completions version help"
    .split(" "),
);
/** Flags that choose a server. If one is given, those of the file are ignored. */
export const SERVER_FLAGS = ["local", "hosted", "host", "base-url"] as const;
export const FLAGS_OF_SERVER = [...SERVER_FLAGS, "api-key", "model", "use-compat"] as const;
/** Flags that permissions.json also has, globally and per folder. */
const OF_PERMISSIONS = new Set(["approve", "sandbox", "network"]);

/** Reads the user's `config.json`, if it exists. Errors never quote its text, which may contain keys. */
export function readConfigFile(
  env?: VariableReader,
): { path: string; settings: Record<string, unknown> } | undefined {
  const path = userFile("config.json", env);
  const settings = path === undefined ? undefined : readJsonFile(path);
  return path === undefined || settings === undefined ? undefined : { path, settings };
}

/** Writes the flags of a server, and a key, to the user's `config.json`. The rest stays. @throws {Error} */
export async function keepSettings(
  chosen: ServerSettings,
  key?: { address: string; key: string },
  env?: VariableReader,
): Promise<void> {
  const settings = { ...readConfigFile(env)?.settings };
  for (const name of FLAGS_OF_SERVER) delete settings[name];
  if (key !== undefined) {
    settings.keys = { ...settings.keys as Record<string, string>, [key.address]: key.key };
  }
  await writeConfigFile({ ...settings, ...chosen }, env);
}

/** The form of a key's name. A secret in the wrong place has another form, and errors do not quote it. */
const KEYBOARD_KEY =
  /^(?:(?:[a-z]{1,5}-)+(?:\S|[a-z]{2,9})|f\d{1,2}|up|down|left|right|home|end|ins(?:ert)?|del(?:ete)?|page(?:up|down)|pg(?:up|dn)|enter|return|tab|backspace|esc(?:ape)?)(?: \S{1,16}){0,2}$/i;

/** True for a name in `"keys"` that is a key of the keyboard. Other names are server addresses. */
export function isKeyboardKey(name: string): boolean {
  return KEYBOARD_KEY.test(name);
}

/** Remembers the user's keys and the passwords of addresses, so that an export hides them in any form. */
export function keepUserSecrets(): void {
  const settings = readConfigFile()?.settings ?? {};
  const saved = Object.entries(settings.keys ?? {})
    .map(([name, key]) => isKeyboardKey(name) ? "" : key);
  const passwords = JSON.stringify(settings).matchAll(/:\/\/[^\s/:@"]*:([^\s/@"]+)@/g)
    .map(([, password]) => attempt(() => decodeURIComponent(password!)));
  for (const key of [...API_KEY_ENVS.map((name) => Deno.env.get(name)), ...saved, ...passwords]) {
    if (typeof key === "string") keepSecrets({ key });
  }
  const headers = attempt(() => savedHeaders((name) => Deno.env.get(name) ?? ""));
  for (const all of headers?.values() ?? []) keepSecrets(all);
}

/** The names of headers that may be set: not those of the connection and of the body. */
const HEADER_NAME =
  /^(?!(?:accept-encoding|connection|content-.*|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$)[\w-]+$/i;
const HEADERS_FORM = 'be like {"https://gateway/v1": {"X-Team": "${TEAM}"}}, for each address';

/** Returns the user's headers by server, with the values of their variables. @throws {UsageError} */
function savedHeaders(env: VariableReader) {
  const file = readConfigFile(env);
  // The key of another server is hidden from `env`, but the user names it for this one.
  const valueOf = (name: string) =>
    env(name) ?? (API_KEY_ENVS.includes(name) ? Deno.env.get(name) : undefined);
  const refuse = (what: string, why: string): never => {
    throw new UsageError(`Cannot use "headers" in ${file?.path} as ${what} must ${why}`);
  };
  const { headers = {} } = file?.settings ?? {};
  if (!isObject(headers)) return refuse("it", HEADERS_FORM);
  return new Map(
    Object.entries(headers).map(([address, given]) => {
      const server = attempt(() => serverAt(checkedUrl("compat", "baseUrl", address)));
      if (server === undefined || !isObject(given)) return refuse("it", HEADERS_FORM);
      const sent = Object.entries(given).map(([name, value]): [string, string] => {
        const what = `${JSON.stringify(name)} of ${server}`;
        if (!HEADER_NAME.test(name)) refuse(what, "be the name of a header that can be set");
        const unset = (one: string) =>
          refuse(what, `use variables that are set: ${one} is not set`);
        const text = withVariables(String(value), valueOf, unset);
        const isText = typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
        return isText ? [name.toLowerCase(), text] : refuse(what, "be text without line breaks");
      });
      return [server, Object.fromEntries(sent)];
    }),
  );
}

/** Returns the headers of `config.json` for `address`. @throws {UsageError} if one of the file cannot be sent. */
export const headersFor = (address: string, env: { get: VariableReader }) =>
  savedHeaders((name) => env.get(name)).get(serverAt(address));

/** Writes the theme to the user's `config.json`. @throws {Error} like `keepSettings`. */
export async function keepTheme(theme: Theme): Promise<void> {
  await writeConfigFile({ ...readConfigFile()?.settings, theme });
}

/** Adds settings of a model to the user's `config.json`. @throws {Error} like `keepSettings`. */
export async function keepModelSettings(model: string, change: object): Promise<void> {
  const { models, ...settings } = readConfigFile()?.settings ?? {};
  const all = models as Record<string, object> | undefined;
  const saved = { ...all, [model]: { ...all?.[model], ...change } };
  await writeConfigFile({ ...settings, models: saved });
}

async function writeConfigFile(settings: Record<string, unknown>, env?: VariableReader) {
  const path = userFile("config.json", env);
  if (path === undefined) throw new Error("there is no home folder");
  await replaceUserFile(path, `${JSON.stringify(settings, null, 2)}\n`);
}

/**
 * Returns `args` with defaults from `config.json`: `{"local": true, "model": "qwen3"}`. Values below `models`
 * apply to the model of that name.
 * @throws {UsageError} if it contains an unknown name or an invalid value.
 */
export function withDefaults(args: Args, env?: VariableReader): Args {
  const file = readConfigFile(env);
  if (file === undefined) return { ...args, given: args };
  const { path, settings: { headers: _headers, ...saved } } = file;
  const { keys, models, status, roles, checks, search, ...settings } = saved;
  const isOther = args.demo || SERVER_FLAGS.some((name) => args[name] !== undefined);
  const ofServer: readonly string[] = FLAGS_OF_SERVER;
  const found = flagsIn(settings, path);
  const defaults = Object.entries(found).filter(([name]) =>
    !OF_PERMISSIONS.has(name) && !(isOther && ofServer.includes(name))
  );
  const usual = Object.entries(found).filter(([name]) => OF_PERMISSIONS.has(name));
  const all: Args = { ...Object.fromEntries(defaults), ...args };
  const bound = isObject(keys) ? Object.entries(keys).filter(([name]) => isKeyboardKey(name)) : [];
  const bindings = bound.length > 0 && { bindings: { path, keys: Object.fromEntries(bound) } };
  const said = usual.length > 0 && { usual: Object.fromEntries(usual) };
  const others = Object.entries({ status, roles, checks, search, models })
    .filter(([, one]) => one !== undefined);
  for (const [name, value] of others) {
    const form = OTHER_FORMS[name]!;
    if (schemaObjection(form, value) === undefined) continue;
    const entries: [unknown, unknown][] = isObject(value)
      ? Object.entries(value).map(([key, one]) => [key, { [key]: one }])
      : form.type === "array" && Array.isArray(value)
      ? value.map((one) => [one, [one]])
      : [];
    const wrong = entries.find(([, one]) => schemaObjection(form, one) !== undefined);
    const which = wrong ? `: correct or remove ${JSON.stringify(wrong[0])}` : "";
    throw new UsageError(`Cannot use "${name}" in ${path} as it must ${form.description}${which}`);
  }
  const { models: _, ...rest } = Object.fromEntries(others);
  const forModel = ofModel(models, all.model, path);
  return { ...all, ...bindings, ...said, ...rest, ...forModel, ...args, given: args };
}

/** `SERVER#MODEL`, or a model. */
const MODEL_FORM = {
  type: "string",
  pattern: "^((local|hosted|https?://[^#]+)#|(?!https?:))[^#]+$",
};
const FLAGS_OF_MODEL =
  "temperature top-p top-k min-p repeat-penalty sampling think think-budget max-tokens context-length prompt-tier text-tools"
    .split(" ");
/** The schemas of the settings that are no flags, each described for a line to the user. */
const OTHER_FORMS: Readonly<Record<string, JsonSchema>> = {
  status: {
    description: `be a list of ${STATUS_PARTS.join(", ")}`,
    type: "array",
    items: { enum: STATUS_PARTS },
  },
  roles: {
    description: `be like {"plan": "http://gpu:8080/v1#qwen3:8b"}, for ${MODEL_ROLES.join(", ")}`,
    type: "object",
    properties: Object.fromEntries(MODEL_ROLES.map((role) => [role, MODEL_FORM])),
    additionalProperties: false,
  },
  models: {
    description: `be like {"qwen3:8b": {"temperature": 0.6}}, with no settings but ${
      FLAGS_OF_MODEL.join(", ")
    }`,
    type: "object",
    additionalProperties: { type: "object", propertyNames: { enum: FLAGS_OF_MODEL } },
  },
  checks: CHECKS_FORM,
  search: { description: "be an address of SearXNG", type: "string", pattern: "^https?://[^/]" },
};

/** Returns the flags for `SERVER#MODEL`, or for a model. @throws {TypeError} if `spec` is neither. */
export function specFlags(spec: string): ServerSettings {
  const [, server, model = ""] = /^(?:([^#]*)#)?([^#]*[^#\s][^#]*)$/.exec(spec) ?? [];
  if (model === "" || server === undefined && model.includes("://")) {
    throw new TypeError("it must be SERVER#MODEL, such as http://gpu:8080/v1#qwen3:8b, or a model");
  }
  if (server === undefined) return { model };
  if (server === "local" || server === "hosted") return { [server]: true, model };
  const { protocol, pathname, href } = new URL(checkedUrl("compat", "baseUrl", server));
  // A server without Ollama's own paths is recognized by its answers.
  if (protocol === "http:" && pathname === "/") return { local: true, host: href, model };
  return { "base-url": pathname === "/" ? `${href}v1` : href, model };
}

/** Returns the flags that `config.json` sets for `model`, and its values of the same flags for all models. */
export function modelDefaults(
  model: string | undefined,
  env?: VariableReader,
): { forModel: Args; all: Args } {
  const file = readConfigFile(env);
  if (file === undefined) return { forModel: {}, all: {} };
  const { path, settings: { models, ...settings } } = file;
  const all = Object.entries(settings).filter(([name]) => FLAGS_OF_MODEL.includes(name));
  return { forModel: ofModel(models, model, path), all: flagsIn(Object.fromEntries(all), path) };
}

/** Returns the flags that the file sets for `model`: `{"models": {"qwen3:8b": {"temperature": 0.6}}}`. */
function ofModel(
  models: unknown,
  model: string | undefined,
  path: string,
): Record<string, string | true> {
  const all = isObject(models) ? Object.entries(models) : [];
  const [, settings] = all.find(([name]) => name === model || name === `${model}:latest`) ?? [];
  return isObject(settings) ? flagsIn(settings, path) : {};
}

const CONFIG_NAMES: readonly string[] = [
  ...FLAGS.map(({ name }) => name).filter((name) => !PER_RUN.has(name)),
  "keys",
  "headers",
  ...Object.keys(OTHER_FORMS),
];

/** Returns the flags in the file's `settings`, without switches that are off. @throws {UsageError} for others. */
function flagsIn(settings: Record<string, unknown>, path: string): Record<string, string | true> {
  const flags: readonly Flag[] = FLAGS;
  const values: Record<string, string | true> = {};
  for (const [written, given] of Object.entries(settings)) {
    const name = written.replaceAll("_", "-");
    const isList = name === "env" && Array.isArray(given);
    const value = isList ? given.join(",") : given;
    const flag = flags.find((one) => one.name === name && !PER_RUN.has(name));
    if (flag === undefined) {
      const lists = "there is no such setting: copilot --help lists them";
      const why = name === "api-key"
        ? 'a key is for one address: "keys": {"http://localhost:8080/v1": "KEY"}'
        : flags.some((one) => one.name === name)
        ? `it is for one run: give --${name} on the command line`
        : didYouMean(name, CONFIG_NAMES, lists, JSON.stringify);
      throw new UsageError(`Cannot use ${JSON.stringify(name)} in ${path}: ${why}`);
    }
    const [wanted, isFit] = flag.value === undefined
      ? ["true or false", typeof value === "boolean"]
      : takesNumber(flag)
      ? ["a number", typeof value !== "boolean" && isNumber(`${value}`)]
      : ["text", typeof value === "string" || typeof value === "number" && name !== "model"];
    if (!isFit) throw new UsageError(`Cannot use "${name}" in ${path} as it must be ${wanted}`);
    if (Array.isArray(flag.values) && !flag.values.includes(String(value))) {
      const near = didYouMean(String(value), flag.values, "", JSON.stringify);
      const guess = near && `: ${near}`;
      throw new UsageError(
        `Cannot use "${name}" in ${path} as it must be one of ${flag.values.join(", ")}${guess}`,
      );
    }
    if (value !== false) values[name] = value === true ? true : String(value);
  }
  return values;
}
