/**
 * Ends a child process with all its descendants. A child spawned with `detached: true` leads a session and a
 * group. Its children stay in the session, even if shells with job control and `timeout` create groups. Only
 * `setsid` creates another session, and its process is found while the parent lives. @module
 */

import { attempt } from "../../attempt.ts";
import { wait } from "../../wire/wait.ts";
import { systemProgram, userProgram } from "../../start_program.ts";
import { atProgramStop } from "../../program_stop.ts";

interface Process {
  pid: number;
  state: string;
  parent: number;
  group: number;
  session: number; // NaN if the system does not report it
  name: string;
  /** Its start time, which distinguishes processes of the same number; its name if the time is unknown. */
  identity: string;
}

/** A zombie is only a number that its parent has not read. */
const DEAD = /^[ZX]/;
/** Includes those that wait for a disk, and stop then. */
const STOPPED = /^[TtDUZ]/;

const isLinux = Deno.build.os === "linux";
/**
 * `pid (name) state parent group session`, 15 numbers, start time, and more. A name may contain any characters, also
 * line breaks and parentheses, but has no room for that many numbers.
 */
const STAT = /^(\d+) \(([^]{0,64}?)\) (\S) (\d+) (\d+) (\d+)(?: -?\d+){15} (\d+) .*$/gm;

/**
 * Ends every process that the child `leader` started and, if it lives, the child: SIGTERM, and SIGKILL after `graceMs`.
 * Returns the names of those found.
 */
export async function endGroup(leader: number, graceMs: number): Promise<string[]> {
  if (Deno.build.os === "windows") {
    const args = ["/T", "/F", "/PID", String(leader)];
    await userProgram("taskkill", { args, stdin: "null", stdout: "null", stderr: "null" })
      ?.output();
    return [];
  }
  const list = listing();
  let members = await membersOf(leader, list);
  const names = members.filter(({ pid }) => pid !== leader).map(({ name }) => name);
  signal(leader, members, "SIGTERM");
  const deadline = performance.now() + graceMs;
  for (let pause = 5; members.length > 0 && performance.now() < deadline; pause *= 1.5) {
    await wait(Math.min(pause, 100));
    members = await membersOf(leader, list, members);
  }
  // A member may start another between the check and the kill. It cannot outrun fifty checks.
  for (let look = 0; members.length > 0 && look < 50; look++) {
    signal(leader, members, "SIGKILL");
    await wait(5);
    members = await membersOf(leader, list, members);
  }
  return names;
}

/** Kills a child, if it lives, and on other systems than Windows every process that it started, without waiting. */
export function endNow(child: Deno.ChildProcess): void {
  if (Deno.build.os === "windows") return attempt(() => child.kill("SIGKILL"));
  const table = attempt(() => processesIn(listing().outputSync().stdout));
  signal(child.pid, membersIn(table ?? [], child.pid), "SIGKILL");
}

/** Stops every process that a child started while this program is stopped by Ctrl-Z: then it watches no processes. */
export function stopWithProgram({ pid, status }: Deno.ChildProcess): void {
  const release = atProgramStop(async () => {
    kill(-pid, "SIGSTOP");
    const list = listing();
    let members: Process[] = [];
    // A process may start another between the check and the stop, and end: its stopped parent does not read that.
    // A list is not read at once, so it may miss such a pair: it has to be the same three times.
    let same = 0;
    for (let look = 0, before = ""; look < 20 && same < 2; look++) {
      members = await membersOf(pid, list, members, /^X/);
      signal(pid, members, "SIGSTOP");
      const ids = members.map((member) => member.pid).join();
      const isSame = ids === before && members.every(({ state }) => STOPPED.test(state));
      same = isSame ? same + 1 : 0;
      before = ids;
    }
    // They outrun the checks. A sandbox ends with its leader.
    if (same < 2) signal(pid, members, "SIGKILL");
    return () => signal(pid, members, "SIGCONT");
  });
  status.then(release, release);
}

function signal(leader: number, members: Process[], name: Deno.Signal): void {
  // The group first: all its processes get the signal at once, even if one forks meanwhile.
  const others = members.filter(({ group }) => group !== leader).map(({ pid }) => pid);
  const inGroup = others.length < members.length;
  for (const target of inGroup ? [-leader, ...others] : others) kill(target, name);
}

/** False if it is gone, or another user's (sudo), which cannot be signalled. */
function kill(target: number, name: Deno.Signal): boolean {
  return attempt(() => (Deno.kill(target, name), true)) ?? false;
}

/** Returns the processes of the session and group of `leader`, the `known` ones, and the descendants of all. */
async function membersOf(leader: number, list: Deno.Command, known: Process[] = [], dead = DEAD) {
  const table = await Promise.try(() => list.spawn().output())
    .then(({ stdout }) => processesIn(stdout, dead), () => []);
  return membersIn(table, leader, known);
}

function membersIn(table: Process[], leader: number, known: Process[] = []): Process[] {
  // There is no process table if a fork bomb prevents starting `ps`. Then only the group gets the signal.
  if (table.length === 0) {
    const ids = { pid: leader, parent: Deno.pid, group: leader, session: leader };
    // SIGCONT is harmless, and wakes a stopped process so that it can end.
    return kill(-leader, "SIGCONT") ? [{ ...ids, state: "", name: "", identity: "" }] : [];
  }
  const found = new Set<number>();
  const before = new Map(known.map(({ pid, identity }) => [pid, identity]));
  const children = Map.groupBy(table, ({ parent }) => parent);
  const add = (process: Process): void => {
    if (found.has(process.pid) || process.pid === Deno.pid) return;
    found.add(process.pid);
    children.get(process.pid)?.forEach(add);
  };
  for (const process of table) {
    const { pid, group, session, identity } = process;
    if (group === leader || session === leader || before.get(pid) === identity) add(process);
  }
  return table.filter(({ pid }) => found.has(pid));
}

/** Lists every process. Runs a program, because Deno reads `/proc` only with permission to read everything. */
function listing(): Deno.Command {
  const columns = ["pid=", "stat=", "ppid=", "pgid=", "comm="].map((name) => `-o ${name}`);
  return systemProgram("/bin/sh", {
    args: ["-c", isLinux ? "cat /proc/[0-9]*/stat 2>/dev/null" : `ps -A ${columns.join(" ")}`],
    // The folder in which this program was started may have been removed.
    cwd: "/",
    stdout: "piped",
    stderr: "null",
    // Ctrl-Z must not stop it.
    detached: true,
  });
}

function processesIn(stdout: Uint8Array, dead = DEAD): Process[] {
  const text = new TextDecoder().decode(stdout);
  return (isLinux ? [...text.matchAll(STAT)].map(processRow) : text.split("\n").map(psRow))
    .filter(({ pid, state }) => pid > 1 && state !== "" && !dead.test(state));
}

function processRow(
  [, pid, name, state, parent, group, session, identity]: (string | undefined)[],
): Process {
  return {
    pid: Number(pid),
    state: state ?? "",
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    name: name ?? "",
    identity: identity ?? name ?? "",
  };
}

function psRow(row: string): Process {
  const [pid, state, parent, group, ...words] = row.trim().split(/\s+/);
  return processRow([row, pid, words.join(" "), state, parent, group]);
}
