/**
 * The flags that `/model` takes in a session, to go on with a model of another server.
 *
 * @module
 */

import type { CopilotConfig } from "../config.ts";
import { UsageError } from "../errors.ts";
import type { ModelFlags } from "../session/state.ts";
import { type Args, parseArgs } from "./args.ts";
import { optionsFromArgs, toConfig } from "./settings.ts";

/** The flags that say which model is asked, and how. */
const MODEL_FLAGS: readonly (keyof Args)[] = [
  "local",
  "hosted",
  "host",
  "base-url",
  "use-compat",
  "api-key",
  "model",
  "max-tokens",
  "context-length",
  "temperature",
  "think",
  "keep-alive",
  "prompt-tier",
  "connect-timeout",
  "first-token-timeout",
  "idle-timeout",
];

/** The flags for a session, which offers all but the key: what is typed is kept. */
export const modelFlags: ModelFlags = {
  names: MODEL_FLAGS.filter((name) => name !== "api-key").map((name) => `--${name}`),
  parse: parseModelFlags,
};

/**
 * The settings that `words` name; `isChosen`: a model is among them.
 *
 * @throws {UsageError} for other flags, and like the command line's.
 * @throws {TypeError} {RangeError} when a value is bad.
 */
function parseModelFlags(words: readonly string[]): { config: CopilotConfig; isChosen: boolean } {
  const args = parseArgs(words);
  const other = (Object.keys(args) as (keyof Args)[]).find((name) => !MODEL_FLAGS.includes(name));
  if (other !== undefined) throw new UsageError(`/model does not take --${other}`);
  const options = optionsFromArgs(args);
  return { config: toConfig(options), isChosen: options.model !== undefined };
}
