/** Servers that are programs: one JSON message a line on stdin and stdout. @module */

import { linePeer } from "../rpc/line_peer.ts";
import { startLeader } from "../start_leader.ts";
import { stripEscapes } from "../text/sanitize.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { isAbsolute, join } from "../text/std_path.ts";
import { reasonOf } from "../text/reason.ts";
import { commandEnvironment } from "../tools/shell/command_environment.ts";
import { findProgram, programFolders } from "../tools/shell/find_program.ts";
import { endGroup, endNow } from "../tools/shell/process_group.ts";
import { atProgramEnd } from "../tools/shell/program_end.ts";
import type { Confine } from "../types/confine.ts";
import { within } from "../wire/wait.ts";
import type { Carrier, CarrierHandlers } from "./carrier.ts";
import type { McpDefinition } from "./definition.ts";

/** The time that a server has to end by itself once its stdin is closed, in ms, and then after SIGTERM. */
const LEAVE_MS = 300;
const END_MS = 700;
/** The most characters of stderr that are kept: its end. */
const MAX_WORDS = 4000;

interface ProgramOptions {
  /** The folder of the session, which the server works in. */
  folder: string;
  /** Names of variables that the server gets beside the usual ones. */
  env: readonly string[];
  confine?: Confine | undefined;
}

/**
 * Starts a server in a process group of its own, confined where that is wanted. Its environment is an
 * allow list, and what its definition names.
 *
 * @throws {Error} when it cannot be started: the end of a sentence about it.
 */
export async function startProgram(
  definition: McpDefinition,
  handlers: CarrierHandlers,
  { folder, env, confine }: ProgramOptions,
): Promise<Carrier> {
  const { program, network, isConfined } = definition;
  const { cwd = "." } = definition;
  const at = isAbsolute(cwd) ? cwd : join(definition.folder ?? folder, cwd);
  if (!(await Deno.stat(at).catch(() => undefined))?.isDirectory) {
    throw new Error(`its folder ${at} does not exist`);
  }
  const found = programPath(program!.command, at, folder);
  // A sandbox begins in the folder of the session.
  const [path, ...args] = at === folder
    ? [found, ...program!.args]
    : ["/bin/sh", "-c", 'cd -- "$0" && exec "$@"', at, found, ...program!.args] as const;
  const confined = isConfined
    ? await confine?.(path, args, network ? "network" : undefined)
    : undefined;
  let child: Deno.ChildProcess;
  try {
    const how = { cwd: at, env: { ...commandEnvironment(env), ...program!.env } };
    child = startLeader(confined?.program ?? path, confined?.args ?? args, how);
  } catch (error) {
    throw new Error(`it cannot be started: ${reasonOf(error)}`, { cause: error });
  }
  return new ProgramCarrier(child, folder, handlers, confined?.limits);
}

/** The program to start: never one of the folders' own, unless it is named by a path, from `at`. */
function programPath(command: string, at: string, folder: string): string {
  if (/[/\\]/.test(command)) return isAbsolute(command) ? command : join(at, command);
  if (Deno.build.os === "windows") return command;
  const folders = programFolders(folder, programFolders(at).join(":"));
  const found = findProgram(command, folders);
  if (found === undefined) throw new Error(`there is no program ${command} on PATH`);
  return found;
}

class ProgramCarrier implements Carrier {
  readonly peer: Carrier["peer"];
  #words = "";
  #ending: Promise<void> | undefined;
  readonly #release: () => void;
  readonly #reading: Promise<void>;

  constructor(
    private readonly child: Deno.ChildProcess,
    private readonly folder: string,
    handlers: CarrierHandlers,
    /** The limits of its sandbox, in a line, which it may have run into. */
    private readonly limits: string | undefined,
  ) {
    this.peer = linePeer({ ...handlers, input: child.stdout, output: child.stdin });
    this.#reading = this.#readWords();
    this.#release = atProgramEnd(() => endNow(child.pid, folder));
    // What it started may outlive it, and hold its stdout, where its last words are read first.
    child.status.then(() => within(LEAVE_MS, this.peer.closed)).then(() => this.end());
  }

  speaks(): void {}

  lastWords(): string {
    const lines = stripEscapes(this.#words).split("\n").map(oneLine).filter((line) => line !== "");
    // What went wrong often stands before a stack and the version of the interpreter.
    const error = lines.findLast((line) => /^\w*(error|exception)\b/i.test(line));
    const said = shortened(error ?? lines.slice(-3).join(" / "), 300);
    return [said, this.limits].filter(Boolean).join("; ");
  }

  end(): Promise<void> {
    return this.#ending ??= this.#end();
  }

  async #end(): Promise<void> {
    this.peer.close(new Error("it has ended"));
    await within(LEAVE_MS, this.child.status);
    await endGroup(this.child.pid, END_MS, this.folder);
    await within(END_MS, Promise.all([this.child.status, this.#reading]));
    this.#release();
  }

  /** Reads stderr all along: a server that writes to a full pipe would stop. */
  async #readWords(): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of this.child.stderr) {
        this.#words = (this.#words + decoder.decode(chunk, { stream: true })).slice(-MAX_WORDS);
      }
    } catch {
      // It has ended.
    }
  }
}
