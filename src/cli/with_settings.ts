/** Runs the program with the settings of the command line, and the demo's server if it was asked for. @module */

import type { CopilotConfig } from "../config.ts";
import { UsageError } from "../errors.ts";
import { type Args, asUsage } from "./args.ts";
import { type CopilotOptions, NoServerError, optionsFromArgs, toConfig } from "./settings.ts";

export const DEMO_NOTICE = "· demo: a script plays the model";

/** Calls `use` with the settings of the command line, while the demo runs if it was asked for. */
export async function withSettings(
  args: Args,
  scene: "tour" | "look",
  use: (config: CopilotConfig, options: CopilotOptions) => Promise<number>,
): Promise<number> {
  let options = optionsFromArgs(args);
  const demo = args.demo && (await import("./demo/server.ts")).startDemo(scene);
  if (demo) {
    const { host, model, folder = options.workingDir } = demo;
    options = { ...options, local: true, host, model, workingDir: folder };
  }
  try {
    return await use(asUsage(() => toConfig(options), args), options);
  } catch (error) {
    if (!(error instanceof NoServerError)) throw error;
    throw new UsageError(await (await import("./doctor_search.ts")).noServerText());
  } finally {
    await demo?.close();
  }
}
