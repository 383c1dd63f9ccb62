/** The sampling parameters of a request, for all protocols. @module */

import { type CompatConfig, DEFAULT_SAMPLING } from "../config.ts";

/** The parameters that a request sends; the server chooses those that are undefined. */
interface SamplingParameters {
  temperature: number | undefined;
  top_p: number | undefined;
  top_k: number | undefined;
  min_p: number | undefined;
  repeat_penalty: number | undefined;
}

/** The parameters by their names on the wire, in this order; undefined ones are not sent. */
export function samplingParameters(config: Partial<CompatConfig>): SamplingParameters {
  const { sampling, temperature, topP, topK, minP, repeatPenalty } = config;
  return {
    temperature,
    top_p: topP,
    top_k: topK,
    min_p: minP,
    repeat_penalty: sampling === undefined ? undefined : repeatPenalty,
  };
}

/** The default of a setting of a local or hosted server, where nobody chose another (spec 2.1, 2.2). */
export function defaultOf(
  { sampling }: Partial<CompatConfig>,
  name: keyof typeof DEFAULT_SAMPLING,
): number | undefined {
  // A penalty punishes code that is copied into an edit: SmolLM2-135M copied 10 of 24 lines exactly without
  // one, and 1 of 24 with 1.2. Only a library's caller, who sets no `sampling`, gets the specification's.
  const isSent = sampling === undefined || sampling === "auto" && name === "temperature";
  return isSent ? DEFAULT_SAMPLING[name] : undefined;
}

/** `config` with the temperature that the specification names, where nobody chose another. */
export function withDefaultTemperature<Config extends Partial<CompatConfig>>(
  config: Config,
): Config {
  const temperature = config.temperature ?? defaultOf(config, "temperature");
  return temperature === undefined ? config : { ...config, temperature };
}
