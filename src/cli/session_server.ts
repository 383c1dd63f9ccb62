/** The server that a session was with: for `--continue`, and for the command that leads back to it. @module */

import { attempt } from "../attempt.ts";
import type { CopilotConfig } from "../config.ts";
import type { Way } from "../frontends/hint_text.ts";
import { farewellLines } from "../frontends/session_lines.ts";
import type { ServerSettings } from "../frontends/server_settings.ts";
import { recordedSessions, type RecordFile } from "../session/record.ts";
import { type ModelTarget, targetOf } from "../model_target.ts";
import { oneLine } from "../text/one_line.ts";
import { type Args, comeBackCommand } from "./args.ts";
import { FLAGS_OF_SERVER, withDefaults } from "./defaults.ts";
import type { Env } from "./keys.ts";
import { isServerOpen, optionsFromArgs, toConfig } from "./settings.ts";

/**
 * The flags of the server that the newest session of the folder was with, and a line that says so; undefined where a server is said, or the record has none that can be asked. The
 * record is the person's own, as it lies in the folder of state; a key comes from where the person keeps
 * it, never from there.
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
  // Without its key a hosted server is none that can be asked.
  const isUsable =
    attempt(() => toConfig(optionsFromArgs({ ...args, ...flags }), env)) !== undefined;
  const naming = way === "flags" ? "flags such as --local name" : "/setup or /model names";
  const line = `· with the session's own server, ${oneLine(url)} (${naming} another)`;
  return isUsable ? { flags, line } : undefined;
}

type Server = Pick<ModelTarget, "kind" | "url">;

function flagsOf({ kind, url }: Server): ServerSettings {
  if (kind === "local") return { local: true, host: url };
  return { ...kind === "hosted" && { hosted: true }, "base-url": url };
}

/** The flags of a session, and the settings that it began with and that it has at its end. */
interface Course {
  /** The flags of the command line alone. */
  given: Args;
  start: CopilotConfig;
  end: CopilotConfig;
}

/** The last lines of a session: how to continue it if it is recorded, or after the demo, how to use a model. */
export function lastLines(
  course: Course,
  record: RecordFile | undefined,
  env: Env = Deno.env,
): string[] {
  if (course.given.demo) return ["To use a real model: copilot, without --demo"];
  if (record === undefined) return [];
  return farewellLines(comeBackCommand(flagsBack(course, env), record.folder), record);
}

/**
 * The flags that lead to the server and the model of the end. Those that were given do where they led there,
 * and config.json may; a password in an address is not shown.
 */
function flagsBack({ given, start, end }: Course, env: Env): Args {
  const now = targetOf(end);
  const isMoved = !isSameServer(targetOf(start), now);
  const rest = isMoved ? withoutServer(given) : given;
  const found = attempt(() => {
    const args = withDefaults(rest, (name) => env.get(name));
    // The record says the server then.
    if (!isMoved && isServerOpen(args, env)) return { server: now, model: undefined };
    return { server: targetOf(toConfig(optionsFromArgs(args), env)), model: args.model };
  });
  if (found === undefined || !isSameServer(found.server, now)) {
    const url = now.url.replace(/(?<=:\/\/)[^/]*@/, "");
    return { ...withoutServer(given), ...flagsOf({ ...now, url }) };
  }
  // The model of the record is taken up, unless another one is named.
  const isOther = found.model !== undefined && found.model !== now.name;
  return { ...rest, ...isOther && { model: now.name } };
}

function isSameServer(a: Server, b: Server): boolean {
  return a.kind === b.kind && a.url === b.url;
}

function withoutServer(args: Args): Args {
  const left: readonly string[] = FLAGS_OF_SERVER;
  return Object.fromEntries(Object.entries(args).filter(([name]) => !left.includes(name)));
}
