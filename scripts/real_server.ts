// Holds the backends and `copilot doctor` against a real model server:
// `scripts/real_server [--server PATH] [--model FILE.gguf]` starts llama.cpp's, with a tiny model of our
// own where none is named; `--host URL [--model NAME] [--key KEY]` asks a server that runs. One line for
// each check, the last line counts them; ends with 1 when one fails, with 0 where there is no server.
import { parseArgs } from "@std/cli/parse-args";
import { join } from "@std/path/join";
import { listLocalModels } from "../src/models/ollama/connection.ts";
import { BackendError } from "../src/errors.ts";
import {
  checksOf,
  loadingCheck,
  type Outcome,
  programChecks,
  type Target,
  waysTo,
  withoutTools,
} from "./real_checks.ts";
import { waitUntil } from "../tests/helpers/wait_until.ts";
import { writeTinyModel } from "./tiny_model.ts";

const flags = parseArgs(Deno.args, { string: ["host", "server", "model", "key"] });
/** The context of a server that the script starts, in tokens: small enough to fill. */
const CONTEXT = 4096;
/** The maximum milliseconds of a check: a small machine may run a large model. */
const CHECK_MS = 600_000;

const counts: Record<Outcome["status"], number> = { ok: 0, FAIL: 0, SKIP: 0 };
function say(name: string, { status, text }: Outcome): void {
  counts[status]++;
  console.log(`${status.padEnd(5)} ${name}${text && `: ${text}`}`);
}

async function attempt(name: string, check: (signal: AbortSignal) => Promise<Outcome>) {
  try {
    say(name, await check(AbortSignal.timeout(CHECK_MS)));
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    say(name, { status: "FAIL", text: text.replace(/\s+/g, " ").slice(0, 400) });
  }
}

/** Starts llama.cpp's server. Returns null if it is not installed. */
function start(model: string, port: number, ...more: string[]): Deno.ChildProcess | null {
  try {
    return new Deno.Command(flags.server ?? "llama-server", {
      args: ["-m", model, "--host", "127.0.0.1", "--port", `${port}`, "-c", `${CONTEXT}`, ...more],
      // The server reads the whole file at the start. The setting's name depends on the version.
      env: { LLAMA_ARG_NO_MMAP: "1", LLAMA_ARG_LOAD_MODE: "none" },
      stdout: "null",
      stderr: "null",
    }).spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Waits until the server has loaded its model. Returns the model's name. */
async function loaded(host: string, server: Deno.ChildProcess | undefined): Promise<string> {
  let ended: string | undefined;
  server?.status.then(({ code }) => ended = `the server ended with ${code}`);
  for (const end = Date.now() + CHECK_MS; Date.now() < end;) {
    try {
      const [name] = await listLocalModels({ host, apiKey: flags.key });
      if (name === undefined) throw new Error(`${host} has no models`);
      return name;
    } catch (error) {
      if (!server || !(error instanceof BackendError)) throw error;
      if (ended !== undefined) throw new Error(ended, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error(`${host} is still loading`);
}

async function examine(target: Target): Promise<void> {
  for (const way of await waysTo(target)) {
    if (way.missing !== undefined) {
      say(way.name, { status: "SKIP", text: way.missing });
      continue;
    }
    const checks = [...checksOf(way, target), ...programChecks(way, target)];
    for (const [name, check] of checks) await attempt(`${way.name}: ${name}`, check);
  }
}

async function main(): Promise<number> {
  if (flags.host !== undefined) {
    const host = flags.host.replace(/\/(v1)?\/?$/, "");
    await examine({
      host,
      model: flags.model ?? await loaded(host, undefined),
      isOurs: false,
      key: flags.key,
    });
    return counts.FAIL;
  }
  const folder = Deno.makeTempDirSync();
  const servers: Deno.ChildProcess[] = [];
  try {
    const file = flags.model ?? join(folder, "tiny.gguf");
    const isOurs = flags.model === undefined;
    if (isOurs) writeTinyModel(file);
    const port = freePort();
    const server = start(file, port, "--jinja");
    if (server === null) {
      console.log("SKIP: no llama-server is installed: --server PATH or --host URL names one");
      return 0;
    }
    servers.push(server);
    const host = `http://127.0.0.1:${port}`;
    await examine({ host, model: await loaded(host, server), isOurs });
    if (isOurs) {
      const slow = join(folder, "slow.gguf");
      writeTinyModel(slow, 2 ** 30);
      const other = freePort();
      servers.push(start(slow, other, "--no-warmup")!);
      // It accepts connections while it loads its model.
      await waitUntil(() =>
        Deno.connect({ port: other }).then((connection) => (connection.close(), true), () => false)
      );
      await attempt("a server that is loading", loadingCheck(`http://127.0.0.1:${other}`));
    }
    const plain = freePort();
    const without = start(file, plain, "--no-jinja")!;
    servers.push(without);
    const at = `http://127.0.0.1:${plain}`;
    await loaded(at, without);
    await attempt("a server without --jinja", withoutTools(at));
    return counts.FAIL;
  } finally {
    for (const server of servers) {
      try {
        server.kill("SIGKILL");
      } catch { /* It has ended. */ }
      await server.status;
    }
    Deno.removeSync(folder, { recursive: true });
  }
}

const failed = await main().catch((error: Error) => {
  say("the server", { status: "FAIL", text: error.message });
  return 1;
});
const { ok, FAIL, SKIP } = counts;
if (ok + FAIL + SKIP > 0) console.log(`${ok} ok, ${FAIL} failed, ${SKIP} skipped`);
Deno.exit(failed > 0 ? 1 : 0);
