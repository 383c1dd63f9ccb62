import { APPROVE_MODES, modeNamed } from "../../safety/settings.ts";
import { oneLine } from "../../text/one_line.ts";
import { reasonOf } from "../../text/reason.ts";
import { keptMode, modeMeaning } from "../modes.ts";
import { changeMode } from "../plan_mode.ts";
import type { PermissionReport } from "../../safety/permission_report.ts";
import type { ArgumentChoice } from "../data.ts";
import type { Command, SessionState } from "../extension.ts";
import { takesText } from "./texts.ts";

export const permissionCommands: readonly Command[] = [
  {
    name: "approve",
    group: "Setup",
    argument: "[MODE]",
    help: `set what runs without asking: ${APPROVE_MODES.join(", ")}`,
    question: "What runs without asking?",
    async run(session, argument) {
      const mode = modeNamed(APPROVE_MODES, argument);
      if (argument !== "" && mode === undefined) return takesText("approve", APPROVE_MODES);
      if (mode !== undefined) await changeMode(session, mode);
      const now = session.mode?.approve;
      return mode && now && now !== mode ? keptMode(now) : await permissionsOf(session);
    },
    choices: ({ mode }) =>
      APPROVE_MODES.map((one) => ({
        argument: one,
        label: one,
        detail: modeMeaning(one),
        isCurrent: one === mode?.approve,
      })),
  },
  {
    name: "permissions",
    group: "Setup",
    argument: "[remove RULE]",
    help: "show the permissions and the sandbox, or remove what you allowed",
    question: "Show the permissions, or remove one?",
    run: runPermissions,
    choices: allowedChoices,
  },
];

const TAKE_BACK = "remove ";
const ALLOWED_BY = {
  rule: "this session",
  kept: "this folder",
  network: "network access, this session",
};

function allowedChoices({ agent, permissions }: SessionState): ArgumentChoice[] {
  const allowed = permissions.allowed(agent.state.workingDir).map(({ text, by }) => ({
    argument: TAKE_BACK + text,
    label: TAKE_BACK + oneLine(text),
    detail: ALLOWED_BY[by],
  }));
  if (allowed.length === 0) return [];
  const detail = "what runs without asking, and the sandbox";
  return [{ argument: "show", label: "show", detail }, ...allowed];
}

async function runPermissions(session: SessionState, argument: string): Promise<string> {
  const { agent, permissions } = session;
  const choices = allowedChoices(session).map((choice) => choice.argument);
  if (!["", "show", ...choices].includes(argument)) {
    const isRemoval = `${argument} `.startsWith(TAKE_BACK);
    if (isRemoval && choices.length === 0) {
      return "No answer allowed anything here: see permissions.json.";
    }
    return takesText("permissions", choices.length === 0 ? ["show"] : choices);
  }
  if (argument.startsWith(TAKE_BACK)) {
    try {
      await permissions.disallow(argument.slice(TAKE_BACK.length), agent.state.workingDir);
    } catch (error) {
      return oneLine(reasonOf(error));
    }
  }
  return await permissionsOf(session);
}

async function permissionsOf(session: SessionState): Promise<string> {
  const { agent: { state: { workingDir } }, permissions, extensions } = session;
  const more = await Promise.all(extensions.map((one) => one.permissions?.(session) ?? []));
  return permissionsText(await permissions.describe(workingDir), more.flat());
}

type PermissionRow = readonly [label: string, text: string];

export function permissionsText(
  report: PermissionReport,
  more: readonly PermissionRow[] = [],
): string {
  const { approve, yes, env, networked, rules, file } = report;
  const rows: PermissionRow[] = [
    ["approve", yes ? "--yes: everything runs without asking" : approve],
    ["sandbox", sandboxText(report)],
    ...env.length > 0 ? [["env", env.join(", ")] as const] : [],
    ...networked.length > 0
      ? [["network", `in this session for ${networked.join(", ")}`] as const]
      : [],
    ...rules.map(({ effect, text, origin = "saved", isForSandbox }) => {
      const kind = isForSandbox ? ", for the sandbox" : ", also to leave it";
      return [effect, `${text} · ${origin}${isForSandbox === undefined ? "" : kind}`] as const;
    }),
    ...file === undefined ? [] : [["file", file] as const],
    ...more,
  ];
  return rows.map(([label, text]) => `  ${label.padEnd(8)} ${oneLine(text)}`).join("\n");
}

function sandboxText({ mode, by, why, network }: PermissionReport): string {
  if (mode === "off") return "off: commands can do everything you can";
  if (by === undefined) return `${mode}, but ${why}: commands are refused`;
  return `${mode}, by ${by}, ${network ? "with" : "without"} network`;
}
