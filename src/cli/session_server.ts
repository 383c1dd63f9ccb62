/** The server of a session: for `--continue`, and for the command that continues it. @module */

import { attempt } from "../attempt.ts";
import type { CopilotConfig } from "../config.ts";
import type { Way } from "../session/hint_text.ts";
import { farewellLines } from "../ui/session_lines.ts";
import type { ServerSettings } from "../ui/server_settings.ts";
import { recordedSessions, type RecordFile } from "../session/record.ts";
import { type ModelTarget, targetOf } from "../models/target.ts";
import { oneLine } from "../text/one_line.ts";
import { type Args, comeBackCommand } from "./args.ts";
import { FLAGS_OF_SERVER } from "./defaults.ts";
import type { Env } from "./keys.ts";
import { isServerOpen, optionsFromArgs, toConfig } from "./settings.ts";

/**
 * Returns the flags of the server of the folder's newest session, and a line about it; undefined if a server is
 * configured, or if the record has none. The record is in the user's state folder. Keys come from the user's
 * settings, never from the record.
 */
export function serverOfNewest(
  args: Args,
  way: Way,
  env: Env = Deno.env,
): { flags: ServerSettings; line: string } | undefined {
  if (!isServerOpen(args, env)) return undefined;
  // Where none can be read, the session says so.
  const [newest] = attempt(() => {
    const folder = Deno.realPathSync(args["working-dir"] ?? ".");
    return [...Iterator.from(recordedSessions(folder)).take(1)];
  }) ?? [];
  const { kind, url } = newest?.used?.at ?? {};
  if (kind === undefined || url === undefined) return undefined;
  const flags = flagsOf({ kind, url });
  // A hosted server without its key cannot be used.
  const isUsable =
    attempt(() => toConfig(optionsFromArgs({ ...args, ...flags }), env)) !== undefined;
  const naming = way === "flags" ? "flags such as --local name" : "/setup or /model names";
  const line = `· with the session's own server, ${oneLine(url)} (${naming} another)`;
  return isUsable ? { flags, line } : undefined;
}

function flagsOf({ kind, url }: Pick<ModelTarget, "kind" | "url">): ServerSettings {
  if (kind === "local") return { local: true, host: url };
  return { ...kind === "hosted" && { hosted: true }, "base-url": url };
}

interface Course {
  given: Args;
  start: CopilotConfig;
  end: CopilotConfig;
}

/** The last lines of a session: how to continue it if it is recorded, or after the demo, how to use a model. */
export function lastLines(course: Course, record: RecordFile | undefined): string[] {
  if (course.given.demo) return ["To use a real model: copilot, without --demo"];
  if (record === undefined) return [];
  return farewellLines(comeBackCommand(flagsBack(course), record.folder), record);
}

/** Returns the flags for the server and model at the end, without a password in the address. */
function flagsBack({ given, start, end }: Course): Args {
  const [before, now] = [targetOf(start), targetOf(end)];
  const isSame = (["kind", "url", "name"] as const).every((key) => before[key] === now[key]);
  if (isSame) return given;
  const ofServer: readonly string[] = FLAGS_OF_SERVER;
  const others = Object.entries(given).filter(([name]) => !ofServer.includes(name));
  const url = now.url.replace(/(?<=:\/\/)[^/]*@/, "");
  return { ...Object.fromEntries(others), ...flagsOf({ ...now, url }), model: now.name };
}
