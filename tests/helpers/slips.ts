/** One faulty call, made by a scripted model to a real agent in a folder of real files. */

import { CopilotAgent } from "../../src/agent/agent.ts";
import { processTurn } from "../../src/agent/turn.ts";
import type { ToolExecution } from "../../src/types/event.ts";
import { configFor } from "../agent/backends.ts";
import { workspace } from "../tools/workspace.ts";
import { type Handler, ndjson, serve, sse } from "./server.ts";

/** The files at the start of every case. */
export const FILES: Readonly<Record<string, string>> = {
  "src/cart.ts":
    `export function total(items: number[]): number {\n  let sum = 0;\n  for (const item of items) {\n    sum += item;\n  }\n  return sum;\n}\n\nexport const label = "cart";\n`,
  "src/main.go": `package main\n\nfunc main() {\n\tif true {\n\t\tprintln("on")\n\t}\n}\n`,
  "src/a b.txt": "blank in the name\n",
  "docs/Guide.md": "# Guide\n\nUse “total” – it’s fast.\n\nCafé\n",
  "notes.txt": "alpha\nbeta\ngamma\n",
  "package.json": `{ "name": "shop" }\n`,
};

/** The first answer of a model, and the expected outcome. */
export interface Slip {
  id: string;
  /** A native call: its name, and its arguments, a string standing for JSON text as it is. */
  call?: readonly [name: string, args: unknown];
  /** An answer of text, where there is no native call. */
  text?: string;
  reasoning?: string;
  /** The whole first answer of the compatible protocol: chunks of its stream. */
  chunks?: readonly unknown[];
  /** Handlers of the first requests, in its place. */
  handlers?: readonly Handler[];
  /** The protocol: compat. */
  wire?: Wire;
  /** Further files. */
  files?: Readonly<Record<string, string>>;
  /** Files that the model has read in an earlier turn. */
  read?: readonly string[];
  /** The call succeeds, and its result contains these texts. */
  sees?: string | readonly string[];
  /** The call fails, and the model gets this text. */
  told?: RegExp;
  /** The files that are new or changed at the end. */
  after?: Readonly<Record<string, string>>;
  /** The names of the tools that were called. */
  tools?: readonly string[];
  /** The user sees a notice of the repair. */
  repaired?: RegExp;
  /** True if there must be no notice of a repair. */
  plain?: true;
}

export type Wire = "compat" | "local native" | "local compatible" | "hosted";

const DONE = "Done.";
/** Folders that the program must not make at the root of the disk; removed if it does. */
const AT_ROOT = ["/src", "/newsrc", "/newsrc.ts"].filter((path) => !exists(path));

/** Runs the case. Returns what is wrong with its outcome; empty if it is right. */
export async function wrongIn(slip: Slip): Promise<string> {
  const { executions, changed, error } = await play(slip);
  const text = executions.map(({ result }) => result).join("\n");
  const failed = executions.some(({ isError }) => isError);
  const wrongs: string[] = [];
  const want = JSON.stringify(slip.after ?? {});
  if (JSON.stringify(changed) !== want) {
    wrongs.push(`files ${JSON.stringify(changed)}, not ${want}`);
  }
  if (error !== "") wrongs.push(error);
  if (slip.tools && slip.tools.join() !== executions.map((exec) => exec.toolName).join()) {
    wrongs.push(`called ${executions.map((exec) => exec.toolName)}`);
  }
  if (slip.told) {
    if (!failed || !slip.told.test(text)) wrongs.push("was not told so");
  } else if (failed) wrongs.push("failed");
  for (const one of [slip.sees ?? []].flat()) {
    if (!text.includes(one)) wrongs.push(`does not see ${one}`);
  }
  if (!slip.told && !slip.tools && executions.length === 0) wrongs.push("nothing was called");
  const repairs = executions.flatMap((exec) => exec.repairs ?? []);
  if (slip.repaired && !slip.repaired.test(repairs.join("\n"))) wrongs.push("repair not told");
  if (slip.plain && repairs.length > 0) wrongs.push(`told ${repairs}`);
  if (repairs.some((one) => !text.includes(one))) wrongs.push("a repair the model does not see");
  return wrongs.length === 0 ? "" : `${wrongs.join("; ")} | ${text}`;
}

