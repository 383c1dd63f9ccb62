import { serverOf } from "../../models/model_server.ts";
import { targetOf } from "../../models/target.ts";
import { oneLine } from "../../text/one_line.ts";
import { dollars } from "../../text/count.ts";
import type { Command } from "../extension.ts";

export const tokensCommand: Command = {
  name: "tokens",
  isView: true,
  group: "Model",
  help: "show the tokens used, and their cost if known",
  run({ agent: { state: { inputTokens, outputTokens } }, cost, usage: last, roles }) {
    const cached = last?.cachedTokens ? ` (${last.cachedTokens} from the cache)` : "";
    const newest = last === undefined
      ? ""
      : `\nThe last request: ${last.inputTokens} in${cached}, ${last.outputTokens} out`;
    const total = cost === undefined ? "" : `, ${dollars(cost)}`;
    const ofRoles = Array.from(roles?.lent.values() ?? [], ({ role, agent: { config, state } }) => {
      const model = `${oneLine(targetOf(config).name)} at ${serverOf(config)}`;
      return `\nOf these, ${role} (${model}): ${state.inputTokens} in, ${state.outputTokens} out`;
    });
    return `Tokens so far: ${inputTokens} in, ${outputTokens} out${total}${newest}${
      ofRoles.join("")
    }`;
  },
};
