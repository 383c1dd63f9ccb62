/** One faulty call, made by a scripted model to a real agent in a folder of real files. */

import { CopilotAgent } from "../../src/agent/agent.ts";
import { processTurn } from "../../src/agent/turn.ts";
import type { ToolExecution } from "../../src/types/event.ts";
import { configFor } from "../agent/backends.ts";
import { workspace } from "../tools/workspace.ts";
import { type Step, strictServer } from "./strict_server.ts";

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
  /** The first answers, in its place. */
  steps?: readonly Step[];
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
  ws.putAll(files);
  const wire = slip.wire ?? "compat";
  const end = { text: "Done." };
  const reads = (slip.read ?? []).map((path): Step => (
    { toolCalls: [{ name: "read_file", arguments: { file_path: path } }] }
  ));
  await using server = strictServer([
    ...reads.length > 0 ? [...reads, end] : [],
    ...slip.steps ?? [stepOf(slip)],
    ...Array(9).fill(end),
  ]);
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

function stepOf({ wire, call, chunks, text = "", reasoning = "" }: Slip): Step {
  if (chunks) {
    const data = [...chunks.map((one) => JSON.stringify(one)), "[DONE]"];
    return { garble: () => data.map((one) => `data: ${one}\n\n`) };
  }
  if (!call) return { text, reasoning };
  // In the native format, text that is no JSON can only come as a string.
  const isText = typeof call[1] === "string" && wire !== "local native";
  const args = isText ? call[1] as string : JSON.stringify(call[1]);
  return { toolCalls: [{ name: call[0], arguments: args }] };
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
