/** A faulty model and server: random steps for the strict server, with every fault. */

import type { Bytes, Step } from "../tests/helpers/strict_wire.ts";

/** Random numbers from 0 to 1. */
type Random = () => number;
type Call = NonNullable<Step["toolCalls"]>[number];

const FILES = ["a.txt", "b.txt", "c.ts", "d/e.txt", "crlf.txt"];
const COMMANDS = [
  "echo hello; exit 3",
  "cat; pwd; ls -la",
  "sleep 300 & echo left one",
  "for i in 1 2 3; do sleep 300 & done; exit 7",
  "(sleep 300; echo late) >/dev/null 2>&1 &",
  "nohup sleep 300 >/dev/null 2>&1 & disown",
  "bash -c 'sleep 300 & sleep 300 & wait' & exit",
  "sleep 300",
  "trap '' TERM; sleep 300 & wait",
  "head -c 300000 /dev/urandom; head -c 100000 /dev/urandom >&2",
  "yes flood | head -c 3000000",
  "kill -9 $$",
  "printf 'x\\0y\\033[31m\\377'",
];
/** Pieces of answers: words, and the marks that parsers of text look for, whole and in part. */
// deno-fmt-ignore
const SIGNS = [
  "<think>", "</think>", "<tool_call>", "</tool_call>", '{"name": "read_file", "arguments": ',
  '{"file_path": "a.txt"}', "}", "```", "```json\n", "[TOOL_CALLS]", "<|channel|>final", "<function=",
  "read_file(file_path='a.txt')", "</function>", "\ud800", "\udc00", "\0", "\x1b[2J", "\x1b]0;x\x07",
  "\u202e", "\n\n", "\r", "👩‍💻", "| a | b |\n|---|", "<invoke name=\"read_file\">", "action: ",
];

/** Draws steps. The same `random` gives the same steps for the same requests. */
export function faultyModel(random: Random): (requestText: string) => Promise<Step> {
  const below = (n: number): number => Math.floor(random() * n);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const words = (n: number): string =>
    Array.from({ length: n }, () => below(36 ** 4).toString(36)).join(" ");
  const noise = (): string =>
    Array.from({ length: 1 + below(12) }, () => below(3) ? pick(SIGNS) : words(2)).join("");

  const args: Record<string, () => Call["arguments"] & object> = {
    read_file: () => ({ file_path: pick([...FILES, "none", "d", "/dev/zero", "\0"]) }),
    write_file: () => ({ file_path: pick(FILES), content: below(8) ? noise() : words(60_000) }),
    edit_file: () => ({
      file_path: pick(FILES),
      old_string: pick(["", "a", "two\n", noise()]),
      new_string: noise(),
      replace_all: below(2) === 0,
    }),
    list_directory: () => ({ path: pick([".", "d", "none"]) }),
    glob_files: () => ({ pattern: pick(["**/*", "*.{ts,txt}", "[", "{".repeat(99), "**/d/**"]) }),
    grep_code: () => ({ pattern: pick(["two", "(a+)+$", "(", "\\w+", "[^x]*y"]) }),
    run_bash: () => ({ command: pick(COMMANDS), timeout_seconds: 1 }),
  };
  const call = (): Call => {
    const name = pick(Object.keys(args));
    const good = args[name]!();
    const id = pick([undefined, undefined, undefined, null, "call_1", "a b/c", "x".repeat(40)]);
    const given = below(8) ? good : pick([
      JSON.stringify(good).slice(0, -below(9)),
      "",
      "null",
      "[1]",
      noise(),
      { ...good, extra: words(20_000) },
      { [name]: { [name]: good } },
    ]);
    const called = below(12) ? name : pick(["no_such", "", "Read File", "ünï", "f".repeat(200)]);
    return { name: called, arguments: given, ...(id !== undefined && { id }) };
  };
  const errors = (): Step["error"] & object => {
    const status = pick([200, 400, 401, 404, 413, 429, 500, 502, 503, 529]);
    const message = status === 400 && below(2)
      ? "This model's maximum context length is 16384 tokens. However, you requested more."
      : noise().toWellFormed();
    return { status, message, ...(status === 429 && { headers: { "retry-after": "0" } }) };
  };
  const content = (): Step => ({
    ...(below(4) === 0 && { reasoning: below(2) ? words(20) : noise().toWellFormed() }),
    ...(below(3) > 0 && { text: below(2) ? words(below(80)) : noise() }),
    ...(below(5) < 2 && { toolCalls: Array.from({ length: 1 + below(4) }, call) }),
  });
  const flood = (): Step => {
    const text = pick([
      () => words(20_000),
      () => "again ".repeat(20_000),
      () => noise().repeat(3_000),
    ])();
    return below(3) ? { text } : { reasoning: text.toWellFormed(), text: "so" };
  };
  /** Puts a stop, a cut, a reset or garbage anywhere into the stream. */
  const garble = (pieces: string[]): AsyncIterable<Bytes> => {
    const at = below(pieces.length);
    const kind = below(6);
    const ms = below(40);
    const dirt = Uint8Array.from({ length: 1 + below(200) }, () => below(256));
    const line = pick([
      ": ping\n\n",
      "\n\n",
      "data: {\n\n",
      "data: null\n\n",
      "{}\n",
      "[]\n",
      "<html>\n",
    ]);
    return (async function* () {
      for (const [i, piece] of pieces.entries()) {
        if (i !== at) {
          yield piece;
        } else if (kind === 0) {
          yield piece.slice(0, piece.length / 2);
          return;
        } else if (kind === 1) {
          yield piece.slice(0, piece.length / 2);
          throw "The connection is reset, as the script wants"; // the server reports it
        } else if (kind === 2) {
          yield* [piece, dirt];
        } else if (kind === 3) {
          yield* [line, piece];
        } else if (kind === 4) {
          for (const byte of new TextEncoder().encode(piece)) yield Uint8Array.of(byte);
        } else {
          await new Promise((resolve) => setTimeout(resolve, ms));
          yield piece;
        }
      }
    })();
  };

  return async (requestText) => {
    const step = below(40) === 0 ? flood() : content();
    // With a smaller count, the server would seem to have cut the prompt.
    const inputTokens = Math.ceil(requestText.length / 4);
    step.usage = below(10) ? { inputTokens, outputTokens: 1 + below(500) } : null;
    const fault = below(20);
    if (fault === 0) step.error = errors();
    if (fault === 1) step.cut = pick(["text", "name", "arguments", "finish"]);
    if (fault === 2) step.finish = pick(["length", "refused", "stop", "tool_calls"]);
    if (fault === 3) await new Promise((resolve) => setTimeout(resolve, below(100)));
    if (fault === 4 && below(3) === 0) step.hang = true;
    if (fault >= 5 && fault < 9) {
      // A server correctly refuses a signed thought that changed on its way.
      delete step.reasoning;
      step.garble = garble;
    }
    return step;
  };
}
