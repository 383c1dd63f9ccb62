/** `copilot acp`: applies the settings of the command line to an editor's sessions. @module */

import { VERSION } from "../config.ts";
import { UsageError } from "../errors.ts";
import { serveEditor } from "../ui/acp/acp.ts";
import { EXIT } from "../exit_codes.ts";
import { parsePermissionChoice } from "../safety/choice.ts";
import { openPermissions } from "../safety/permissions.ts";
import { Session } from "../session/session.ts";
import { type Args, asUsage } from "./args.ts";
import { isServerOpen, optionsFromArgs, sessionOptions, toConfig } from "./settings.ts";
import { startDemo } from "./demo/server.ts";

const NO_SERVER =
  "No model configured. Run `copilot` in a terminal once to choose one, or start copilot acp with --local or --base-url URL";

/** Serves the editor on stdin and stdout. Returns the exit code. @throws {UsageError} for invalid flags. */
export async function runAcp(args: Args, signal: AbortSignal): Promise<number> {
  for (const flag of ["print", "output", "message", "continue", "resume", "json"] as const) {
    if (args[flag] !== undefined) throw new UsageError(`copilot acp takes no --${flag}`);
  }
  const demo = args.demo && startDemo("look");
  const given = optionsFromArgs(args);
  const options = demo ? { ...given, local: true, host: demo.host, model: demo.model } : given;
  try {
    await serveEditor({
      input: Deno.stdin.readable,
      output: Deno.stdout.writable,
      version: VERSION,
      setUp: {
        name: "Choose a model",
        description: "Lists the model servers of this machine and hosted ones; the choice is kept",
        args: [],
      },
      makeSession(folder, frontend, more) {
        if (isServerOpen(args)) throw new UsageError(NO_SERVER);
        const choice = { ...parsePermissionChoice(args), prefersAuto: "workspace-write" as const };
        const permissions = openPermissions(choice);
        const config = asUsage(() => toConfig(options), args);
        return asUsage(() =>
          new Session({
            ...sessionOptions(config, { ...options, workingDir: folder }, args, permissions),
            ...more,
          }, frontend)
        );
      },
      signal,
    });
    return EXIT.done;
  } finally {
    await demo?.close();
  }
}
