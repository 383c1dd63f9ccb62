// Speed and memory as ratios against references measured in the same run: paired, alternating,
// medians. `scripts/bench [once|round|big|search|terminal|decode|sandbox ...]`; all of them without arguments.
// `scripts/bench exam ...` compares agents: scripts/bench_exam.ts.
import {
  compared,
  inPairs,
  launchFlags,
  median,
  memoryOf,
  root,
  startServer,
  timeOf,
} from "./bench_tools.ts";
import type { Decoder } from "../src/wire/lines.ts";
import { NdjsonDecoder } from "../src/wire/ndjson.ts";
import { SseDecoder } from "../src/wire/sse.ts";

if (Deno.args[0] === "exam") {
  Deno.exit(await (await import("./bench_exam.ts")).benchExam(Deno.args.slice(1)));
}

const deno = Deno.execPath();

interface Run {
  ms: number;
  peakMb: number;
  bytes: number;
}

const state = await Deno.makeTempDir();

/** Runs a command to its end: wall time, peak memory, bytes on stdout. */
async function run(args: string[], cwd: string, more: Record<string, string> = {}): Promise<Run> {
  const start = performance.now();
  const child = new Deno.Command(deno, {
    args,
    cwd,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
    env: { NO_COLOR: "1", XDG_STATE_HOME: state, ...more },
  }).spawn();
  let peakMb = 0;
  // The peak only grows, so the last value before the end is near it.
  const poll = setInterval(() => peakMb = memoryOf(child.pid, "VmHWM") || peakMb, 2);
  let bytes = 0;
  for await (const chunk of child.stdout) bytes += chunk.length;
  peakMb = memoryOf(child.pid, "VmHWM") || peakMb;
  const { code } = await child.status;
  clearInterval(poll);
  if (code !== 0) throw new Error(`exit code ${code}: deno ${args.join(" ")}`);
  return { ms: performance.now() - start, peakMb, bytes };
}

/** Runs both in turn. Prints the median of each, and the median of the pairs' ratios. */
async function pair(
  name: string,
  runs: number,
  ours: () => Promise<Run>,
  floor: () => Promise<Run>,
): Promise<void> {
  const rows = await inPairs(runs, ours, floor);
  const of = (key: keyof Run) => rows.map(([a, b]) => [a[key], b[key]] as const);
  const [mine, its] = [0, 1].map((i) => median(of("bytes").map((row) => row[i]!)));
  const out = mine === its ? "same" : `${mine} against ${its}`;
  const memory = compared(of("peakMb"), "MB");
  console.log(`${name.padEnd(22)} ${compared(of("ms"), "ms")}   ${memory}   ${out} bytes out`);
}

/** Decodes `bytes` in chunks of 64 KiB. */
function decode(bytes: Uint8Array, decoder: Decoder): void {
  for (let at = 0; at < bytes.length; at += 65_536) decoder.push(bytes.subarray(at, at + 65_536));
  decoder.end();
}

/** Measures the decoders against a minimal one, which splits the decoded text and parses each line. */
async function benchDecoders(): Promise<void> {
  const chunk = (i: number) =>
    JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { content: `w${i} ` }, finish_reason: null }],
    });
  const lines = Array.from({ length: 200_000 }, (_, i) => chunk(i));
  const rows: [name: string, text: string, prefix: string, make: () => Decoder][] = [
    [
      "SSE",
      lines.map((line) => `data: ${line}\n\n`).join(""),
      "data: ",
      () => new SseDecoder(({ data }) => void JSON.parse(data)),
    ],
    ["NDJSON", lines.join("\n"), "", () => new NdjsonDecoder(() => {})],
  ];
  for (const [name, text, prefix, make] of rows) {
    const bytes = new TextEncoder().encode(text);
    const plain = (): Decoder => {
      const utf8 = new TextDecoder();
      let rest = "";
      return {
        push(part) {
          const parts = (rest + utf8.decode(part, { stream: true })).split("\n");
          rest = parts.pop()!;
          for (const line of parts) if (line !== "") JSON.parse(line.slice(prefix.length));
        },
        end() {},
      };
    };
    const time = (decoder: () => Decoder) => () => timeOf(() => decode(bytes, decoder()));
    const rows = await inPairs(7, time(make), time(plain));
    console.log(`${`${name} decoder`.padEnd(22)} ${compared(rows, "ms", 1)}`);
  }
}

const asked = (name: string) => Deno.args.length === 0 || Deno.args.includes(name);
if (asked("decode")) await benchDecoders();
for (const name of ["search", "terminal", "sandbox"]) {
  if (!asked(name)) continue;
  const args = ["run", "-A", `${root}scripts/bench_${name}.ts`];
  await new Deno.Command(deno, { args, stdout: "inherit", stderr: "inherit" }).spawn().status;
}
const folder = await Deno.makeTempDir();
const bundle = `${folder}/bundle/main.js`;
for (const name of "ab") await Deno.writeTextFile(`${folder}/${name}.txt`, "one\ntwo\nthree\n");
try {
  await using server = await startServer();
  const { url } = server;
  // scripts/compile puts this bundle into the binary. The sources start more slowly.
  const bundled = await new Deno.Command(`${root}scripts/bundle`, { args: [`${folder}/bundle`] })
    .output();
  if (!bundled.success) console.log("not bundled, as the bundler did not run: measuring sources");
  // As scripts/copilot starts it.
  const v8 = await launchFlags();
  const sources = { program: [`${root}main.ts`], cache: `${folder}/sources` };
  const fastest = bundled.success
    ? { program: ["--no-config", "--no-lock", bundle], cache: `${root}.deno/cache` }
    : sources;
  const ours = (prompt: string, { program, cache } = fastest) => {
    const args = ["run", "--quiet", "-A", v8, ...program, "--base-url", url, "-p", prompt];
    return run(args, folder, { DENO_DIR: cache });
  };
  // Programs with other flags for V8 would write the compiled code of a common cache anew, each for the other.
  const cache = { DENO_DIR: `${folder}/cache` };
  const floor = (prompt: string) =>
    run(["run", "-A", `${root}scripts/bench_floor.ts`, url, prompt], folder, cache);
  const both = (name: string, runs: number, prompt: string) =>
    pair(name, runs, () => ours(prompt), () => floor(prompt));
  if (asked("once")) {
    await both("one-shot", 15, "hello");
    await pair("one-shot, from sources", 15, () => ours("hello", sources), () => floor("hello"));
  }
  if (asked("round")) {
    await both("ten reads", 15, "reads 10");
    const rows: [number, number][] = [];
    for (let i = 0; i < 9; i++) {
      const per = async (of: (prompt: string) => Promise<Run>) =>
        ((await of("reads 45")).ms - (await of("reads 5")).ms) / 40;
      rows.push([await per(ours), await per(floor)]);
    }
    console.log(`a round of one read    ${compared(rows, "ms", 2)}`);
  }
  if (asked("big")) await both("2 MB in 500 000 deltas", 5, "big");
} finally {
  for (const at of [folder, state]) await Deno.remove(at, { recursive: true });
}
