/** The image in the clipboard of this machine, by the programs that read it. @module */

import { attempt } from "../attempt.ts";
import { makeTempFolder } from "../temp_folder.ts";
import { join } from "../text/std_path.ts";

/** Programs that write the clipboard's image to stdout, as PNG. */
const READERS: readonly (readonly [program: string, ...args: string[]])[] = [
  ["wl-paste", "--no-newline", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"],
  ["pngpaste", "-"],
];
/** The longest wait for a program, in milliseconds. */
const MAX_WAIT_MS = 3000;
const PNG = "\x89PNG";

/** Writes images of the clipboard into a private folder, which is gone with it. */
export class ClipboardImages implements Disposable {
  #folder: string | undefined;
  #count = 0;

  constructor(private readonly readers = READERS) {}

  /** The path of the clipboard's image in a file; undefined where there is none, which `say` is told. */
  async paste(say: (line: string) => void): Promise<string | undefined> {
    for (const [program, ...args] of this.readers) {
      const bytes = await printedBy(program, args).catch(() => undefined);
      if (bytes === undefined || !startsAsPng(bytes)) continue;
      this.#folder ??= makeTempFolder("copilot-image-");
      const path = join(this.#folder, `clipboard-${++this.#count}.png`);
      Deno.writeFileSync(path, bytes, { mode: 0o600 });
      return path;
    }
    const programs = this.readers.map(([program]) => program).join(", ");
    say(`· no image in the clipboard (programs: ${programs})`);
    return undefined;
  }

  [Symbol.dispose](): void {
    const folder = this.#folder;
    if (folder !== undefined) attempt(() => Deno.removeSync(folder, { recursive: true }));
    this.#folder = undefined;
  }
}

const startsAsPng = (bytes: Uint8Array): boolean =>
  [...PNG].every((char, i) => bytes[i] === char.charCodeAt(0));

/** What a program prints; undefined where it fails or takes too long. */
async function printedBy(program: string, args: string[]): Promise<Uint8Array | undefined> {
  const signal = AbortSignal.timeout(MAX_WAIT_MS);
  const options = { args, stdin: "null", stderr: "null", signal } as const;
  const { success, stdout } = await new Deno.Command(program, options).output();
  return success ? stdout : undefined;
}
