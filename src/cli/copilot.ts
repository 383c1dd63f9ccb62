import { TerminalFrontend } from "../frontends/terminal/terminal_frontend.ts";
import { openPermissions } from "../session/permissions.ts";
import { Session } from "../session/session.ts";
import { modelFlags } from "./model_flags.ts";
import { type CopilotOptions, toConfig } from "./settings.ts";
import { onSignals } from "./signals.ts";

/**
 * Starts the interactive copilot in the terminal (spec 4.1); resolves to the exit code when it is
 * left.
 *
 * @throws {TypeError} {RangeError} when an option is bad.
 * @throws {UsageError} when a key is missing, or options contradict each other.
 */
export async function copilot(options: CopilotOptions = {}): Promise<number> {
  const config = toConfig(options);
  const permissions = await openPermissions({});
  const frontend = new TerminalFrontend({ permissions, notifies: true, onSignals });
  await using session = new Session({
    config,
    isChosen: options.model !== undefined,
    folder: options.workingDir,
    permissions,
    readsInstructions: true,
    isRecorded: true,
    canUndo: true,
    asksServer: "at-start",
    modelFlags,
  }, frontend);
  return await frontend.run(session);
}
