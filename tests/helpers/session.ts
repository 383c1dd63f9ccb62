/** Sessions of the real program in a real terminal, with a scripted model. */

import { type StrictServer, strictServer } from "./strict_server.ts";
import { testUnless } from "./test_unless.ts";
import { noTmux, type Terminal, terminal } from "./tmux.ts";

/** The command that starts a session with the model of `server`. */
export function sessionCommand(server: StrictServer, flags = ""): string {
  // The default depends on the machine's sandbox, so only tests of the default omit this.
  const mode = /--(approve|sandbox)/.test(flags)
    ? ""
    : /--yes/.test(flags)
    ? "--sandbox off "
    : "--approve ask --sandbox off ";
  return `"$DENO" run -A "$ENTRY" --local --host ${server.url} -m test ${mode}${flags}`;
}

/** Registers a test, which is skipped without tmux. */
export const test = testUnless(noTmux !== "");

/** Starts a session in a folder of its own. `steps` are the answers of its model. */
export async function startSession(
  steps: Parameters<typeof strictServer>[0],
  { flags = "", ...size }: { flags?: string; columns?: number; rows?: number } = {},
): Promise<Terminal & { server: StrictServer }> {
  await using made = new AsyncDisposableStack();
  const server = made.use(strictServer(steps, { models: ["test", "other"] }));
  const screen = made.use(await terminal(size));
  await screen.type(`${sessionCommand(server, flags)}; echo left: $?\r`);
  await screen.until((rows) => rows.includes(">"));
  const all = made.move();
  return { ...screen, server, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
