/** Servers that are programs: one JSON message per line on stdin and stdout. @module */

import { linePeer } from "../../rpc/line_peer.ts";
import { startLeader } from "../../start_program.ts";
import { makeTempFolder, removeTempFolder } from "../../temp_folder.ts";
import { stripEscapes } from "../../text/sanitize.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { isAbsolute, join } from "../../text/std_path.ts";
import { reasonOf } from "../../text/reason.ts";
import { commandEnvironment } from "../../tools/shell/command_environment.ts";
import { findProgram, programFolders } from "../../find_program.ts";
import { endGroup, endNow, stopWithProgram } from "../../tools/shell/process_group.ts";
import { atProgramEnd } from "../../tools/shell/program_end.ts";
import { sandboxLimitText } from "../../tools/shell/limit_text.ts";
import type { Confine, ConfinedProgram } from "../../types/confine.ts";
import { namedReads } from "../../safety/readable_folders.ts";
import { within } from "../../wire/wait.ts";
import { type McpDefinition, runsFolder, wordsFrom } from "./definition.ts";
import type { Carrier, CarrierHandlers } from "./http.ts";

/** The time for a server to exit after its stdin was closed, and then after SIGTERM, in ms. */
const LEAVE_MS = 300;
const END_MS = 700;
/** Starts a program in a folder that may be missing in a sandbox with its own `/tmp`. */
const ENTER_FOLDER = 'mkdir -p -- "$0" 2>/dev/null; cd -- "$0" && exec "$@"';
/** The same in an empty folder, in place of which a sandboxed program has one in its own `/tmp`. */
const ENTER_EMPTY = `if ! cd -- "$0" 2>/dev/null; then
  at=/tmp/\${0##*/}
  mkdir -- "$at" && cd -- "$at" || exit
fi
exec "$@"`;
const MAX_WORDS = 4000;

/**
 * Starts a server in its own process group, sandboxed if requested. Its environment is an allow list plus the
 * variables of its definition.
 *
 * @throws {Error} with the end of a sentence about the server, if it cannot be started.
 */
export async function startProgram(
  definition: McpDefinition,
  handlers: CarrierHandlers,
  { folder, env, confine }: {
    folder: string;
    env: readonly string[];
    confine?: Confine | undefined;
  },
): Promise<Carrier> {
  const { program, network, isSandboxed } = definition;
  const { cwd = "." } = definition;
  // It may have secrets, which a file of the session's folder, as in `node_modules`, must not get.
  const isAlone = definition.cwd === undefined && !runsFolder(definition);
  const ownFolder = isAlone ? makeTempFolder("copilot-mcp-") : undefined;
  const at = ownFolder ?? (isAbsolute(cwd) ? cwd : join(definition.folder ?? folder, cwd));
  if (!(await Deno.stat(at).catch(() => undefined))?.isDirectory) {
    throw new Error(`its folder ${at} does not exist`);
  }
  const found = programPath(program!.command, at, folder);
  const { folder: base = folder, scope } = definition;
  const words = isAlone && scope === "folder" ? wordsFrom(base, program!.args) : program!.args;
  // A sandbox starts in the session's folder, with its own /tmp.
  const [path, ...args] = at === folder || Deno.build.os === "windows"
    ? [found, ...words] as const
    : ["/bin/sh", "-c", isAlone ? ENTER_EMPTY : ENTER_FOLDER, at, found, ...words] as const;
  const isOwn = /^(user|given)$/.test(scope);
  const reads = isOwn ? namedReads([found, ...words], folder) : [];
  const confined = isSandboxed
    ? await confine?.(path, args, network ? { kind: "network" } : undefined, { reads })
    : undefined;
  const end = () => {
    confined?.finish?.("");
    if (ownFolder !== undefined) removeTempFolder(ownFolder);
  };
  let child: Deno.ChildProcess;
  try {
    const outer = Deno.build.os !== "windows" && { PATH: programFolders(folder).join(":") };
    const ofPlugin = scope === "plugin" && { CLAUDE_PLUGIN_ROOT: definition.folder ?? "" };
    const named = ofPlugin ? [] : env;
    const usual = { ...commandEnvironment(named), ...outer, ...confined?.variables, ...ofPlugin };
    const how = { cwd: at, env: { ...usual, ...program!.env } };
    child = startLeader(confined ?? { program: path, args: [...args] }, how);
    if (confined?.finish) stopWithProgram(child);
  } catch (error) {
    end();
    throw new Error(`it cannot be started: ${reasonOf(error)}`, { cause: error });
  }
  return new ProgramCarrier(child, handlers, confined, end, definition.scope);
}

/** Returns the program to start. One of the folder itself runs only if a path names it, relative to `at`. */
function programPath(command: string, at: string, folder: string): string {
  if (/[/\\]/.test(command)) return isAbsolute(command) ? command : join(at, command);
  if (Deno.build.os === "windows") return command;
  const folders = programFolders(folder, programFolders(at).join(":"));
  const found = findProgram(command, folders, folder);
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
    handlers: CarrierHandlers,
    private readonly confined: ConfinedProgram | undefined,
    private readonly onEnd: () => void,
    private readonly scope: McpDefinition["scope"],
  ) {
    const onIgnored = (why: string) => this.#words ||= `its stdout is not MCP: ${why}\n`;
    this.peer = linePeer({ ...handlers, onIgnored, input: child.stdout, output: child.stdin });
    this.#reading = this.#readWords();
    this.#release = atProgramEnd(() => {
      endNow(child);
      onEnd();
    });
    // Processes that it started may outlive it and keep its stdout open. Its last output is read first.
    child.status.then(() => within(LEAVE_MS, this.peer.closed)).then(() => this.end());
  }

  lastWords(): string {
    const lines = stripEscapes(this.#words).split("\n").map(oneLine)
      .filter((line) => !/^$|^npm (notice|warn)\b/i.test(line));
    // The error often precedes a stack trace and the interpreter's version.
    const error = lines.findLast((line) => /^\w*(error|exception)\b/i.test(line));
    const said = shortened(error ?? lines.slice(-3).join(" / "), 300);
    return [said, this.#limits()].filter(Boolean).join("; ");
  }

  limitIn(error: string): string | undefined {
    const limit = this.confined?.limitOf?.({ command: "", code: 1, stderr: error });
    if (!limit || this.scope === "plugin") return undefined;
    const network = this.scope === "folder"
      ? '"network": true in its definition'
      : "copilot mcp add without --no-network";
    return sandboxLimitText(limit).replace("--network", network)
      .replace("--sandbox off", "copilot mcp add --no-sandbox");
  }

  #limits(): string | undefined {
    const limit = this.limitIn(this.#words);
    if (limit) return limit;
    const limits = this.confined?.limits;
    const more = this.scope === "plugin" ? "" : ", copilot mcp add --no-sandbox lifts all limits";
    return limits &&
      `${limits}: "sandboxRead" and "sandboxWrite" in permissions.json open more files${more}`;
  }

  end(): Promise<void> {
    return this.#ending ??= this.#end();
  }

  async #end(): Promise<void> {
    this.peer.close(new Error("it has ended"));
    await within(LEAVE_MS, this.child.status);
    await endGroup(this.child.pid, END_MS);
    await within(END_MS, Promise.all([this.child.status, this.#reading]));
    this.#release();
    this.onEnd();
  }

  /** Reads stderr continuously: a server that writes to a full pipe would block. */
  async #readWords(): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of this.child.stderr) {
        this.#words = (this.#words + decoder.decode(chunk, { stream: true })).slice(-MAX_WORDS);
      }
    } catch {
      // It has exited.
    }
  }
}
