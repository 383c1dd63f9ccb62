// Plays ordinary sessions with real tools, in the modes auto and ask, and counts what the person is asked:
// `scripts/replay [NAME]`. A scripted model on loopback makes the calls of scripts/replay_sessions.ts. Of
// programs that are not installed, only the policy is asked. Questions about the network are refused,
// as there may be none, and count once for all that a yes would cover; others are answered with yes. Ends
// with 1 where auto asks about anything but the network, a command fails in the sandbox, or none works.
import { dirname } from "@std/path/dirname";
import { parseCommandLine } from "../src/safety/shell/parser.ts";
import { findSandbox } from "../src/safety/sandbox/probe.ts";
import type { ApproveMode } from "../src/safety/settings.ts";
import type { Approval, ApprovalAnswer } from "../src/safety/approval.ts";
import { openPermissions } from "../src/safety/permissions.ts";
import { findProgram, programFolders } from "../src/find_program.ts";
import type { ToolExecution } from "../src/types/event.ts";
import { fakeSession } from "../tests/helpers/fake_session.ts";
import { strictServer, use } from "../tests/helpers/strict_server.ts";
import { type OrdinarySession, SESSIONS, type Step } from "./replay_sessions.ts";

/** A step as the model's call. */
interface Planned {
  name: string;
  arguments: Record<string, unknown>;
  /** True if a question about the network is expected; no other ever is. */
  asks: boolean;
  /** A program that is not installed. */
  missing?: string | undefined;
}

/** The result of a session: the numbers of questions, and what went wrong. */
interface Played {
  network: number;
  other: number;
  faults: string[];
}

function planned(step: Step, folders: readonly string[]): Planned {
  const { command = "", leave, background, tool, args, isGranted } = typeof step === "string"
    ? { command: step } as Exclude<Step, string>
    : step;
  if (tool !== undefined) return { name: tool, arguments: args ?? {}, asks: false };
  return {
    name: "run_bash",
    arguments: {
      command,
      ...leave && { leave, reason: "the registry has to be reached" },
      ...background && { run_in_background: true },
    },
    asks: leave !== undefined && !isGranted,
    missing: missingProgram(command, folders),
  };
}

/** Modules of Python, and programs that npx would have to download. */
const FETCHED = /^(?:python3 -m|npx) (black|prettier|tsc)\b/;

/** Returns the first program of a command line that is not on PATH; undefined if all are. */
function missingProgram(command: string, folders: readonly string[]): string | undefined {
  const fetched = FETCHED.exec(command)?.[1];
  if (fetched !== undefined) return fetched;
  const line = parseCommandLine(command);
  const first = line.ok ? line.commands.map(({ words }) => words[0]?.text ?? "") : [];
  return first.find((name) =>
    /^(cargo|clang-format|curl|gcc|go|gofmt|jq|make|node|npm|npx|pip|python3|rg|ruff)$/.test(
      name,
    ) &&
    findProgram(name, [...folders], undefined) === undefined
  );
}

/** Plays the calls of one session. `approve` is the mode. Approved calls run in the sandbox as well. */
async function play(
  { files }: OrdinarySession,
  calls: readonly Planned[],
  approve: ApproveMode,
): Promise<Played> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const state = await Deno.makeTempDir();
  const variables: Record<string, string | undefined> = {
    HOME: Deno.env.get("HOME"),
    PATH: Deno.env.get("PATH"),
    XDG_CONFIG_HOME: state,
    XDG_STATE_HOME: state,
  };
  try {
    await prepare(folder, files);
    const asked: { step: Planned; approval: Approval }[] = [];
    const stepOf = ({ arguments: args }: Approval["call"]) =>
      calls.find((step) => same(step.arguments, args))!;
    const granted = new Set<string>();
    const answer = (approval: Approval): Promise<ApprovalAnswer> => {
      const step = stepOf(approval.call);
      const grants = approval.networked?.map(({ text }) => text);
      if (!grants?.every((text) => granted.has(text))) asked.push({ step, approval });
      for (const text of grants ?? []) granted.add(text);
      const isYes = approval.right?.kind !== "network" && step.missing === undefined;
      return Promise.resolve(isYes ? { choice: "once" } : { choice: "refuse", reason: "" });
    };
    const executions = await turns(calls, {
      folder,
      permissions: openPermissions(
        { approve, sandbox: "workspace-write" },
        (name) => variables[name],
      ),
    }, answer);
    return outcomeOf(calls, asked, executions);
  } finally {
    for (const path of [folder, state]) await Deno.remove(path, { recursive: true });
  }
}

