import type { CopilotConfig } from "../config.ts";
import { TerminalFrontend } from "../frontends/terminal/terminal_frontend.ts";
import { parsePermissionChoice } from "../permissions/choice.ts";
import { openPermissions } from "../session/permissions.ts";
import { Session } from "../session/session.ts";
import { makeSane } from "../terminal/tty.ts";
import type { Args } from "./args.ts";
import { type CopilotOptions, modelFlags, sessionOptions, toConfig } from "./settings.ts";
import { onSignals } from "./signals.ts";

/**
 * Starts the interactive copilot in the terminal (spec 4.1); resolves to its exit code.
 * @throws {TypeError} {RangeError} when an option is bad.
 * @throws {UsageError} when a key is missing, or options contradict each other.
 */
export async function copilot(options: CopilotOptions = {}): Promise<number> {
  return await runInTerminal(toConfig(options), options);
}

/** Runs a session in the terminal; the exit code. `checked` makes it, with errors of its own. */
export async function runInTerminal(
  config: CopilotConfig,
  options: CopilotOptions,
  { args = {}, motto, comeBack, checked = (make) => make() }: {
    args?: Args;
    motto?: string | undefined;
    comeBack?: (folder: string) => string;
    checked?: (make: () => Session) => Session;
  } = {},
): Promise<number> {
  const choice = { ...parsePermissionChoice(args), prefersAuto: true };
  const [permissions] = await Promise.all([openPermissions(choice), makeSane()]);
  const frontend = new TerminalFrontend({
    notifies: !args["no-notify"],
    motto,
    message: args.message,
    comeBack,
    onSignals,
  });
  const settings = { ...sessionOptions(config, options, args, permissions), modelFlags };
  await using session = checked(() => new Session(settings, frontend));
  return await frontend.run(session);
}
