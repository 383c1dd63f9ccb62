import { assertEquals } from "@std/assert";
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
    assertEquals(carrier.lastWords!(), `no host; ${said}`);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("mcp: a server of the user reads the script that its definition names, no other", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [folder, script] = [`${base}/work`, `${base}/a.sh`];
  await Deno.mkdir(folder);
  for (const at of [script, `${base}/secret`]) await Deno.writeTextFile(at, "exit 1\n");
  // A command may have made it.
  await Deno.symlink("../secret", `${folder}/link`);
  const args = [script, `${folder}/link`, `${folder}/../secret/../work/link`];
  for (const scope of ["user", "folder"] as const) {
    const [definition] = definitionsIn({ one: { command: "sh", args } }, { scope });
    let read: readonly string[] | undefined;
    const carrier = await startProgram(definition!, {
      onRequest: () => Promise.resolve({}),
      onNotification() {},
    }, {
      ...{ folder, env: [] },
      confine: (program, args, _, more) => {
        read = more?.reads;
        return Promise.resolve({ program, args: [...args] });
      },
    });
    await carrier.end();
    const isIn = [script, `${base}/secret`].map((at) => read?.includes(at));
    assertEquals(isIn, [scope === "user", false]);
  }
  await Deno.remove(base, { recursive: true });
});

Deno.test(
  "mcp: a folder's server starts there without the network; what fetches its program, elsewhere with it",
  { ignore: Deno.build.os === "windows" },
  async () => {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    await Deno.writeTextFile(`${folder}/npx`, "#!/bin/sh\n", { mode: 0o755 });
    const before = Deno.env.get("PATH")!;
    Deno.env.set("PATH", `${folder}:${before}`);
    try {
      const base = `${folder}/work`;
      await Deno.mkdir(base);
      const rows: [command: string[], isThere: boolean, words: string[], said: string][] = [
        [["sh", "./x"], true, ["./x"], '"network": true in its definition'],
        [["npx", "-y", "a", "./x"], false, ["-y", "a", `${base}/x`], ""],
      ];
      for (const [command, isThere, words, said] of rows) {
        const [one] = definitionsIn({ one: { command } }, { scope: "folder", folder: base });
        const started: unknown[] = [];
        const carrier = await startProgram(one!, {
          onRequest: () => Promise.resolve({}),
          onNotification() {},
        }, {
          ...{ folder: base, env: [] },
          confine: (program, args, right) => {
            started.push(right?.kind, args.slice(-words.length), args.includes("-c") === !isThere);
            const limit = { kind: "network" } as const;
            return Promise.resolve({
              ...{ program, args: [...args], limits: "" },
              limitOf: () => said === "" ? undefined : limit,
            });
          },
        });
        await carrier.peer.closed;
        await carrier.end();
        assertEquals(started, [isThere ? undefined : "network", words, true]);
        assertEquals(carrier.lastWords!().includes(said), true);
      }
    } finally {
      Deno.env.set("PATH", before);
      await Deno.remove(folder, { recursive: true });
    }
  },
);
