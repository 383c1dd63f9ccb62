import { type CompatConfig, DEFAULT_SAMPLING } from "../config.ts";

/** Returns the parameters by their names on the wire, in this order. The server chooses undefined ones. */
export function samplingParameters(config: Partial<CompatConfig>) {
  const { sampling, temperature, topP, topK, minP, repeatPenalty } = config;
  return {
    temperature,
    top_p: topP,
    top_k: topK,
    min_p: minP,
    repeat_penalty: sampling === undefined ? undefined : repeatPenalty,
  };
}

/** The defaults of local or hosted servers for unset settings (spec 2.1, 2.2). */
export function defaultOf(
  { sampling }: Partial<CompatConfig>,
  name: keyof typeof DEFAULT_SAMPLING,
): number | undefined {
  // A penalty harms code that is copied into an edit: SmolLM2-135M copied 10 of 24 lines exactly without one, and
  // 1 of 24 with 1.2. So the specification's default applies only to library callers that do not set `sampling`.
  const isSent = sampling === undefined || sampling === "auto" && name === "temperature";
  return isSent ? DEFAULT_SAMPLING[name] : undefined;
}

/** Returns `config` with the specification's temperature if it is unset. */
export function withDefaultTemperature<Config extends Partial<CompatConfig>>(
  config: Config,
): Config {
  const temperature = config.temperature ?? defaultOf(config, "temperature");
  return temperature === undefined ? config : { ...config, temperature };
}
