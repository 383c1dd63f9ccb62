/** The sampling parameters of a request, for all protocols. @module */

import { type CompatConfig, DEFAULT_SAMPLING } from "../config.ts";

/** The parameters that a request sends; the server chooses those that are undefined. */
interface SamplingParameters {
  temperature: number | undefined;
  top_p: number | undefined;
  top_k: number | undefined;
  min_p: number | undefined;
  /** Where it was set; the native local endpoint has a default for it. */
  repeat_penalty: number | undefined;
}

/** The parameters by their names on the wire, in this order; undefined ones are not sent. */
export function samplingParameters(config: Partial<CompatConfig>): SamplingParameters {
  const { sampling, temperature, topP, topK, minP, repeatPenalty } = config;
  return {
    temperature: temperature ?? defaultOf(config, "temperature"),
    top_p: topP,
    top_k: topK,
    min_p: minP,
    repeat_penalty: sampling === undefined ? undefined : repeatPenalty,
  };
}

/** The default of a setting, where the server is not to choose. */
export function defaultOf(
  { sampling }: Partial<CompatConfig>,
  name: keyof typeof DEFAULT_SAMPLING,
): number | undefined {
  return sampling === "server" ? undefined : DEFAULT_SAMPLING[name];
}
