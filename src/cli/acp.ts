/** `copilot acp` and `copilot serve`: apply the settings of the command line to an editor's sessions. @module */

import { UsageError } from "../errors.ts";
import { linePeer } from "../rpc/line_peer.ts";
import { type AcpOptions, serveEditor } from "../ui/acp/acp.ts";
import { serveClients } from "../ui/serve/serve.ts";
import { EXIT } from "../exit_codes.ts";
import { parsePermissionChoice } from "../safety/choice.ts";
import { openPermissions } from "../safety/permissions.ts";
import { Session } from "../session/session.ts";
import { type Args, asUsage, wrongValue } from "./args.ts";
import type { Run } from "./process.ts";
import { isServerOpen, optionsFromArgs, sessionOptions, toConfig } from "./settings.ts";
import { startDemo } from "./demo/server.ts";

const noServer = (verb: string) =>
  new UsageError(
    `No model configured. Run \`copilot\` in a terminal once to choose one, or start copilot ${verb} with --local or --base-url URL`,
  );

/** Serves the editor on stdin and stdout. Returns the exit code. @throws {UsageError} for invalid flags. */
export const runAcp = (args: Args, run: Run): Promise<number> =>
  withSessions("acp", args, run, (sessions) => {
    const { readable: input } = Deno.stdin;
    const { writable: output } = Deno.stdout;
    return serveEditor({ ...sessions, connect: (more) => linePeer({ input, output, ...more }) });
  });

/** Serves browsers and other clients of this machine. Returns the exit code. @throws {UsageError} */
export const runServe = (args: Args, run: Run): Promise<number> =>
  withSessions("serve", args, run, async (sessions) => {
    if (isServerOpen(args)) throw noServer("serve");
    const port = Number(args.port ?? 0);
    if (!/^\d{1,5}$/.test(args.port ?? "0") || port > 65_535) {
      throw wrongValue("port", "a number up to 65535", args.port!);
    }
    const names = (args["allow-host"]?.split("\n") ?? []).map((name) => name.toLowerCase());
    const strange = names.find((name) => !/^[a-z0-9.-]+(?::\d+)?$/.test(name));
    if (strange !== undefined) {
      throw wrongValue("allow-host", "a host such as pc.example.ts.net", strange);
    }
    try {
      await serveClients({
        port,
        names,
        serve: (connect) => serveEditor({ ...sessions, folder: Deno.cwd(), connect }),
        onListen({ url, token }) {
          const socket = `${url.replace("http", "ws")}/acp`;
          const lines = [
            `Open ${url}/#${token}`,
            ...names.map((name) => `Or https://${name}/#${token}`),
            `Editors: ${socket} with the header Authorization: Bearer ${token}`,
            "Whoever has this token can use your sessions and run commands. Ctrl-C ends the server.\n",
          ];
          run.stdout.write(lines.join("\n"));
        },
        signal: run.signal,
      });
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
      throw new UsageError(`Port ${port} is in use: choose another with --port`);
    }
  });

async function withSessions(
  name: string,
  args: Args,
  { signal }: Run,
  use: (sessions: Omit<AcpOptions, "connect">) => Promise<void>,
): Promise<number> {
  const demo = args.demo && startDemo("look");
  const given = optionsFromArgs(args);
  const options = demo ? { ...given, local: true, host: demo.host, model: demo.model } : given;
  try {
    await use({
      makeSession(folder, frontend, { servers, ...more } = {}) {
        if (isServerOpen(args)) throw noServer(name);
        const permissions = openPermissions(parsePermissionChoice(args, "workspace-write"));
        const config = asUsage(() => toConfig(options), args);
        const here = { ...options, workingDir: folder };
        return asUsage(() => {
          const settings = sessionOptions(config, here, args, permissions, servers);
          return new Session({ ...settings, ...more }, frontend);
        }, args);
      },
      signal,
    });
    return EXIT.done;
  } finally {
    await demo?.close();
  }
}
