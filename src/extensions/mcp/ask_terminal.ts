import { orAborted, within } from "../../wire/wait.ts";

/** Input that was typed before a question comes within this time, in ms. */
const TYPED_MS = 100;

/** Asks yes or no on the terminal; what was typed before is no answer. @throws the reason of `signal` if it is aborted. */
export async function answersYes(
  question: string,
  output: { write(text: string): void },
  signal: AbortSignal,
): Promise<boolean> {
  const buffer = new Uint8Array(4096);
  // In this mode, unfinished lines are read, too.
  Deno.stdin.setRaw(true, { cbreak: true });
  let reading = Deno.stdin.read(buffer);
  while (await within(TYPED_MS, reading)) reading = Deno.stdin.read(buffer);
  Deno.stdin.setRaw(false);
  output.write(`${question} [y/N] `);
  const length = await orAborted(reading, signal);
  return /^y(es)?$/i.test(new TextDecoder().decode(buffer.subarray(0, length ?? 0)).trim());
}
