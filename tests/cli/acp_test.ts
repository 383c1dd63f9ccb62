import { assertStringIncludes } from "@std/assert";
import { command } from "../helpers/program.ts";

Deno.test("copilot acp: without a server that is chosen, a session is refused, and it is said what to do", async () => {
  await using program = command(["acp"], { stdin: "" }).spawn();
  const writer = program.stdin.getWriter();
  const requests = [
    { id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } },
    { id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } },
  ];
  for (const one of requests) {
    await writer.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`));
  }
  let answers = "";
  for await (const text of program.stdout.pipeThrough(new TextDecoderStream())) {
    answers += text;
    if (answers.split("\n").length > requests.length) break;
  }
  assertStringIncludes(answers, "No model configured. Run `copilot` in a terminal once");
  await writer.close();
});
