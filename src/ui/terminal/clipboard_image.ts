/** The image in the clipboard of this machine, as other programs read it. @module */

import { attempt } from "../../attempt.ts";
import { findProgram, outerFolders } from "../../find_program.ts";
import { makeTempFolder } from "../../temp_folder.ts";
import { join } from "../../text/std_path.ts";

/** Programs that write the clipboard's image to stdout, as PNG. */
const READERS: readonly (readonly [program: string, ...args: string[]])[] = [
  ["wl-paste", "--no-newline", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"],
  ["pngpaste", "-"],
];
const MAX_WAIT_MS = 3000;
const PNG = "\x89PNG";

/** Saves images of the clipboard in a private folder, which is removed at the end. */
export class ClipboardImages implements Disposable {
  #folder: string | undefined;
  #count = 0;

  constructor(private readonly readers = READERS) {}

  /** Saves the image and returns its path; without an image, calls `say` and returns undefined. */
  async paste(say: (line: string) => void): Promise<string | undefined> {
    for (const [program, ...args] of this.readers) {
      const bytes = await printedBy(program, args).catch(() => undefined);
      if (bytes === undefined || !isPng(bytes)) continue;
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

const isPng = (bytes: Uint8Array): boolean =>
  [...PNG].every((char, i) => bytes[i] === char.charCodeAt(0));

/** The output of a program; undefined if it fails. */
async function printedBy(name: string, args: string[]): Promise<Uint8Array | undefined> {
  const program = Deno.build.os === "windows"
    ? name
    : findProgram(name, outerFolders(), attempt(Deno.cwd));
  if (program === undefined) return undefined;
  const signal = AbortSignal.timeout(MAX_WAIT_MS);
  const options = { args, stdin: "null", stderr: "null", signal } as const;
  const { success, stdout } = await new Deno.Command(program, options).output();
  return success ? stdout : undefined;
}
