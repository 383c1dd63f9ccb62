/** The server of an earlier session, for `--continue` where nothing else says which one is asked. @module */

import { attempt } from "../attempt.ts";
import type { ServerSettings } from "../frontends/terminal/setup.ts";
import { recordedSessions } from "../session/record.ts";
import { oneLine } from "../text/one_line.ts";
import type { Args } from "./args.ts";
import type { Env } from "./keys.ts";
import { isServerOpen, optionsFromArgs, toConfig } from "./settings.ts";

/**
 * The flags of the server that the newest session of the folder was with, and a line that says so;
 * undefined where a server is said, or the record has none that can be asked. The record is the person's
 * own, as it lies in the folder of state; a key comes from where the person keeps it, never from there.
 */
export function serverOfNewest(
  args: Args,
  env: Env = Deno.env,
): { flags: ServerSettings; line: string } | undefined {
  if (!isServerOpen(args, env)) return undefined;
  const folder = attempt(() => Deno.realPathSync(args["working-dir"] ?? "."));
  const [newest] = folder === undefined ? [] : Iterator.from(recordedSessions(folder)).take(1);
  const { kind, url } = newest?.used?.at ?? {};
  if (kind === undefined || url === undefined) return undefined;
  const flags: ServerSettings = kind === "local"
    ? { local: true, host: url }
    : { ...kind === "hosted" && { hosted: true }, "base-url": url };
  // Without its key a hosted server is none that can be asked.
  const isUsable =
    attempt(() => toConfig(optionsFromArgs({ ...args, ...flags }), env)) !== undefined;
  const line = `· with the session's own server, ${
    oneLine(url)
  } (flags such as --local name another)`;
  return isUsable ? { flags, line } : undefined;
}
