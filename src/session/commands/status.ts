import { usedTokens } from "../../agent/tokens.ts";
import { serverOf, specName } from "../../models/model_server.ts";
import { dollars, thousands } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import { table } from "../../text/table.ts";
import type { Command, SessionState } from "../extension.ts";
import { modeMeaning } from "../modes.ts";

export const statusCommand: Command = {
  name: "status",
  isView: true,
  group: "Session",
  help: "show the model, the folder, the mode and the tokens",
  run: statusText,
};

function statusText(session: SessionState): string {
  const { agent, mode, usage, cost, record, fit, surface, roles } = session;
  const { config, state } = agent;
  const { name, contextLength: window } = fit.targetOf(agent);
  const { used, isCounted } = usedTokens(agent, usage);
  const sandbox = mode?.isSandboxed ? "on" : "off: commands can do everything you can";
  const price = cost === undefined ? "" : `, ${dollars(cost)}`;
  const rows = [
    ["model", `${name} at ${serverOf(config)}`],
    ...Object.entries(roles.models).map(([role, spec]) => [
      role,
      `${specName(spec)}${(roles.away.get(role)?.until ?? 0) < Date.now() ? "" : " (away)"}`,
    ]),
    ["folder", state.workingDir],
    ...mode
      ? [["mode", `${mode.approve}: ${modeMeaning(mode.approve)}`], ["sandbox", sandbox]]
      : [],
    [
      "context",
      `${isCounted || used === 0 ? "" : "about "}${thousands(used)}${
        window ? ` of ${thousands(window)}` : ""
      } tokens`,
    ],
    ["tokens", `${state.inputTokens} in, ${state.outputTokens} out${price}`],
    ...record?.file ? [["record", record.file.path]] : [],
  ];
  return table(rows.map((row) => row.map(oneLine)), surface.columns);
}
