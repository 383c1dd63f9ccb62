/** The sandbox of this machine, tried out before it is relied on. @module */

import { PathTable } from "../path_table.ts";
import { bubblewrapArgs, type Confinement, seatbeltProfile } from "./wrap.ts";

export interface Sandbox {
  /** The program that confines them, such as `bubblewrap`. */
  by: string;
  /** The program and arguments to start in place of `program` with `args`. */
  wrap(
    program: string,
    args: readonly string[],
    confinement: Omit<Confinement, "look" | "paths">,
  ): [program: string, args: string[]];
}

/** The places of bubblewrap that are trusted: a folder of PATH could bring a program of its own. */
const BWRAP = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];
const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
/** Longer than any start of a sandbox takes, in milliseconds. */
const PROBE_MS = 10_000;

/** The sandbox of this machine, or the reason why there is none, in words. */
export async function findSandbox(
  paths = new PathTable({ home: Deno.env.get("HOME") }),
  os: string = Deno.build.os,
): Promise<Sandbox | string> {
  const finders: Record<string, typeof bubblewrap> = { darwin: seatbelt, linux: bubblewrap };
  const sandbox = finders[os]?.(paths) ?? `there is none for ${os}`;
  if (typeof sandbox === "string") return sandbox;
  const fault = await faultOf(sandbox, paths.home);
  return fault === undefined ? sandbox : `${sandbox.by} does not work here: ${fault}`;
}

function bubblewrap(paths: PathTable): Sandbox | string {
  const program = BWRAP.find(entryExists);
  if (!program) return "bubblewrap is not installed (the package is called bubblewrap)";
  return {
    by: "bubblewrap",
    wrap(shell, args, confinement) {
      const all = { ...confinement, paths, sockets: sockets(), look: entryAt };
      return [program, [...bubblewrapArgs(all), shell, ...args]];
    },
  };
}

function seatbelt(paths: PathTable): Sandbox | string {
  if (!entryExists(SANDBOX_EXEC)) return "sandbox-exec is missing";
  return {
    by: "sandbox-exec",
    wrap(shell, args, confinement) {
      return [SANDBOX_EXEC, ["-p", seatbeltProfile({ ...confinement, paths }), shell, ...args]];
    },
  };
}

/** The fault of a sandbox, found by trying: a write inside must succeed, writes outside must fail. */
async function faultOf(sandbox: Sandbox, home: string | undefined): Promise<string | undefined> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "copilot-probe-" }));
  const inside = `${base}/inside`;
  const outside = [`${base}/outside`, `${home ?? base}/.${base.split("/").pop()}`];
  try {
    await Deno.mkdir(inside);
    const script = 'true >in || exit 9; for path; do true 2>/dev/null >"$path"; done; exit 0';
    const limits = { mode: "workspace-write", folder: inside, network: false } as const;
    const shellArgs = ["-c", script, "sh", ...outside];
    const [program, args] = sandbox.wrap("/bin/sh", shellArgs, limits);
    const signal = AbortSignal.timeout(PROBE_MS);
    const streams = { stdin: "null", stdout: "null", stderr: "piped" } as const;
    const { code, stderr } = await new Deno.Command(program, { args, signal, ...streams }).output();
    if (outside.some(entryExists)) return "a write outside of the folder went through";
    if (code === 0 && entryExists(`${inside}/in`)) return undefined;
    return new TextDecoder().decode(stderr).trim().split("\n")[0]!.slice(0, 200) ||
      `exit code ${code}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    for (const path of [base, outside[1]!]) {
      await Deno.remove(path, { recursive: true }).catch(() => {});
    }
  }
}

/** The sockets in the file system, by a program, as Deno reads nothing of `/proc` unless it may read all. */
function sockets(): string[] {
  const { stdout } = new Deno.Command("/bin/cat", {
    args: ["/proc/self/status", "/proc/net/unix"],
    stdin: "null",
    stderr: "null",
  }).outputSync();
  const text = new TextDecoder().decode(stdout);
  const isRoot = /^Uid:\s+\d+\s+0\s/m.test(text);
  const paths = text.matchAll(/^(?:\S+ +){7}(\/.*)$/gm);
  return [...new Set([...paths].map(([, path]) => path!))].filter((path) => {
    try {
      const { isSocket } = Deno.statSync(path);
      // Confined, root gets nowhere by being root, and nothing can be mounted there.
      return isSocket && (!isRoot || isSearchable(Deno.realPathSync(path)));
    } catch {
      return false;
    }
  });
}

/** True where root may search the folders above `path` as anybody may. */
function isSearchable(path: string): boolean {
  const above = path.slice(0, path.lastIndexOf("/"));
  if (above === "") return true;
  const { uid, mode } = Deno.statSync(above);
  return (uid === 0 || (mode! & 1) !== 0) && isSearchable(above);
}

function entryExists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function entryAt(path: string): ReturnType<Confinement["look"]> {
  try {
    const real = Deno.realPathSync(path);
    return { real, isFile: !Deno.statSync(real).isDirectory };
  } catch {
    return undefined;
  }
}
