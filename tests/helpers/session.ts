/** Sessions of the real program in a real terminal, with a scripted model. */

import { type StrictServer, strictServer } from "./strict_server.ts";
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

/** A test of a session, in a folder of its own; skipped without tmux. */
export function sessionTest(
  name: string,
  steps: Parameters<typeof strictServer>[0],
  body: (terminal: Terminal, server: StrictServer) => Promise<void>,
  { flags = "", ...size }: { flags?: string; columns?: number; rows?: number } = {},
): void {
  Deno.test({
    name: noTmux ? `${name} (skipped: ${noTmux})` : name,
    ignore: noTmux !== "",
    async fn() {
      await using server = strictServer(steps, { models: ["test", "other"] });
      await using screen = await terminal(size);
      await screen.type(`${sessionCommand(server, flags)}; echo left: $?\r`);
      await screen.until((rows) => rows.includes(">"));
      await body(screen, server);
    },
  });
}
