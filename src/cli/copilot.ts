import type { CopilotConfig, Theme } from "../config.ts";
import { TerminalFrontend } from "../ui/terminal/session/terminal_frontend.ts";
import { parsePermissionChoice } from "../safety/choice.ts";
import { openPermissions } from "../safety/permissions.ts";
import { Session } from "../session/session.ts";
import { UsageError } from "../errors.ts";
import { type Keymap, keymapOf } from "../ui/terminal/line/actions.ts";
import { makeSane } from "../ui/terminal/tty.ts";
import { canEdit } from "../ui/terminal/line/input.ts";
import { EXIT } from "../exit_codes.ts";
import { type Args, asUsage } from "./args.ts";
import { TOUR } from "./demo/scenes.ts";
import { backgrounds } from "./backgrounds.ts";
import { serversOf } from "./flag_files.ts";
import { keepTheme, keepUserSecrets } from "./defaults.ts";
import { lastLines } from "./session_server.ts";
import { DEMO_NOTICE, withSettings } from "./with_settings.ts";
import { type CopilotOptions, isServerOpen, sessionOptions, toConfig } from "./settings.ts";
import { setupHome } from "./setup.ts";
import { onSignals } from "./process.ts";
import { examineSession } from "./doctor.ts";

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
function terminalFrontend(
  args: Args,
  lastLines?: (session: Session) => readonly string[],
): TerminalFrontend {
  const { message } = args;
  return new TerminalFrontend({
    notifies: !args["no-notify"],
    theme: (args.theme ?? "auto") as Theme,
    keymap: keymapFor(args),
    statusParts: args.status,
    backgrounds: backgrounds(),
    message,
    picksSession: args.resume === "",
    lastLines,
    setup: setupHome(),
    doctor: async (session, output) => {
      await examineSession(session, permissionChoice(args), output);
    },
    keepTheme,
    keepUserSecrets,
    onSignals,
  });
}

const permissionChoice = (args: Args) => parsePermissionChoice(args, "workspace-write");

function keymapFor({ bindings, vim }: Args): Keymap {
  try {
    return keymapOf(bindings?.keys, vim);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`Cannot use "keys" in ${bindings?.path}: ${error.message}`);
  }
}

/** Runs a session in the terminal and returns the exit code. `checked` creates it and converts its errors. */
async function runInTerminal(
  frontend: TerminalFrontend,
  config: CopilotConfig,
  options: CopilotOptions,
  args: Args = {},
  motto?: string,
  checked: typeof asUsage<Session> = (make) => make(),
): Promise<number> {
  const [permissions] = await Promise.all([openPermissions(permissionChoice(args)), makeSane()]);
  const servers = await serversOf(args, permissions);
  const settings = sessionOptions(config, options, args, permissions, servers);
  await using session = checked(() => new Session(settings, frontend), args);
  return await frontend.run(session, motto, args.demo && TOUR);
}

export async function runSession(args: Args, line?: string): Promise<number> {
  let code: number = EXIT.hangup;
  try {
    using frontend = terminalFrontend(args, ({ record }) => lastLines(args, record?.file));
    if (canEdit() && isServerOpen(args)) {
      const chosen = await frontend.setUp(line);
      line = undefined;
      if (typeof chosen === "number") return chosen;
      if (chosen === undefined) throw new UsageError(NOTHING_CHOSEN);
      args = { ...args, ...chosen };
    }
    if (args.demo) args = { approve: "ask", ...args };
    code = await withSettings(args, "tour", (config, options) => {
      const motto = args.demo ? `${DEMO_NOTICE}. Press Enter to send what is in the line.` : line;
      return runInTerminal(frontend, config, options, args, motto, asUsage);
    });
  } catch (error) {
    if (Deno.stdin.isTerminal()) throw error;
  }
  // The window was closed: reading ended, or writing failed, possibly before the signal arrived.
  return Deno.stdin.isTerminal() ? code : EXIT.hangup;
}

const NOTHING_CHOSEN =
  "No model was chosen. Run copilot again for the list, copilot --demo for a tour without a model, or name a server with --local, --base-url or --hosted";
