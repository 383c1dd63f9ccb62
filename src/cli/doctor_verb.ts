import { UsageError } from "../errors.ts";
import { parsePermissionChoice } from "../safety/choice.ts";
import { ModelFit } from "../session/fit_model.ts";
import { openPermissions } from "../safety/permissions.ts";
import { type Args, asUsage } from "./args.ts";
import { runDoctor } from "./doctor.ts";
import { searchServers } from "./doctor_search.ts";
import type { Run } from "./process.ts";
import { isServerOpen, optionsFromArgs, toConfig } from "./settings.ts";
import { setupHome } from "./setup.ts";

export async function runDoctorVerb(args: Args, run: Run): Promise<number> {
  if (args.demo) throw new UsageError("doctor examines a model server: leave out --demo");
  const output = {
    json: args.json === true,
    columns: Deno.stdout.isTerminal() ? Deno.consoleSize().columns : 80,
    write: (text: string) => run.stdout.write(text),
    signal: run.signal,
  };
  if (isServerOpen(args)) {
    const found = await searchServers(setupHome(), output);
    if (typeof found === "number") return found;
    args = { ...args, ...found };
  }
  const options = optionsFromArgs(args);
  return await runDoctor(asUsage(() => toConfig(options), args), {
    permissions: openPermissions(parsePermissionChoice(args, "workspace-write")),
    fit: new ModelFit({ isChosen: options.model !== undefined, asksRemote: true }),
    roles: args.roles ?? {},
    ui: "flags",
    ...output,
  });
}
