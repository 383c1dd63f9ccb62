// The ways to access a file in a session. Each is tried on a path of this machine, with the session's own policy,
// tools and sandbox. No model is involved.
import { runTools } from "../src/agent/run_tools.ts";
import { localConfig } from "../src/config.ts";
import type { PermissionChoice } from "../src/safety/choice.ts";
import { attachFiles } from "../src/session/attach.ts";
import { openPermissions } from "../src/safety/permissions.ts";
import type { Session } from "../src/session/session.ts";
import { isWithin } from "../src/text/paths.ts";
import type { ToolContext } from "../src/types/tool.ts";
import { fakeSession } from "../tests/helpers/fake_session.ts";
import type { ViewTree } from "../tests/helpers/view_tree.ts";

/** The ways, in the order of the table. The last two are those of a sandboxed command. */
export const WAYS = ["read", "write", "edit", "search", "@", "cmd read", "cmd write"] as const;
export type Way = typeof WAYS[number];

/** True if the way reached the file without a question; undefined if the way does not apply to the path. */
export type Outcome = Partial<Record<Way, boolean>>;

/** The settings of a session. */
export interface Mode {
  name: string;
  choice: PermissionChoice;
  plans?: true;
}

const signal = new AbortController().signal;
/** Receives no requests: no turn starts. */
const NO_SERVER = "http://127.0.0.1:9";
/** The PATH of the sessions. */
export const PATH = "/usr/bin:/bin";

/** Calls `use` with a session in a mode. The user of the session refuses every question. */
export async function inMode<T>(
  { home, folder }: ViewTree,
  { choice, plans }: Mode,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const variables: Record<string, string> = { HOME: home, PATH };
  const approve = choice.yes
    ? {}
    : { approve: () => Promise.resolve({ choice: "refuse", reason: "" } as const) };
  await using opened = await fakeSession(NO_SERVER, {
    folder,
    permissions: openPermissions(choice, (name) => variables[name]),
    config: { local: localConfig({ host: NO_SERVER, model: "test" }), maxOutputChars: 10_000_000 },
  }, approve);
  if (plans) await opened.session.command("plan", "", signal);
  return await use(opened.session);
}

/** Tries each way of the tools for one path. Files under `base` are really written, and restored afterwards. */
export async function byTools(session: Session, path: string, base: string): Promise<Outcome> {
  const info = Deno.statSync(path);
  const call = (name: string, args: Record<string, unknown>) => callOf(session, name, args);
  const found = { pattern: ".", path };
  const attached = await attachFiles(
    session.agent,
    [{ type: "text", text: `@"${path}"` }],
    signal,
    {
      decide: (tool, args, context) => session.agent.policy.decide(tool, args, context),
    },
  );
  const isAttached = attached.parts.some((part) =>
    "text" in part && !part.text.startsWith("(cannot be read")
  );
  const isWritten = isWithin(base, Deno.realPathSync(path));
  const write = (name: string, target: string, args: Record<string, unknown>) =>
    isWritten ? call(name, args) : decided(session, name, { ...args, file_path: target });
  if (info.isDirectory) {
    const file_path = `${path}/tried.txt`;
    const outcome = {
      read: await call("list_directory", { path }),
      write: await write("write_file", file_path, { file_path, content: "x" }),
      search: await call("glob_files", { pattern: "*", path }) && await call("grep_code", found),
      "@": isAttached,
    };
    await Deno.remove(file_path).catch(() => {});
    return outcome;
  }
  const before = info.isFile && isWritten
    ? await Deno.readFile(path).catch(() => undefined)
    : undefined;
  const text = new TextDecoder().decode(before).trim();
  const edit = { file_path: path, old_string: text || "x", new_string: `${text}y` };
  const outcome = {
    read: await call("read_file", { file_path: path }),
    search: await call("grep_code", found),
    "@": isAttached,
    edit: await write("edit_file", path, edit),
    write: await write("write_file", path, { file_path: path, content: "x" }),
  };
  if (before) await Deno.writeFile(path, before).catch(() => {});
  return outcome;
}

/** Returns true if the tool succeeded. */
async function callOf(
  { agent }: Session,
  name: string,
  args: Record<string, unknown>,
): Promise<boolean> {
  const { seenFiles: _, ...context } = agent.toolContext(signal);
  const call = { id: "1", name, arguments: args };
  const options = { tools: agent.tools, policy: agent.policy, context, emit() {} };
  const [exec] = await runTools([call], options);
  return exec!.outcome === "done";
}

/** Returns only the decision, for a file that must not be written even if the policy allows it. */
async function decided({ agent }: Session, name: string, args: Record<string, unknown>) {
  const tool = agent.tools.find((one) => one.name === name)!;
  const context: ToolContext = agent.toolContext(signal);
  const decision = await Promise.resolve(agent.policy.decide(tool, args, context))
    .catch(() => ({ allow: false }));
  return decision.allow;
}

/** Prints a line for each path of a list: `+` or `-` for writing, and the text that it read, quoted. */
const PROBE = `shopt -s nullglob dotglob
while IFS= read -r path; do
  seen= wrote=-
  if [ -d "$path" ]; then
    entries=("$path"/*)
    seen=\${entries[*]##*/}
    { : >"$path/.tried"; } && wrote=+ && rm -f -- "$path/.tried"
  elif [ -e "$path" ]; then
    # A FIFO that is opened for both waits for nobody; of it, nothing can be read.
    if [ -p "$path" ]; then exec 3<>"$path" && seen=fifo wrote=+; exec 3<&-
    else IFS= read -r -d '' -n 300 seen <"$path"
    fi
    # Appending nothing opens for writing and changes nothing.
    [ -f "$path" ] && [ -n "$seen" ] && { : >>"$path"; } && wrote=+
  fi
  printf '%s %q\\n' "$wrote" "$seen"
done <"$1" 2>/dev/null`;

/** The result of the script for one path. */
export interface Seen {
  text: string;
  isWritten: boolean;
}

/** Writes the script and its list into the folder. */
export async function prepareProbe(folder: string, paths: readonly string[]): Promise<void> {
  await Deno.writeTextFile(`${folder}/probe.sh`, `LC_ALL=C\n${PROBE}\n`);
  await Deno.writeTextFile(`${folder}/paths`, paths.map((path) => `${path}\n`).join(""));
}

/** Returns the results of the script without a sandbox. */
export async function seenByUser(folder: string): Promise<Seen[]> {
  const { stdout } = await new Deno.Command("bash", { args: ["probe.sh", "paths"], cwd: folder })
    .output();
  return seenIn(new TextDecoder().decode(stdout));
}

/** Returns the results of the script as a command of the session; undefined if the command does not run. */
export async function seenByCommand({ agent }: Session): Promise<Seen[] | undefined> {
  const call = { id: "1", name: "run_bash", arguments: { command: "bash probe.sh paths" } };
  const context = agent.toolContext(signal);
  const options = { tools: agent.tools, policy: agent.policy, context, emit() {} };
  const [exec] = await runTools([call], options);
  if (exec!.outcome !== "done") return undefined;
  return seenIn(exec!.details?.output?.stdout ?? "");
}

function seenIn(output: string): Seen[] {
  return output.trimEnd().split("\n").map((line) => ({
    isWritten: line.startsWith("+"),
    text: line.slice(2),
  }));
}
