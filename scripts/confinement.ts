// Holds what a session does with files against what its view says, and against what the kernel does:
// `scripts/confinement [MODE...]`. Rows of the table are kinds of paths, columns are modes; each sign
// is one way: read_file, write_file, edit_file, search, @path, a command that reads, one that writes.
// As root it runs a second time as an ordinary user, the one with the number 65534.
// Ends with 1 where something differs that KNOWN does not name, or no sandbox works.
import { fromFileUrl } from "@std/path/from-file-url";
import { runTools } from "../src/agent/run_tools.ts";
import { localConfig } from "../src/config.ts";
import type { PermissionChoice } from "../src/safety/choice.ts";
import { openPermissions } from "../src/safety/permissions.ts";
import { attachFiles } from "../src/session/attach.ts";
import type { Session } from "../src/session/session.ts";
import type { ToolContext } from "../src/types/tool.ts";
import { fakeSession } from "../tests/helpers/fake_session.ts";
import { PathTable } from "../src/safety/path_table.ts";
import { findSandbox } from "../src/safety/sandbox/probe.ts";
import { makeView } from "../src/safety/make_view.ts";
import { accessAt, type View } from "../src/safety/view.ts";
import { isWithin } from "../src/text/paths.ts";
import {
  PATH_KINDS,
  type PathKind,
  pathsOf,
  type ViewTree,
  viewTree,
} from "../tests/helpers/view_tree.ts";

/** The ways, in the order of the table. The last two are those of a sandboxed command. */
const WAYS = ["read", "write", "edit", "search", "@", "cmd read", "cmd write"] as const;
type Way = typeof WAYS[number];

/** True if the way reached the file without a question; undefined if the way does not apply to the path. */
type Outcome = Partial<Record<Way, boolean>>;

/** The settings of a session. */
interface Mode {
  name: string;
  choice: PermissionChoice;
  plans?: true;
}

const signal = new AbortController().signal;
/** Receives no requests: no turn starts. */
const NO_SERVER = "http://127.0.0.1:9";
/** The PATH of the sessions. */
const PATH = "/usr/bin:/bin";

