import { runInteractive } from "../frontends/terminal/interactive.ts";
import { openPermissions } from "../session/permissions.ts";
import { type CopilotOptions, toConfig } from "./settings.ts";

/**
 * Starts the interactive copilot in the terminal (spec 4.1); resolves to the exit code when it is
 * left.
 *
 * @throws {TypeError} {RangeError} when an option is bad.
 * @throws {UsageError} when a key is missing, or options contradict each other.
 */
export async function copilot(options: CopilotOptions = {}): Promise<number> {
  return await runInteractive(toConfig(options), {
    permissions: await openPermissions({}),
    workingDir: options.workingDir,
    isChosen: options.model !== undefined,
  });
}
