import { dollars } from "../../text/count.ts";
import type { Command } from "../extension.ts";

export const tokensCommand: Command = {
  name: "tokens",
  isView: true,
  group: "Model",
  help: "show the tokens used, and their cost if known",
  run({ agent: { state: { inputTokens, outputTokens } }, cost, usage: last, roles }) {
    const cached = last?.cachedTokens ? ` (${last.cachedTokens} from the cache)` : "";
    let newest = last === undefined
      ? ""
      : `\nThe last request: ${last.inputTokens} in${cached}, ${last.outputTokens} out`;
    const total = cost === undefined ? "" : `, ${dollars(cost)}`;
    for (const { role, agent: { state } } of roles.lent.values()) {
      newest += `\nOf these, ${role}: ${state.inputTokens} in, ${state.outputTokens} out`;
    }
    return `Tokens so far: ${inputTokens} in, ${outputTokens} out${total}${newest}`;
  },
};
