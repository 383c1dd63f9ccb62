import type { CopilotConfig } from "../config.ts";
import { TerminalFrontend } from "../ui/terminal/session/terminal_frontend.ts";
import { parsePermissionChoice } from "../safety/choice.ts";
import { openPermissions } from "../session/permissions.ts";
import { Session } from "../session/session.ts";
import { UsageError } from "../errors.ts";
import { type Keymap, keymapOf } from "../ui/terminal/line/actions.ts";
import { makeSane } from "../ui/terminal/tty.ts";
import type { Args } from "./args.ts";
import { keepTheme } from "./defaults.ts";
import { type CopilotOptions, modelFlags, sessionOptions, themeOf, toConfig } from "./settings.ts";

import { setupHome } from "./setup.ts";
import { onSignals } from "./signals.ts";

/**
 * Starts the interactive copilot in the terminal (spec 4.1); resolves to its exit code.
 * @throws {TypeError} {RangeError} when an option is bad.
 * @throws {UsageError} when a key is missing, or options contradict each other.
 */
export async function copilot(options: CopilotOptions = {}): Promise<number> {
  const config = toConfig(options);
  using frontend = terminalFrontend({});
  return await runInTerminal(frontend, config, options);
}

/** Creates the terminal for a setup and a session. `lastLines` returns the lines to show after the session. */
export function terminalFrontend(
  args: Args,
  lastLines?: (session: Session) => Promise<readonly string[]>,
): TerminalFrontend {
  const { message } = args;
  return new TerminalFrontend({
    notifies: !args["no-notify"],
    theme: themeOf(args),
    keymap: keymapFor(args),
    message,
    lastLines,
    setup: setupHome(),
    doctor: async (session, output) => {
      const { examineSession } = await import("./doctor.ts");
      await examineSession(session, {
        ...parsePermissionChoice(args),
        prefersAuto: "workspace-write" as const,
      }, output);
    },
    keepTheme,
    onSignals,
  });
}

/** Returns the key bindings. @throws {UsageError} if config.json binds an unknown key or action. */
function keymapFor({ bindings, vim }: Args): Keymap {
  try {
    return keymapOf(bindings?.keys, vim);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`Cannot use "keys" in ${bindings?.path}: ${error.message}`);
  }
}

/** Runs a session in the terminal and returns the exit code. `checked` creates it and converts its errors. */
export async function runInTerminal(
  frontend: TerminalFrontend,
  config: CopilotConfig,
  options: CopilotOptions,
  { args = {}, motto, checked = (make) => make() }: {
    args?: Args;
    motto?: string | undefined;
    checked?: (make: () => Session) => Session;
  } = {},
): Promise<number> {
  const choice = { ...parsePermissionChoice(args), prefersAuto: "workspace-write" as const };
  const [permissions] = await Promise.all([openPermissions(choice), makeSane()]);
  const settings = {
    ...sessionOptions(config, options, args, permissions),
    modelFlags,
  };
  await using session = checked(() => new Session(settings, frontend));
  return await frontend.run(session, motto);
}
