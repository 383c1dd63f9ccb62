/**
 * Headless turns of the real program that call tools.
 *
 * @module
 */

import { run } from "./program.ts";
import { type Step, strictServer } from "./strict_server.ts";

/** A call of `run_bash`. */
export const bash = (command: string): Step => ({
  toolCalls: [{ name: "run_bash", arguments: { command } }],
});
/** A call of another tool. */
export const use = (name: string, args: Record<string, unknown>): Step => ({
  toolCalls: [{ name, arguments: args }],
});

/** What became of a turn. */
export interface Ran {
  code: number;
  stderr: string;
  /** The results of the tools, as the model got them. */
  results: string[];
  folder: string;
}

/** What is there before a turn. */
export interface Files {
  /** The person's rules; FOLDER stands for the folder that is worked in. */
  own?: unknown;
  /** The folder's. */
  project?: unknown;
  env?: (folder: string, base: string) => Record<string, string>;
  prepare?: (folder: string, base: string) => Promise<void> | void;
}

/** What --yes lets run depends on the machine's sandbox: only tests of that leave it open. */
const UNCONFINED = ["--sandbox", "off"];

/** One headless turn that calls tools, in a folder of its own below another one. */
export async function turn(
  calls: Step[],
  flags: string[],
  { own, project, env, prepare }: Files = {},
  check: (ran: Ran) => Promise<void> | void,
): Promise<void> {
  await using server = strictServer([...calls, { text: "Done." }], { models: ["test"] });
  const base = await Deno.realPath(await Deno.makeTempDir());
  const folder = `${base}/folder`;
  try {
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/a.txt`, "one\n");
    await Deno.writeTextFile(`${base}/canary`, "outside\n");
    if (own !== undefined) {
      await Deno.mkdir(`${base}/config/copilot`, { recursive: true });
      const text = JSON.stringify(own).replaceAll("FOLDER", folder);
      await Deno.writeTextFile(`${base}/config/copilot/permissions.json`, text);
    }
    if (project !== undefined) {
      await Deno.mkdir(`${folder}/.copilot`);
      await Deno.writeTextFile(`${folder}/.copilot/permissions.json`, JSON.stringify(project));
    }
    await prepare?.(folder, base);
    const words = ["--local", "--host", server.url, "-m", "test", "-p", "go", "--output", "json"];
    const { code, stdout, stderr } = await run(
      [
        ...words,
        ...flags,
        ...flags.includes("--yes") && !flags.includes("--sandbox") ? UNCONFINED : [],
      ],
      { cwd: folder, env: { XDG_CONFIG_HOME: `${base}/config`, ...env?.(folder, base) } },
    );
    const result = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "{}");
    const results = (result.toolExecutions ?? []).map((exec: { result: string }) => exec.result);
    await check({ code, stderr, results, folder });
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}
