// Prints how many times its size an edit of a 50 MB file takes in memory, with the line ending that
// is the argument. A process of its own, as the peak of a process only grows. Linux only.
import { editFile } from "../src/tools/files/edit_file.ts";

const BYTES = 50_000_000;
const [name = "LF"] = Deno.args;
const ending = name === "CRLF" ? "\r\n" : "\n";
const workingDir = await Deno.makeTempDir();
try {
  // In pieces: a text of all of it would be a part of the peak.
  using file = await Deno.open(`${workingDir}/f`, { write: true, createNew: true });
  const block = new TextEncoder().encode(`${"é".padEnd(98, "x")}${ending}`.repeat(1000));
  for (let at = 0; at < BYTES / block.length; at++) file.writeSync(block);
  file.writeSync(new TextEncoder().encode(`the end${ending}`));
  const before = peak();
  const edit = { file_path: "f", old_string: "the end", new_string: "no end", replace_all: false };
  const signal = new AbortController().signal;
  await editFile(edit, { workingDir, maxOutputChars: 1000, signal });
  console.log(
    `an edit of 50 MB, ${name} `.padEnd(22),
    `${((peak() - before) / BYTES).toFixed(2)}x`,
  );
} finally {
  await Deno.remove(workingDir, { recursive: true });
}

function peak(): number {
  const status = Deno.readTextFileSync("/proc/self/status");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
}
