import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { command as program } from "../../helpers/program.ts";
import { sessionCommand, startSession, test } from "../../helpers/session.ts";
import { type Step, type StrictRequest, strictServer, use } from "../../helpers/strict_server.ts";
import { asksAboutCall, noTmux, terminal } from "../../helpers/tmux.ts";
import { left, living, marker } from "../../helpers/processes.ts";
import { run } from "../../tools/workspace.ts";

const job = (command: string): Step => use("run_bash", { command, run_in_background: true });
const said = ({ body }: StrictRequest) => (body.messages as { content: string }[]).at(-1)!.content;
const open = async (path: string) => (await Deno.open(path, { write: true })).close();

test("a job is asked about, listed, looked at, told of when it ends, and can be stopped", async () => {
  await using terminal = await startSession([
    job("echo begun; : < go; echo 'all done'; exit 3"),
    job("exec sleep 1000"),
    { text: "Started." },
    { text: "I see." },
  ]);
  const { server } = terminal;
  await run("mkfifo", `${terminal.folder}/go`);
  await terminal.type("go\r");
  await terminal.until((rows) =>
    rows.some((row) => row.startsWith("▌   in the background (/jobs")) &&
    asksAboutCall(rows)
  );
  await terminal.type("y\r");
  await terminal.until("│ exec sleep 1000");
  await terminal.until(asksAboutCall);
  await terminal.type("y\r");
  await terminal.until("Started.");
  await terminal.type("/jobs\r");
  const rows = await terminal.until((rows) =>
    rows.some((row) => row.startsWith("❯ 1  show job 1")) &&
    rows.at(-1)!.includes("2 jobs · ")
  );
  assert(rows.some((row) => /^❯ 1 {2}show job 1 +running · echo begun; : < go/.test(row)));
  assert(rows.some((row) => row === "  5  stop all jobs"));
  await terminal.type("\x1b");
  await terminal.until((rows) => rows.at(-2) === ">");
  await open(`${terminal.folder}/go`);
  await terminal.until("· Job 1 failed (exit 3): echo begun");
  await terminal.type("/jobs 1\r");
  await terminal.until((rows) =>
    rows.includes("begun") && rows.includes("all done") &&
    rows.some((row) => row.startsWith("  1  exit code 3  0:"))
  );
  await terminal.type("/jobs s\t\t\r"); // "stop 2" or "stop all": the first
  await terminal.until((rows) =>
    rows.includes("> /jobs stop 2") && rows.some((row) => row.startsWith("  2  stopped by the"))
  );
  await terminal.until((rows) => !rows.at(-1)!.includes("job"));
  await terminal.type("and?\r");
  await terminal.until("I see.");
  const told = said(server.requests[3]!);
  assertStringIncludes(told, "and?\n\n[Job 1 is over (echo begun;");
  assertStringIncludes(told, "\n\n[Job 2 is over (exec sleep 1000): stopped by the user.");
});

const LEAVING: [name: string, keys: string | Deno.Signal, code: number][] = [
  ["/exit", "/exit\r", 0],
  ["Ctrl-C twice", "\x03\x03", 0],
  ["SIGHUP", "SIGHUP", 129],
  ["SIGTERM, and a terminal that cannot edit", "SIGTERM", 143],
];

Deno.test(
  "PRC-02 PRC-07 jobs end with the session, however it is left",
  { ignore: noTmux !== "" },
  () =>
    Promise.all(LEAVING.map(async ([name, keys, code]) => {
      const mark = marker();
      const command = `trap '' HUP INT; sleep ${mark} & setsid sleep ${mark} & wait`;
      await using server = strictServer([job(command), { text: "Started." }], {
        models: ["test", "other"],
      });
      await using screen = await terminal();
      const plain = name.includes("cannot edit") ? "TERM=dumb " : "";
      const typed = `${plain}${sessionCommand(server, "--yes")}; echo left: $?\r`;
      await screen.type(typed);
      await screen.until((rows) => rows.at(-1) === ">" || rows.at(-2) === ">");
      await screen.type("go\r");
      await screen.until("Started.");
      assertEquals((await living(mark, (count) => count === 3)).length, 3, name);
      if (!keys.startsWith("SIG")) await screen.type(keys);
      else Deno.kill(await programIn(screen.folder), keys as Deno.Signal);
      await screen.until(`left: ${code}`);
      assertEquals(await left(mark), [], name);
    })).then(() => {}),
);

/** The process of the program that was started in `folder`. */
async function programIn(folder: string): Promise<number> {
  const script = `for p in /proc/[0-9]*; do
    [ "$(readlink $p/cwd)" = "$1" ] && tr '\\0' ' ' < $p/cmdline | grep -q 'main\\.[jt]s --local' &&
    echo \${p#/proc/}
  done; true`;
  return Number(await run("sh", "-c", script, "sh", await Deno.realPath(folder)));
}

Deno.test("PRC-02 PRC-07 jobs end with a prompt's run: done, failed, terminated", async () => {
  const rows: [name: string, last: Step, code: number][] = [
    ["done", { text: "Done." }, 0],
    ["failed", { error: { status: 400, message: "no" } }, 1],
    ["terminated", { text: "x", hang: true }, 143],
  ];
  await Promise.all(rows.map(async ([name, last, code]) => {
    const mark = marker();
    const asked = Promise.withResolvers<void>();
    await using server = strictServer([
      job(`setsid sleep ${mark} & wait`),
      () => (asked.resolve(), last),
    ]);
    const flags = ["--local", "--host", server.url, "-m", "test", "--yes", "--sandbox", "off"];
    const child = program([...flags, "-p", "go"]).spawn();
    await asked.promise;
    if (name === "terminated") child.kill("SIGTERM");
    assertEquals((await child.output()).code, code, name);
    assertEquals(await left(mark), [], name);
  }));
});
