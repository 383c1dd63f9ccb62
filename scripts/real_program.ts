/**
 * Checks of the whole program with a real model server: an answer with a schema, a call with a form, and a run
 * that is stopped.
 */

import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import type { JsonSchema } from "../src/types/tool.ts";
import type { Outcome, Target, Way } from "./real_checks.ts";

type Check = (signal: AbortSignal) => Promise<Outcome>;

const MAIN = `${import.meta.dirname}/../main.ts`;
/** Every answer of this form is short, so that a model which writes nonsense also ends. */
const SCHEMA: JsonSchema = {
  type: "object",
  properties: { kind: { type: "string", enum: ["fox", "stone"] }, isDone: { type: "boolean" } },
  required: ["kind", "isDone"],
  additionalProperties: false,
};
/** The maximum milliseconds until a stopped program exits. */
const MAX_STOP_MS = 5000;

/** Returns the checks of `way` by the whole program. */
export function programChecks(way: Way, { model }: Target): [string, Check][] {
  const command = (prompt: string, folder: string, ...more: string[]) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", MAIN, ...way.flags, "--model", model, "-p", prompt, ...more],
      cwd: folder,
      env: { XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  return [
    ["the program: an answer of a schema", (signal) =>
      inFolder(async (folder) => {
        const schema = join(folder, "schema.json");
        await Deno.writeTextFile(schema, JSON.stringify(SCHEMA));
        const child = command("Say hello.", folder, "--json-schema", schema, "--max-tokens", "64")
          .spawn();
        const stop = () => child.kill();
        signal.addEventListener("abort", stop);
        const { code, stdout, stderr } = await child.output()
          .finally(() => signal.removeEventListener("abort", stop));
        const [answer, notes] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
        // Ollama's messages endpoint has no field for a form, and ignores a choice of a tool.
        if (code !== 0 && way.name === "hosted") return { status: "SKIP", text: "held to no form" };
        assertEquals(code, 0, `${notes} ${answer}`);
        const { kind, isDone } = JSON.parse(answer!);
        assert(["fox", "stone"].includes(kind) && typeof isDone === "boolean", answer);
        const asked = notes!.match(/it is asked for again/g)?.length ?? 0;
        return {
          status: "ok",
          text: `${answer!.replace(/\s+/g, " ").trim()}, asked for ${asked + 1} times`,
        };
      })],
    ["the program is stopped", () =>
      inFolder(async (folder) => {
        const child = command("Write a long story about a fox.", folder, "--output", "stream-json")
          .spawn();
        const reader = child.stdout.getReader();
        await reader.read();
        const start = performance.now();
        child.kill("SIGINT");
        for (;;) if ((await reader.read()).done) break;
        const { code } = await child.status;
        await child.stderr.cancel();
        const took = Math.ceil(performance.now() - start);
        // A small model may have finished before.
        assert(code === 130 || code === 0, `exit code ${code}`);
        assert(took < MAX_STOP_MS, `after ${took} ms`);
        return { status: "ok", text: `exit code ${code} after ${took} ms` };
      })],
  ];
}

async function inFolder(body: (folder: string) => Promise<Outcome>): Promise<Outcome> {
  const folder = await Deno.makeTempDir();
  try {
    return await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
