// Prints how many times its size an edit of a 50 MB file takes in memory; the argument is the kind of
// file. A process of its own, as the peak of a process only grows. Linux only.
import { editFile } from "../src/tools/files/edit_file.ts";

const BYTES = 50_000_000;
const [name = "LF"] = Deno.args;
const line = "é".padEnd(98, "x");
/** The lines of which a file consists. */
const LINES: Record<string, string> = {
  "LF": `${line}\n`,
  "CRLF": `${line}\r\n`,
  "mixed": `${line}\r\n${line}\n${line}\r\n`,
  "matches": "the end x\n", // 5 million of them
};
const lines = LINES[name]!;
const workingDir = await Deno.makeTempDir();
try {
  // In pieces: a text of all of it would be a part of the peak.
  using file = await Deno.open(`${workingDir}/f`, { write: true, createNew: true });
  const block = new TextEncoder().encode(lines.repeat(1000));
  for (let at = 0; at < BYTES / block.length; at++) file.writeSync(block);
  file.writeSync(new TextEncoder().encode(lines.endsWith("\r\n") ? "the end\r\n" : "the end\n"));
  const before = peak();
  const edit = name === "matches"
    ? { file_path: "f", old_string: "the end", new_string: "no end", replace_all: true }
    : { file_path: "f", old_string: "the end\n", new_string: "no end\n", replace_all: false };
  const signal = new AbortController().signal;
  await editFile(edit, { workingDir, maxOutputChars: 1000, signal });
  console.log(
    `an edit of 50 MB, ${name} `.padEnd(25),
    `${((peak() - before) / BYTES).toFixed(2)}x`,
  );
} finally {
  await Deno.remove(workingDir, { recursive: true });
}

function peak(): number {
  const status = Deno.readTextFileSync("/proc/self/status");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
}
