/** The parts of a user message: what extensions make of its first line, or the files that it names. @module */

import { attempt } from "../attempt.ts";
import { IMAGE_LIMITS, type ModelTarget } from "../models/target.ts";
import { loadedImage } from "../tools/files/image.ts";
import type { ImagePart } from "../types/image.ts";
import type { Part, TextPart } from "../types/message.ts";
import { attachFiles } from "./attach.ts";
import type { SessionState } from "./extension.ts";

export async function messageParts(
  session: SessionState,
  given: readonly Part[],
  signal: AbortSignal,
): Promise<readonly Part[]> {
  const { agent, fit } = session;
  const typed = given.filter((part) => part.type === "text");
  const texts = typed.map(({ type, text }): TextPart => ({ type, text }));
  const expanded = await expandedLine(session, typed[0], signal);
  const parts = [
    ...expanded
      ? [...expanded, ...texts.slice(1)]
      : [...texts, ...await attached(session, typed, signal)],
    ...given.filter((part) => part.type !== "text"),
  ];
  if (!parts.some(({ type }) => type === "image")) return parts;
  return checkedImages(parts, fit.targetOf(agent).kind);
}

async function expandedLine(
  { extensions }: SessionState,
  line: TextPart | undefined,
  signal: AbortSignal,
): Promise<Part[] | undefined> {
  if (line === undefined || line.pasted?.[0]?.[0] === 0) return undefined;
  for (const extension of extensions) {
    const expand = extension.expands?.(line.text);
    if (expand) return await expand(line, signal);
  }
  return undefined;
}

/** Returns the files that `texts` name; empty if the turn has been stopped. */
async function attached(
  { agent, extensions, approve, policyWith, notify }: SessionState,
  texts: readonly TextPart[],
  signal: AbortSignal,
): Promise<Part[]> {
  try {
    const others = (name: string) => {
      for (const extension of extensions) {
        const text = extension.attach?.(name, signal);
        if (text) return text;
      }
    };
    const { parts, notice } = await attachFiles(agent, texts, signal, policyWith(approve), others);
    if (notice) notify(notice);
    return parts;
  } catch (error) {
    if (signal.aborted) return [];
    throw error;
  }
}

/** Returns the parts, each image with the type that its bytes show. @throws {TypeError} {RangeError} for other files */
export const checkedImages = (parts: readonly Part[], kind: ModelTarget["kind"]): Part[] =>
  parts.map((part) => part.type === "image" ? checkedImage(part, kind) : part);

function checkedImage(part: ImagePart, kind: ModelTarget["kind"]): ImagePart {
  const { name = "", data } = part;
  const bytes = attempt(() => Uint8Array.fromBase64(data)) ?? new Uint8Array();
  const image = loadedImage(bytes, name, IMAGE_LIMITS[kind]);
  if (image !== undefined) return image.part;
  throw new TypeError(
    `Cannot send ${name || "an image"} because it is not a PNG, JPEG, WebP or GIF image`,
  );
}