/** Calls `use` with a session in a mode. The user of the session refuses every question. */
async function inMode<T>(
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
async function byTools(session: Session, path: string, base: string): Promise<Outcome> {
  const info = Deno.statSync(path);
  const call = async (name: string, args: Record<string, unknown>) =>
    await callOf(session, name, args) !== undefined;
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

/** Runs a call; undefined if the tool does not succeed. */
async function callOf({ agent }: Session, name: string, args: Record<string, unknown>) {
  const { seenFiles: _, ...context } = agent.toolContext(signal);
  const call = { id: "1", name, arguments: args };
  const options = { tools: agent.tools, policy: agent.policy, context, emit() {} };
  const [exec] = await runTools([call], options);
  return exec!.outcome === "done" ? exec : undefined;
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
interface Seen {
  text: string;
  isWritten: boolean;
}

/** Writes the script and its list into the folder. Returns its results without a sandbox. */
async function seenByUser(folder: string, paths: readonly string[]): Promise<Seen[]> {
  await Deno.writeTextFile(`${folder}/probe.sh`, `LC_ALL=C\n${PROBE}\n`);
  await Deno.writeTextFile(`${folder}/paths`, paths.map((path) => `${path}\n`).join(""));
  const { stdout } = await new Deno.Command("bash", { args: ["probe.sh", "paths"], cwd: folder })
    .output();
  return seenIn(new TextDecoder().decode(stdout));
}

/** Returns the results of the script as a command of the session; undefined if the command does not run. */
async function seenByCommand(session: Session): Promise<Seen[] | undefined> {
  const exec = await callOf(session, "run_bash", { command: "bash probe.sh paths" });
  return exec && seenIn(exec.details?.output?.stdout ?? "");
}

function seenIn(output: string): Seen[] {
  return output.trimEnd().split("\n").map((line) => ({
    isWritten: line.startsWith("+"),
    text: line.slice(2),
  }));
}

const [auto, bare] = [{ approve: "auto" }, { sandbox: "off" }] as const;

/** A mode, with what it does to the file of {@linkcode CONTROL}, whatever the view says: `+` unasked. */
const MODES: readonly (Mode & { control: string })[] = [
  { name: "auto", choice: auto, control: "+++++++" },
  { name: "yes", choice: { yes: true }, control: "+++++++" },
  { name: "read-only", choice: { ...auto, sandbox: "read-only" }, control: "+..+++." },
  { name: "ask", choice: { approve: "ask" }, control: "+..++.." },
  { name: "ask bare", choice: { approve: "ask", ...bare }, control: "+..++.." },
  { name: "never", choice: { approve: "never" }, control: "+..++.." },
  { name: "never bare", choice: { approve: "never", ...bare }, control: "+..++.." },
  { name: "plan", choice: auto, plans: true, control: "+..+++." },
];
const SIGNS: Readonly<Record<string, string>> = { true: "+", false: ".", undefined: " " };
const CONTROL = "src/a.ts";
/** A file that no mode gives access to. */
const NEVER = ".ssh/id_rsa";

/** Kinds that some ways cannot reach, and kinds that only a command can reach. */
const FURTHER_KINDS: readonly PathKind[] = [
  { kind: "programs", under: "root", names: ["/usr/bin/env", "/bin/sh"] },
  { kind: "a FIFO", under: "folder", names: ["fifo"] },
  { kind: "a socket", under: "folder", names: ["socket"] },
  { kind: "a device", under: "folder", names: ["device"] },
  { kind: "a hard link", under: "folder", names: ["hard"] },
  { kind: "generated: secrets", under: "folder", names: ["node_modules/a.pem"] },
  { kind: "others', open", under: "folder", names: ["theirs/open"] },
  { kind: "others', closed", under: "folder", names: ["theirs/closed"] },
  { kind: "others', in the home", under: "home", names: ["theirs/open", "theirs/closed"] },
  { kind: "special, in the home", under: "home", names: ["fifo", "socket"] },
  { kind: "temporary files", under: "root", names: [] },
  { kind: "caches", under: "home", names: [".cache/app/x", ".npm/x"] },
  {
    kind: "processes, devices",
    under: "root",
    names: ["/proc/1/environ", "/proc/1/cmdline", "/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda"],
  },
];

/** A kind of paths for which some ways differ from the view, on purpose. */
interface Difference {
  /** Ways that are closed although the view would open them. */
  closed: readonly Way[];
  /** Ways that are open although the view would close them. */
  open?: readonly Way[];
  /** True if the user is asked: `--yes` opens these ways. */
  isAsked?: true;
  why: string;
}

const NOT_BY_TOOLS: readonly Way[] = ["read", "write", "edit", "search", "@"];

const KNOWN: Readonly<Record<string, Difference>> = {
  "git's settings": {
    closed: ["read", "search", "@"],
    why: "they may hold passwords of remotes; git itself has to read them",
  },
  "links to readable places": {
    closed: ["search"],
    why: "a search follows no link that leads out",
  },
  "programs": { closed: ["read", "search", "@"], why: "tools show text" },
  "a FIFO": {
    closed: NOT_BY_TOOLS,
    open: ["cmd write"],
    why: "tools open regular files only, and the kernel lets FIFOs of read-only folders be written",
  },
  "a socket": { closed: WAYS, why: "tools open regular files only, commands no sockets" },
  "a device": { closed: WAYS, why: "tools open regular files only, commands no devices" },
  "a hard link": { closed: ["write", "edit"], isAsked: true, why: "another name may be outside" },
  "generated: secrets": {
    closed: NOT_BY_TOOLS,
    why: "folders such as node_modules are not looked through for each command",
  },
  "others', open": { closed: ["cmd write"], why: "root has no privileges in the sandbox" },
  "others', closed": {
    closed: ["cmd read", "cmd write"],
    why: "root has no privileges in the sandbox",
  },
};

/** Adds files to the tests' tree. `others` has files of another user, which root prepared. */
async function furnish({ base, home, folder }: ViewTree, others?: string): Promise<void> {
  const isRoot = Deno.uid() === 0;
  for (const [at, name] of [[folder, "folder"], [home, "home"]] as const) {
    await Deno.mkdir(`${at}/theirs`);
    for (const file of ["open", "closed"]) {
      const path = `${at}/theirs/${file}`;
      if (others) await Deno.rename(`${others}/${name}-${file}`, path);
      else if (isRoot) await plantFile(path, 12345);
    }
    Deno.listen({ transport: "unix", path: `${at}/socket` });
  }
  for (const path of [".cache/app/x", ".npm/x"]) {
    await Deno.mkdir(`${home}/${path}`.replace(/\/x$/, ""), { recursive: true });
    await Deno.writeTextFile(`${home}/${path}`, "home");
  }
  await Deno.link(`${home}/other/outside/o`, `${folder}/hard`);
  await run("mkfifo", [`${home}/fifo`]);
  // Some containers do not allow it.
  if (isRoot) await run("mknod", [`${folder}/device`, "c", "1", "5"]).catch(() => {});
  await Deno.writeTextFile(`${base}/temporary`, "base");
}

/**
 * Makes a file of another user. Others may read it unless its name ends with `closed`. Only root can make one.
 */
async function plantFile(path: string, uid: number): Promise<void> {
  await Deno.writeTextFile(path, "theirs");
  await Deno.chmod(path, path.endsWith("closed") ? 0o600 : 0o644);
  await Deno.chown(path, uid, uid);
}

async function run(program: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
}

/** A path, and the facts about it on this machine. */
interface Tried {
  kind: string;
  path: string;
  real: string;
  /** The content that this user sees without a sandbox. */
  seen: Seen;
}

/** Returns the outcome that the view demands. */
function expectedOf(tried: Tried, mode: Mode, view: View): Outcome {
  const { kind, path, real, seen } = tried;
  const { approve = "auto", sandbox, yes } = mode.choice;
  const access = accessAt(view, real);
  const isConfined = sandbox !== "off";
  const isThere = access === "read" || access === "write";
  const canRead = isThere && seen.text !== "''" && (isConfined || isWithin(view.folder, real));
  // In plan mode, commands run but cannot write.
  const runs = !/ask|never/.test(approve);
  const acts = !mode.plans && runs;
  const canWrite = acts && access === "write" && seen.isWritten;
  const outcome: Outcome = {
    ...{ read: canRead, search: canRead, "@": canRead, write: canWrite },
    ...{ "cmd read": canRead && runs, "cmd write": canWrite },
    ...!Deno.statSync(path).isDirectory && { edit: canWrite },
  };
  const { closed = [], open = [], isAsked } = KNOWN[kind] ?? {};
  for (const way of isAsked && yes ? [] : closed) if (way in outcome) outcome[way] = false;
  if (runs) { for (const way of open) outcome[way] = true; }
  return outcome;
}

/** Returns the signs of each path in a mode, and a line for each difference from the expected outcome. */
async function tryMode(
  mode: typeof MODES[number],
  tree: ViewTree,
  paths: readonly Tried[],
): Promise<{ signs: string[]; wrong: string[] }> {
  const isWritable = mode.choice.sandbox !== "read-only";
  const view = makeView({
    ...{ folder: tree.folder, isWritable, network: false, programs: PATH.split(":") },
    paths: new PathTable({ home: tree.home }),
  });
  return await inMode(tree, mode, async (session) => {
    const byCommand = await seenByCommand(session);
    const wrong: string[] = [];
    const signs: string[] = [];
    for (const [i, one] of paths.entries()) {
      const command = byCommand?.[i];
      const outcome: Outcome = {
        ...await byTools(session, one.path, tree.base),
        "cmd read": command !== undefined && command.text !== "''" &&
          command.text === one.seen.text,
        "cmd write": command?.isWritten === true,
      };
      const expected = expectedOf(one, mode, view);
      const signOf = (way: Way) =>
        outcome[way] !== expected[way] ? "!" : SIGNS[String(outcome[way])]!;
      signs.push(WAYS.map(signOf).join(""));
      for (const way of WAYS.filter((way) => outcome[way] !== expected[way])) {
        const access = accessAt(view, one.real);
        wrong.push(`${mode.name}: ${way} ${one.path}: ${outcome[way]}, the view says ${access}`);
      }
      const control = one.path === `${tree.folder}/${CONTROL}`
        ? mode.control
        : one.path === `${tree.home}/${NEVER}`
        ? "......."
        : signs.at(-1);
      if (control !== signs.at(-1)) wrong.push(`${mode.name}: ${one.path}: not ${control}`);
    }
    return { signs, wrong };
  });
}

/** Returns one cell: the signs on which all paths of a kind agree, `~` if they differ. */
function cellOf(signs: readonly string[]): string {
  return WAYS.map((_, i) => {
    const all = new Set(signs.map((one) => one[i]!));
    all.delete(" ");
    return all.has("!") ? "!" : all.size === 0 ? " " : all.size === 1 ? [...all][0] : "~";
  }).join("");
}

/** Tries everything as the user of this process. Returns true if nothing differs. */
async function tryAll(modes: typeof MODES, others?: string): Promise<boolean> {
  const start = performance.now();
  const tree = await viewTree();
  await furnish(tree, others);
  const kinds = [...PATH_KINDS, ...FURTHER_KINDS].map((one) =>
    one.kind === "temporary files" ? { ...one, names: [`${tree.base}/temporary`] } : one
  );
  const named = pathsOf(kinds, tree);
  const seen = await seenByUser(tree.folder, named.map(({ path }) => path));
  const paths = named.map((one, i): Tried => ({
    ...one,
    real: Deno.realPathSync(one.path),
    seen: seen[i]!,
  }));
  const results = [];
  for (const mode of modes) results.push(await tryMode(mode, tree, paths));
  console.log(`\nAs ${Deno.uid() === 0 ? "root" : `user ${Deno.uid()}`}, ${paths.length} paths`);
  console.log(`${"".padEnd(28)}${modes.map(({ name }) => name.padEnd(12)).join("")}`);
  for (const kind of new Set(paths.map((one) => one.kind))) {
    const cells = results.map(({ signs }) =>
      cellOf(signs.filter((_, i) => paths[i]!.kind === kind))
    );
    console.log(`${kind.padEnd(28)}${cells.map((cell) => cell.padEnd(12)).join("")}`.trimEnd());
  }
  const wrong = results.flatMap((one) => one.wrong);
  for (const line of wrong) console.log(line.replaceAll(tree.base, ""));
  console.log(`${wrong.length} differ, ${((performance.now() - start) / 1000).toFixed(1)} s`);
  await Deno.remove(tree.base, { recursive: true });
  return wrong.length === 0;
}

/** An ordinary user and its group. */
const USER = 65534;

/** Runs this script again as an ordinary user, from a copy of the project that this user can read. */
async function asUser(modes: readonly string[]): Promise<boolean> {
  const root = fromFileUrl(new URL("..", import.meta.url));
  const copy = await Deno.makeTempDir();
  try {
    const parts = ["deno.json", "deno.lock", "src", "tests", "scripts", "vendor"];
    await run("cp", ["-r", ...parts.map((part) => root + part), Deno.execPath(), copy]);
    for (const at of ["home", "folder"]) {
      for (const file of ["open", "closed"]) await plantFile(`${copy}/${at}-${file}`, 0);
    }
    await Deno.chown(copy, USER, USER);
    const deno = `${copy}/${Deno.execPath().split("/").at(-1)}`;
    const { code } = await new Deno.Command("setpriv", {
      args: [
        ...["--reuid", `${USER}`, "--regid", `${USER}`, "--clear-groups"],
        ...[deno, "run", "-A", `${copy}/scripts/confinement.ts`, ...modes],
      ],
      cwd: copy,
      clearEnv: true,
      env: {
        PATH,
        HOME: copy,
        OTHERS: copy,
        DENO_DIR: `${copy}/cache`,
        DENO_NO_UPDATE_CHECK: "1",
        NO_COLOR: "1",
      },
    }).spawn().status;
    return code === 0;
  } finally {
    await Deno.remove(copy, { recursive: true });
  }
}

const named = Deno.args;
const wrong = named.find((name) => !MODES.some((mode) => mode.name === name));
if (wrong !== undefined) {
  console.error(
    `Cannot try ${wrong} as it must be one of ${MODES.map(({ name }) => name).join("; ")}`,
  );
  Deno.exit(2);
}
const sandbox = await findSandbox();
if (typeof sandbox === "string") {
  console.log(`Cannot try anything as commands cannot be confined: ${sandbox}`);
  Deno.exit(1);
}
const modes = MODES.filter(({ name }) => named.length === 0 || named.includes(name));
/** A folder with files of root, which the run as an ordinary user gets. */
const others = Deno.env.get("OTHERS");
let isWell = await tryAll(modes, others);
if (Deno.uid() === 0) isWell = await asUser(named) && isWell;
if (others === undefined) {
  console.log("\n+ unasked  . not  ~ some  ! differs. Other than the view, on purpose:");
  for (const [kind, { why }] of Object.entries(KNOWN)) console.log(`  ${kind}: ${why}`);
}
Deno.exit(isWell ? 0 : 1);