/** The calls of a case, the files that it left, and what was thrown. */
async function play(slip: Slip) {
  using ws = workspace();
  const files = { ...FILES, ...slip.files };
  for (const [name, text] of Object.entries(files)) {
    Deno.mkdirSync(ws.at(name).replace(/\/[^/]*$/, ""), { recursive: true });
    ws.put(name, text);
  }
  const wire = slip.wire ?? "compat";
  const reads = (slip.read ?? []).map((path) =>
    answerOf(wire, { call: ["read_file", JSON.stringify({ file_path: path })] })
  );
  const first = slip.handlers ??
    [slip.chunks ? sse([...slip.chunks, "[DONE]"]) : answerOf(wire, slip)];
  const end = answerOf(wire, { text: DONE });
  await using server = serve(...reads, ...reads.length > 0 ? [end] : [], ...first, end);
  const agent = new CopilotAgent(configFor(wire, server.url), ws.dir);
  let executions: readonly ToolExecution[] = [];
  let error = "";
  try {
    if (reads.length > 0) await processTurn(agent, "Read these.");
    ({ toolExecutions: executions } = await processTurn(agent, "Do it."));
  } catch (thrown) {
    error = String(thrown);
  }
  const changed: Record<string, string> = {};
  for (const name of filesBelow(ws.dir)) {
    const text = ws.text(name);
    if (files[name] !== text) changed[name] = text;
  }
  for (const name of Object.keys(files)) if (!exists(ws.at(name))) changed[name] = "(gone)";
  for (const path of AT_ROOT.filter(exists)) {
    changed[path] = "(at the root)";
    Deno.removeSync(path, { recursive: true });
  }
  return { executions, changed, error };
}

function answerOf(wire: Wire, { call, text = "", reasoning }: Partial<Slip>): Handler {
  const args = typeof call?.[1] === "string" ? call[1] : JSON.stringify(call?.[1] ?? {});
  if (wire === "local native") {
    const given = typeof call?.[1] === "string" ? call[1] : call?.[1] ?? {};
    const calls = call && [{ function: { name: call[0], arguments: given } }];
    const message = {
      role: "assistant",
      content: text,
      ...(reasoning && { thinking: reasoning }),
      ...(calls && { tool_calls: calls }),
    };
    return ndjson([{ message, done: false }, {
      message: { role: "assistant", content: "" },
      done: true,
      done_reason: "stop",
    }]);
  }
  if (wire === "hosted") {
    const start = call
      ? { type: "tool_use", id: "toolu_1", name: call[0], input: {} }
      : { type: "text", text: "" };
    const delta = call
      ? { type: "input_json_delta", partial_json: args }
      : { type: "text_delta", text };
    return sse([
      { type: "message_start", message: { role: "assistant", content: [], usage: {} } },
      { type: "content_block_start", index: 0, content_block: start },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: call ? "tool_use" : "end_turn" } },
      { type: "message_stop" },
    ]);
  }
  const delta = call
    ? {
      tool_calls: [{
        index: 0,
        id: "call_1",
        type: "function",
        function: { name: call[0], arguments: args },
      }],
    }
    : { content: text, ...(reasoning && { reasoning_content: reasoning }) };
  return sse([chunk(delta), chunk({}, call ? "tool_calls" : "stop"), "[DONE]"]);
}

/** A chunk of the compatible protocol. */
export function chunk(delta: unknown, finish: string | null = null): unknown {
  return {
    id: "c",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

function* filesBelow(root: string, folder = ""): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(`${root}/${folder}`)) {
    const path = folder === "" ? name : `${folder}/${name}`;
    if (isDirectory) yield* filesBelow(root, path);
    else yield path;
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
