import { compatConfig, type CopilotConfig, hostedConfig, localConfig } from "../../src/config.ts";

/** The four ways to reach a model server at `url`, with retries that do not wait. */
export function allConfigs(url: string): [name: string, config: CopilotConfig][] {
  const model = "test";
  return [
    ["compat", { compat: compatConfig({ baseUrl: `${url}/v1`, model }) }],
    ["local native", { local: localConfig({ host: url, model }) }],
    ["local compatible", { local: localConfig({ host: url, model, useCompat: true }) }],
    ["hosted", { hosted: hostedConfig({ baseUrl: url, model, apiKey: "k" }) }],
  ];
}
