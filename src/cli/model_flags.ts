/**
 * The flags that `/model` takes in a session, to go on with a model of another server.
 *
 * @module
 */

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

/** Reads the flags of `/model`; a key is not offered, as what is typed is kept. */
export const modelFlags: ModelFlags = {
  names: MODEL_FLAGS.filter((name) => name !== "api-key").map((name) => `--${name}`),
  parse(words) {
    const args = parseArgs(words);
    const other = Object.keys(args).find((name) => !MODEL_FLAGS.includes(name as "model"));
    if (other !== undefined) throw new UsageError(`/model does not take --${other}`);
    const options = optionsFromArgs(args);
    return { config: toConfig(options), isModelChosen: options.model !== undefined };
  },
};