/** Returns true if the call contains all that the question contains. A question omits defaults. */
function same(call: Record<string, unknown>, asked: Record<string, unknown>): boolean {
  return Object.entries(asked).every(([key, value]) => call[key] === value) &&
    (call.leave === asked.leave) && (call.command === asked.command);
}

async function prepare(folder: string, files: OrdinarySession["files"]): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await Deno.mkdir(dirname(`${folder}/${name}`), { recursive: true });
    await Deno.writeTextFile(`${folder}/${name}`, text);
  }
  const script = `git init -q -b main . && git config user.email a@b && git config user.name a &&
    git add -A && git commit -qm one`;
  await new Deno.Command("sh", { args: ["-c", script], cwd: folder }).output();
}

/** Runs the calls with a scripted model. Calls of missing programs are only decided. */
async function turns(
  calls: readonly Planned[],
  options: Partial<Parameters<typeof fakeSession>[1]>,
  approve: (approval: Approval) => Promise<ApprovalAnswer>,
): Promise<Map<Planned, ToolExecution>> {
  const { signal } = new AbortController();
  const installed = calls.filter(({ missing }) => missing === undefined);
  const script = installed.map(({ name, arguments: args }) => use(name, args));
  await using server = strictServer([...script, { text: "Done." }], { models: ["test"] });
  await using opened = await fakeSession(server.url, options, { approve });
  const { session, events } = opened;
  await session.prompt("go", signal);
  const context = session.agent.toolContext(signal);
  for (const { arguments: args } of calls.filter(({ missing }) => missing !== undefined)) {
    const tool = session.agent.tools.find(({ name }) => name === "run_bash")!;
    await session.agent.policy.decide(tool, args, context);
  }
  const done = events.flatMap((event) => event.type === "tool_done" ? [event.exec] : []);
  return new Map(installed.map((step, i) => [step, done[i]!]));
}

function outcomeOf(
  calls: readonly Planned[],
  asked: readonly { step: Planned; approval: Approval }[],
  executions: Map<Planned, ToolExecution>,
): Played {
  const faults: string[] = [];
  const textOf = (step: Planned) => JSON.stringify(step.arguments).slice(0, 160);
  for (const { step, approval } of asked) {
    if (!step.asks) faults.push(`asked, as it ${approval.reason}: ${textOf(step)}`);
  }
  for (const [step, exec] of executions) {
    const { exitCode = 0 } = exec.details ?? {};
    if (step.arguments.leave !== "network" && (exec.isError || exitCode !== 0)) {
      faults.push(`failed: ${textOf(step)}\n${exec.result.trim().slice(-600)}`);
    }
  }
  for (const step of calls) {
    if (step.asks && !asked.some((one) => one.step === step)) {
      faults.push(`not asked about: ${textOf(step)}`);
    }
  }
  const network = asked.filter(({ step }) => step.asks).length;
  return { network, other: asked.length - network, faults };
}

const sandbox = await findSandbox();
if (typeof sandbox === "string") {
  console.log(`Cannot play anything as commands cannot be confined: ${sandbox}`);
  Deno.exit(1);
}
const sessions = SESSIONS.filter(({ name }) => name.includes(Deno.args[0] ?? ""));
if (sessions.length === 0) {
  console.error(`Cannot play ${Deno.args[0]} as no session has that in its name`);
  Deno.exit(2);
}
const PATH = Deno.env.get("PATH")!;
const sum = { calls: 0, network: 0, other: 0, ask: 0, faults: 0 };
console.log(`${"session".padEnd(36)}calls  auto: network other  ask`);
for (const one of sessions) {
  const calls = one.steps.map((step) => planned(step, programFolders(Deno.cwd(), PATH)));
  const auto = await play(one, calls, "auto");
  const ask = await play(one, calls, "ask");
  const counts = {
    calls: calls.length,
    network: auto.network,
    other: auto.other,
    ask: ask.network + ask.other,
  };
  const row = Object.values(counts).map((count, i) => `${count}`.padStart([5, 14, 6, 5][i]!)).join(
    "",
  );
  const missing = [...new Set(calls.flatMap(({ missing }) => missing ?? []))].join(", ");
  console.log(`${one.name.padEnd(36)}${row}${missing && `  policy only: ${missing}`}`);
  for (const fault of auto.faults) console.log(`  ${fault.replaceAll("\n", "\n    ")}`);
  for (const [key, count] of Object.entries(counts)) sum[key as keyof typeof counts] += count;
  sum.faults += auto.faults.length;
}
console.log(
  `${sum.calls} calls: auto asks ${
    sum.network + sum.other
  } times, ${sum.other} of them about anything ` +
    `but the network; ask asks ${sum.ask} times; ${sum.faults} faults`,
);
Deno.exit(sum.faults === 0 ? 0 : 1);
