/** The server of a session: for `--continue`, and for the command that continues it. @module */

import { attempt } from "../attempt.ts";
import { UsageError } from "../errors.ts";
import type { UiKind } from "../session/hint_text.ts";
import { farewellLines } from "../ui/session_lines.ts";
import type { ServerSettings } from "../ui/server_settings.ts";
import { forkSession, newestSession, recordedFolder, sessionWithId } from "../session/record.ts";
import type { RecordFile } from "../records/recorder.ts";
import { targetOf } from "../models/target.ts";
import { oneLine } from "../text/one_line.ts";
import type { Args } from "./args.ts";
import { FLAGS_OF_SERVER } from "./defaults.ts";
import type { Env } from "./keys.ts";
import { isServerOpen, optionsFromArgs, toConfig } from "./settings.ts";

/**
 * Returns the flags of the server of the folder's newest session, and a line about it; undefined if a server is
 * configured, or if the record has no server. The record is in the user's state folder. Keys come from the user's
 * settings, never from the record.
 */
export function serverOfNewest(
  args: Args,
  ui: UiKind,
  env: Env = Deno.env,
): { flags: ServerSettings; line: string } | undefined {
  if (!isServerOpen(args, env)) return undefined;
  // If the record cannot be read, the session says so.
  const newest = args.resumes ??
    attempt(() => newestSession(Deno.realPathSync(args["working-dir"] ?? "."), ui === "flags"));
  const { kind, url } = newest?.used?.at ?? {};
  if (kind === undefined || url === undefined) return undefined;
  const flags = kind === "local"
    ? { local: true as const, host: url }
    : { ...kind === "hosted" && { hosted: true as const }, "base-url": url };
  // A hosted server without its key cannot be used.
  const isUsable =
    attempt(() => toConfig(optionsFromArgs({ ...args, ...flags }), env)) !== undefined;
  const naming = ui === "flags" ? "flags such as --local name" : "/setup or /model names";
  const line = `· with the session's own server, ${oneLine(url)} (${naming} another)`;
  return isUsable ? { flags, line } : undefined;
}

export function lastLines({ demo }: Args, record: RecordFile | undefined): string[] {
  if (demo) return ["To use a real model: copilot, without --demo"];
  return record === undefined ? [] : farewellLines(record);
}

/**
 * Returns `args` with the session of `--resume`, its folder and its server, unless the command line names others, and a
 * line about this server. @throws {UsageError}
 */
export function withResumed(args: Args, ui: UiKind): { args: Args; line?: string } {
  const { resume: id = "", "fork-session": isFork } = args;
  if (isFork && id === "" && !args.continue) {
    throw new UsageError("--fork-session needs --resume ID or --continue");
  }
  const isPrint = ui === "flags";
  if (id === "") {
    const newest = isFork && newestSession(Deno.realPathSync(args["working-dir"] ?? "."), isPrint);
    return { args: newest ? { ...args, resumes: forkSession(newest, isPrint) } : args };
  }
  const found = sessionWithId(id);
  const folder = args["working-dir"] ?? recordedFolder(found);
  const resumes = isFork ? forkSession(found, isPrint) : found;
  args = { ...args, resumes, "working-dir": folder };
  const ofServer: readonly string[] = FLAGS_OF_SERVER;
  if (Object.keys(args.given ?? {}).some((name) => ofServer.includes(name))) return { args };
  const at = attempt(() => targetOf(toConfig(optionsFromArgs(args))));
  const { kind, url } = resumes.used?.at ?? {};
  if (at?.kind === kind && at?.url === url) return { args };
  const open = Object.fromEntries(
    Object.entries(args).filter(([name]) => !ofServer.includes(name)),
  );
  const own = serverOfNewest(open, ui);
  return own === undefined ? { args } : { args: { ...open, ...own.flags }, line: own.line };
}
