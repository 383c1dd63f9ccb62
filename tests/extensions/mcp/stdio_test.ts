import { assertEquals } from "@std/assert/equals";
import { definitionsIn } from "../../../src/extensions/mcp/definition.ts";
import { startProgram } from "../../../src/extensions/mcp/stdio.ts";
import type { SandboxLimit } from "../../../src/types/confine.ts";

Deno.test("mcp: a server that the sandbox made fail says what it lacked, and how to grant it", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const folder = await Deno.makeTempDir();
  const command = ["sh", "-c", "echo 'no host' >&2; echo 'npm notice new version' >&2"];
  const [definition] = definitionsIn({ one: { command } }, { scope: "user" });
  const rows: [limit: SandboxLimit | undefined, said: string][] = [
    [{ kind: "network" }, "no network in the sandbox: copilot mcp add without --no-network"],
    [
      { kind: "hidden", path: "/a" },
      '/a is hidden in the sandbox: "sandboxRead" in permissions.json',
    ],
    [{ kind: "socket" }, "no Unix sockets in the sandbox: copilot mcp add --no-sandbox"],
    [
      undefined,
      'all limits: "sandboxRead" and "sandboxWrite" in permissions.json open more files, copilot mcp add --no-sandbox lifts all limits',
    ],
  ];
  for (const [limit, said] of rows) {
    const carrier = await startProgram(definition!, {
      onRequest: () => Promise.resolve({}),
      onNotification() {},
    }, {
      ...{ folder, env: [] },
      confine: (program, args) =>
        Promise.resolve({
          ...{ program, args: [...args], limits: "all limits" },
          limitOf: ({ stderr = "" }) => stderr.includes("no host") ? limit : undefined,
        }),
    });
    await carrier.peer.closed;
    await carrier.end();
    assertEquals(carrier.lastWords(), `no host; ${said}`);
  }
  await Deno.remove(folder, { recursive: true });
});
