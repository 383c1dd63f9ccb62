/** Commands about the folder: where to work, what may run there, whose instructions count. @module */

import { resolvePath } from "../../text/paths.ts";
import { oneLine } from "../../text/one_line.ts";
import { reasonOf } from "../../text/reason.ts";
import { APPROVE_MODES } from "../../permissions/settings.ts";
import { heedInstructions } from "../instructions.ts";
import { changeMode } from "../plan_mode.ts";
import { repositoryOf } from "../repository.ts";
import type { ArgumentChoice, Report } from "../report.ts";
import type { Command, SessionState } from "../state.ts";

/** The commands, in the order of the help. */
export const folderCommands: readonly Command[] = [
  {
    name: "cd",
    argument: "PATH",
    help: "work in another folder",
    run: changeFolder,
    values: ({ agent }, begun) => foldersBeginning(agent.state, begun),
  },
  {
    name: "trust",
    argument: "[on|off]",
    help: "use the folder's instructions (AGENTS.md), or not; the choice is kept",
    run: setTrust,
    choices({ agent, permissions }) {
      const trusted = permissions.trusted(repositoryOf(agent.state.workingDir));
      return [
        { argument: "on", label: "on", isCurrent: trusted !== undefined && trusted !== false },
        { argument: "off", label: "off", isCurrent: trusted === false },
      ];
    },
  },
  {
    name: "approve",
    argument: "[MODE]",
    help: `what runs unasked: ${APPROVE_MODES.join(", ")}`,
    run: setApprove,
    choices: ({ mode }) =>
      APPROVE_MODES.map((one) => ({
        argument: one,
        label: one,
        isCurrent: one === mode?.approve,
      })),
  },
  {
    name: "permissions",
    argument: "[remove RULE]",
    help: "show what runs without asking and what confines it, or remove what you allowed",
    run: runPermissions,
    choices: allowedChoices,
  },
];

/** `path` with the home folder for its `~`, as a shell expands it. */
const expandHome = (path: string) => path.replace(/^~(?=\/|$)/, Deno.env.get("HOME") ?? "~");

async function changeFolder(session: SessionState, path: string): Promise<Report> {
  const { agent: { state }, permissions } = session;
  if (path === "") return { type: "folder", folder: state.workingDir };
  let folder = resolvePath(state, expandHome(path));
  try {
    folder = Deno.realPathSync(folder);
    if (!Deno.statSync(folder).isDirectory) return { type: "bad_folder", folder, why: "no_folder" };
  } catch (error) {
    const isAbsent = error instanceof Deno.errors.NotFound;
    return { type: "bad_folder", folder, why: isAbsent ? "absent" : { error: reasonOf(error) } };
  }
  // This may throw, as for settings that cannot be read: the session then stays where it is.
  const notices = await permissions.prepare(folder, false);
  state.workingDir = folder;
  session.mode = await permissions.mode(folder);
  const instructions = await heedInstructions(session.agent, permissions, { plug: session.plug });
  return { type: "folder", folder, change: { notices, instructions } };
}

async function setApprove(session: SessionState, argument: string): Promise<Report> {
  const mode = APPROVE_MODES.find((one) => one === argument);
  if (argument !== "" && mode === undefined) {
    return { type: "bad_argument", command: "approve", takes: APPROVE_MODES };
  }
  if (mode !== undefined) await changeMode(session, mode);
  return await reportPermissions(session);
}

const TAKE_BACK = "remove ";
/** Where what was allowed counts. */
const ALLOWED_BY = {
  rule: "this session",
  kept: "this folder",
  network: "network access, this session",
};

/** What can be taken back, each with its row; none where nothing can. */
function allowedChoices({ agent, permissions }: SessionState): ArgumentChoice[] {
  const allowed = permissions.allowed(agent.state.workingDir).map(({ text, by }) => ({
    argument: TAKE_BACK + text,
    label: TAKE_BACK + oneLine(text),
    detail: ALLOWED_BY[by],
  }));
  return allowed.length === 0 ? [] : [{ argument: "show", label: "show" }, ...allowed];
}

/** Shows the permissions, after what was allowed was taken back. */
async function runPermissions(session: SessionState, argument: string): Promise<Report> {
  const { agent, permissions } = session;
  const choices = allowedChoices(session).map((choice) => choice.argument);
  if (!["", "show", ...choices].includes(argument)) {
    const isRemoval = `${argument} `.startsWith(TAKE_BACK);
    if (isRemoval && choices.length === 0) return { type: "nothing_allowed" };
    const takes = choices.length === 0 ? ["show"] : choices;
    return { type: "bad_argument", command: "permissions", takes };
  }
  if (argument.startsWith(TAKE_BACK)) {
    try {
      await permissions.disallow(argument.slice(TAKE_BACK.length), agent.state.workingDir);
    } catch (error) {
      return { type: "failed", why: oneLine(reasonOf(error)) };
    }
  }
  return await reportPermissions(session);
}

async function reportPermissions({ agent, permissions, hooks }: SessionState): Promise<Report> {
  const described = await permissions.describe(agent.state.workingDir);
  return { type: "permissions", permissions: { ...described, ...hooks && { hooks } } };
}

async function setTrust(session: SessionState, argument: string): Promise<Report> {
  const takes = ["on", "off"];
  if (argument !== "" && !takes.includes(argument)) {
    return { type: "bad_argument", command: "trust", takes };
  }
  const { agent, permissions, plug } = session;
  const answer = argument !== "off";
  const instructions = await heedInstructions(agent, permissions, { answer, plug });
  return { type: "trust", instructions };
}

/** The folders whose path begins like `path`, with `/` at their ends; hidden ones for a `.`. */
function foldersBeginning(state: { workingDir: string }, path: string): string[] {
  const above = path.slice(0, path.lastIndexOf("/") + 1);
  const isHidden = path.slice(above.length).startsWith(".");
  const folder = resolvePath(state, expandHome(above) || ".");
  return [...Deno.readDirSync(folder)]
    .filter(({ name, isDirectory, isSymlink }) =>
      (isDirectory || isSymlink) && (isHidden || !name.startsWith("."))
    ).map(({ name }) => `${above}${name}/`).sort();
}
