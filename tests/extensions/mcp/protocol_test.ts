import { assertEquals } from "@std/assert";
import { MemoryStore, type ServerMemory } from "../../../src/extensions/mcp/memory.ts";
import { modelNameOf } from "../../../src/extensions/mcp/servers.ts";
import {
  promptDefinitionOf,
  resourceDefinitionOf,
  toolDefinitionOf,
} from "../../../src/extensions/mcp/protocol.ts";
import { readTools } from "../../../src/extensions/mcp/server.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

const inputSchema = { type: "object" };

Deno.test("mcp: a tool is read with what may be told of it, or the reason why it is left out", () => {
  const rows: [value: unknown, tool: unknown][] = [
    [5, "a tool is not an object"],
    [{}, "a tool's name must be text of 1 to 128 characters"],
    [{ name: "" }, "a tool's name must be text of 1 to 128 characters"],
    [{ name: "n".repeat(129) }, "a tool's name must be text of 1 to 128 characters"],
    [{ name: "n".repeat(128) }, { name: "n".repeat(128), inputSchema }],
    [{ name: "a", inputSchema: 5 }, "the schema of a is not an object"],
    [{ name: "a", title: " ", description: 5 }, { name: "a", inputSchema }],
    [{ name: "a", title: "t".repeat(201), description: "d".repeat(4001) }, {
      ...{ name: "a", title: "t".repeat(200), description: "d".repeat(4000), inputSchema },
    }],
  ];
  for (const [value, tool] of rows) assertEquals(toolDefinitionOf(value), tool);
});

Deno.test("mcp: prompts and resources are read, or left out", () => {
  const prompts: [value: unknown, prompt: unknown][] = [
    [5, undefined],
    [{ name: " " }, undefined],
    [{ name: "a" }, { name: "a", arguments: [] }],
    [
      {
        name: "a",
        description: "d",
        arguments: [{ name: "b", required: true, description: "e" }, { name: "c" }, {}, 5],
      },
      {
        name: "a",
        description: "d",
        arguments: [{ name: "b", required: true }, { name: "c", required: false }],
      },
    ],
  ];
  for (const [value, prompt] of prompts) assertEquals(promptDefinitionOf(value), prompt);
  const many = { name: "a", arguments: Array.from({ length: 21 }, (_, i) => ({ name: `${i}` })) };
  assertEquals(promptDefinitionOf(many)?.arguments.length, 20);
  const resources: [value: unknown, resource: unknown][] = [
    [5, undefined],
    [{}, undefined],
    [{ uri: "a:1" }, { uri: "a:1", name: "a:1" }],
    [{ uri: "a:1", name: "n", mimeType: "x/y" }, { uri: "a:1", name: "n" }],
  ];
  for (const [value, resource] of resources) assertEquals(resourceDefinitionOf(value), resource);
});

Deno.test("mcp: tools of a list stand by their names, each once", () => {
  const { tools, reasons } = readTools([{ name: "b" }, { name: "a" }, 5, { name: "c" }], false);
  assertEquals(tools.map(({ name }) => name), ["a", "b", "c"]);
  assertEquals(reasons, ["a tool is not an object"]);
});

Deno.test("mcp: names for models have at most 64 characters, and a mark where they had to change", () => {
  const long = "x".repeat(61);
  assertEquals(modelNameOf("s", long), `s__${long}`);
  const cut = modelNameOf("s", `${long}x`);
  assertEquals([cut.length, cut.slice(0, 58)], [64, `s__${"x".repeat(54)}_`]);
  assertEquals(modelNameOf("s.t", "a-b"), "s_t__a-b");
  // A mark must be the same in every session: rules are kept with it.
  assertEquals(modelNameOf("s", "a.b"), "s__a_b_108bf5");
});

Deno.test("mcp: what is kept of a server is read again, and nothing of a broken file", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  const tool = { name: "a", title: "t", description: "d", inputSchema };
  const all: ServerMemory = {
    ...{ era: "modern", tools: [tool], prompts: [{ name: "p", arguments: [] }] },
    ...{ resources: [{ uri: "a:1", name: "n" }], pins: [tool] },
  };
  const at = () => new MemoryStore(folder);
  assertEquals(at().of("id"), {});
  await at().change("id", all);
  assertEquals(at().of("id"), all);
  await at().change("id", { era: "legacy" });
  assertEquals(at().of("id"), { ...all, era: "legacy" });
  assertEquals(at().of("other"), {});
  assertEquals(new MemoryStore(undefined).of("id"), {});
  for (const text of ["", "{"]) {
    await Deno.writeTextFile(`${folder}/id.json`, text);
    assertEquals(at().of("id"), {});
  }
});
