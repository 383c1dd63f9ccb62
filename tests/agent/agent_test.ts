import { assert, assertEquals, assertThrows } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { hostedConfig, localConfig } from "../../src/config.ts";
import { builtinTools } from "../../src/tools/mod.ts";
import type { Tool } from "../../src/types/tool.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const config = { local: localConfig({ model: "m" }) };

Deno.test("an agent works in a folder, by its real path", async () => {
  using temp = tempFolder();
  const dir = temp.path;
  await Deno.writeTextFile(`${dir}/file`, "");
  await Deno.mkdir(`${dir}/folder`);
  if (Deno.build.os !== "windows") {
    await Deno.symlink("folder", `${dir}/link`);
    const { state } = new CopilotAgent(config, `${dir}/link`);
    assertEquals(state.workingDir, `${dir}/folder`);
  }
  assertEquals(new CopilotAgent(config, "").state.workingDir, await Deno.realPath("."));
  await Deno.mkdir(`${dir}/locked`, { mode: 0o600 });
  const rows = [["none", "does not exist"], ["file", "is not a folder"]];
  // Root may enter all.
  if (Deno.uid() !== 0 && Deno.build.os !== "windows") {
    rows.push(["locked", "may not be entered"]);
  }
  for (const [name, why] of rows) {
    const make = () => new CopilotAgent(config, `${dir}/${name}`);
    const message = `Cannot work in "${dir}/${name}" as it ${why}: name an existing folder`;
    assertEquals(assertThrows(make, TypeError).message, message);
  }
});

Deno.test("tools have names of their own, which servers take", () => {
  const [first] = builtinTools;
  const agent = (...names: string[]) =>
    new CopilotAgent(config, ".", { tools: names.map((name): Tool => ({ ...first!, name })) });
  assertEquals(agent("a", "B_-9", "x".repeat(64)).tools.length, 3);
  assertEquals(agent().tools, []);
  for (const name of ["", "a b", "a.b", "x".repeat(65)]) {
    assertThrows(() => agent("a", name), TypeError, "its name must be 1 to 64");
  }
  assertThrows(() => agent("a", "b", "a"), TypeError, 'both are "a"');
  assertEquals(new CopilotAgent(config, ".").tools, builtinTools);
});

Deno.test("instructions stand behind the prompt, up to half a character for each token of context", () => {
  for (const [contextLength, most] of [[1000, 500], [undefined, 10_000]] as const) {
    const settings = { local: localConfig({ model: "m", contextLength }) };
    const agent = new CopilotAgent(settings, ".", { systemPrompt: "Be brief." });
    assertEquals(agent.systemPrompt, "Be brief.");
    agent.state.instructions = "i".repeat(most);
    assertEquals(agent.systemPrompt, `Be brief.\n${"i".repeat(most)}`);
    agent.state.instructions += "i";
    const isCut = contextLength !== undefined;
    assertEquals(agent.systemPrompt.includes("characters left out"), isCut);
    if (!isCut) continue;
    const { length } = agent.systemPrompt.slice("Be brief.\n".length);
    assert(length <= most && length > most - 5, `${length}`);
  }
});

Deno.test("another configuration asks another backend; a bad one changes nothing", () => {
  const agent = new CopilotAgent(config, ".");
  const first = agent.backend;
  assertEquals(agent.backend, first);
  assertThrows(() => agent.setModel(""), RangeError);
  assertEquals([agent.config.local?.model, agent.backend], ["m", first]);
  agent.configure({ hosted: hostedConfig({ apiKey: "k", model: "h" }) });
  assertEquals(agent.backend.model, "h");
  assertEquals(agent.config.local, undefined);
});
