/** Images that a user drops on the terminal, which types or pastes their paths. @module */

import { attempt } from "../../attempt.ts";
import { isImageName } from "../../text/extname.ts";
import { fromFileUrl, isAbsolute, join } from "../../text/std_path.ts";
import { userProgram } from "../../start_program.ts";
import { makeTempFolder, removeTempFolder } from "../../temp_folder.ts";

const MAX_DROPPED_CHARS = 8192;

/** The `@path` of each image if a paste is only absolute paths of images, quoted, escaped or as `file://`. */
export function droppedImages(paste: string): string | undefined {
  const text = paste.trim();
  if (text.length > MAX_DROPPED_CHARS || !isImageName(text.replace(/["']$/, ""))) return undefined;
  // Some terminals do not escape the blanks of a path.
  const paths = isImage(text) ? [text] : shellWords(text).map(droppedPath);
  if (!paths.every((path) => path !== undefined && isImage(path))) return undefined;
  return paths.map((path) => /[\s]/.test(path!) ? `@"${path}" ` : `@${path} `).join("");
}

function shellWords(text: string): string[] {
  return text.match(/(?:'[^']*'|"[^"]*"|\\[^]|[^\s'"\\])+/g) ?? [];
}

function droppedPath(word: string): string | undefined {
  if (/^file:\/\//i.test(word)) return attempt(() => fromFileUrl(word));
  return word.replace(
    /'([^']*)'|"([^"]*)"|\\([^])/g,
    (_, single, double, escaped) => single ?? double ?? escaped,
  );
}

function isImage(path: string): boolean {
  return isAbsolute(path) && !/["\n\r\p{Cc}]/u.test(path) &&
    isImageName(path) && attempt(() => Deno.statSync(path).isFile) === true;
}

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
  async paste(say: (line: string) => void, worked?: string): Promise<string | undefined> {
    for (const [program, ...args] of this.readers) {
      const bytes = await printedBy([program, ...args], worked).catch(() => undefined);
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
    if (folder !== undefined) removeTempFolder(folder);
    this.#folder = undefined;
  }
}

const isPng = (bytes: Uint8Array): boolean =>
  [...PNG].every((char, i) => bytes[i] === char.charCodeAt(0));

async function printedBy(
  [name, ...args]: [string, ...string[]],
  worked?: string,
): Promise<Uint8Array | undefined> {
  const signal = AbortSignal.timeout(MAX_WAIT_MS);
  const options = { args, stdin: "null", stderr: "null", signal } as const;
  const ran = await userProgram(name, options, worked)?.output();
  return ran?.success ? ran.stdout : undefined;
}
