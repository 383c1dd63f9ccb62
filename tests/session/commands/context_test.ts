import { assertEquals, assertMatch } from "@std/assert";
import { ModelFit } from "../../../src/session/fit_model.ts";
import { CopilotAgent } from "../../../src/agent/agent.ts";
import { processTurn } from "../../../src/agent/turn.ts";
import { runCommand, type Session, waitsFor } from "../../../src/session/commands/commands.ts";
import { footer } from "../../../src/frontends/terminal/interactive.ts";
import { localConfig } from "../../../src/config.ts";
import { strictServer } from "../../helpers/strict_server.ts";

function sessionAt(host: string, contextLength?: number): Session {
  const local = localConfig({ host, model: "test", contextLength, maxRetries: 0 });
  const agent = new CopilotAgent({ local }, Deno.cwd());
  return { agent, fit: new ModelFit({ isChosen: true, asksRemote: true }), pending: "" };
}

Deno.test("/context shows a bar for each part, and what is free where the window is known", async () => {
  const session = sessionAt("http://127.0.0.1:1", 8192);
  session.agent.state.messages.push({ role: "user", content: "word ".repeat(1600) });
  const rows = (await runCommand(session, "/context"))!.split("\n");
  const parts = rows.slice(0, -1).map((row) => /^ {2}(\D+?) +(\d+) +(\d+)% {2}([█#]*)$/.exec(row)!);
  assertEquals(parts.map(([, name]) => name), [
    "instructions",
    "tools",
    "you",
    "the model",
    "results",
    "free",
  ]);
  assertEquals(parts.reduce((sum, [, , tokens]) => sum + Number(tokens), 0), 8192);
  const [, , , share, bar] = parts[2]!;
  assertEquals([Number(share) > 20, bar!.length], [
    true,
    Math.ceil(Number(parts[2]![2]) / 8192 * 30),
  ]);
  assertMatch(rows.at(-1)!, /^About \d+ of 8192 tokens\.$/);
  const unknown = await runCommand(sessionAt("http://127.0.0.1:1"), "/context");
  assertMatch(unknown!, /^About \d+ tokens; .* not known\.$/m);
  assertEquals(unknown!.includes("free"), false);
});

Deno.test("the status line has an estimate where the server did not count what there is now", async () => {
  const session = sessionAt("http://127.0.0.1:1", 32_768);
  const shown = () => footer(session).split(" · ")[1]!;
  assertEquals(footer(session).includes("token"), false);
  session.agent.state.messages.push({ role: "user", content: "word ".repeat(1600) });
  const estimate = shown();
  assertMatch(estimate, /^~\d\.\dk tokens \(\d+% of 32\.8k\)$/);
  session.context = { inputTokens: 1000, outputTokens: 300 };
  assertEquals(shown(), "1.3k tokens (4% of 32.8k)");
  await runCommand(session, "/model other");
  assertEquals(shown(), estimate);
});

Deno.test("/compact sums up, says so, and leaves all as it was where it can not", async () => {
  await using server = strictServer([
    { text: "One." },
    { text: "Two." },
    { error: { status: 500, message: "boom\x1b[2J" } },
    { text: "Task: a." },
  ]);
  const session = sessionAt(server.url);
  const { agent } = session;
  assertEquals(await runCommand(session, "/compact"), "There is nothing to sum up yet.");
  for (const text of ["a ".repeat(200), "b"]) await processTurn(agent, text);
  const failed = await runCommand(session, "/compact");
  assertMatch(failed!, /^The conversation stays as it was: .*boom/);
  assertEquals([agent.state.messages.length, failed!.includes("\x1b")], [4, false]);
  const stop = { ...session, signal: AbortSignal.abort() };
  assertEquals(await runCommand(stop, "/compact"), "The conversation stays as it was.");
  session.context = { inputTokens: 1, outputTokens: 1 };
  const done = await runCommand(session, "/compact the names");
  assertMatch(
    done!,
    /^Made room in the context: 2 messages were summarised; about \d+ tokens became \d+\.$/,
  );
  assertMatch(server.requests.at(-1)!.text, /Keep above all: the names/);
  assertEquals(session.context, undefined);
});

Deno.test("/compact says how long it has been at it, and what the model wrote", async () => {
  await using server = strictServer([{ text: "One." }, { text: "Two." }, { text: "Task: a." }]);
  const session = sessionAt(server.url);
  for (const text of ["a ".repeat(200), "b"]) await processTurn(session.agent, text);
  const waiting = waitsFor(session, "/compact")!;
  assertEquals([waiting(), waitsFor(session, "/help")], ["0 s · Esc stops · /compact", undefined]);
  await runCommand(session, "/compact");
  assertMatch(waiting(), /^0 s · \d+ tokens? · Esc stops · \/compact$/);
});

Deno.test("/compact leaves all as it was where the summary is not clearly shorter, and stops it", async () => {
  await using server = strictServer([{ text: "One." }, { text: "Two." }, {
    text: "and so on, ".repeat(2000),
  }]);
  const session = sessionAt(server.url);
  const { messages } = session.agent.state;
  for (const text of ["an honest question ".repeat(60), "b"]) {
    await processTurn(session.agent, text);
  }
  const before = structuredClone(messages);
  const said = await runCommand(session, "/compact");
  assertEquals([said, messages], [
    "The conversation stays as it was: the summary was not clearly shorter",
    before,
  ]);
  assertMatch(server.requests[2]!.text, /in at most (?:[4-9]\d|1\d\d) words/);
});

Deno.test("/model takes the flags of a model and its server, and no others", async () => {
  const agent = new CopilotAgent({ local: localConfig({ model: "test" }) }, ".");
  const session = { agent, fit: new ModelFit({ isChosen: true, asksRemote: true }), pending: "" };
  for (const [flags, other] of [["--yes", "yes"], ["--local -p hello", "print"]]) {
    assertEquals(await runCommand(session, `/model ${flags}`), `/model does not take --${other}`);
    assertEquals(agent.config.local?.model, "test");
  }
});
