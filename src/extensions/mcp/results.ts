/** Answers of servers as text for a model: bounded, and without control characters. @module */

import { attempt } from "../../attempt.ts";
import type { RpcParams } from "../../rpc/message.ts";
import { count } from "../../text/count.ts";
import { isObject, jsonOrUndefined, sortedJson } from "../../text/json.ts";
import { oneLine } from "../../text/one_line.ts";
import { foreignText } from "../../text/sanitize.ts";
import { loadedImage } from "../../tools/files/image.ts";
import type { ImageLimits, ImagePart } from "../../types/image.ts";
import type { ToolOutcome } from "../../types/tool.ts";

const MAX_PART = 2 ** 20;
const MAX_IMAGES = 10;

export function resultOutcome(
  { content, structuredContent }: Readonly<Record<string, unknown>>,
  limits?: ImageLimits,
): string | ToolOutcome {
  const images: ImagePart[] = [];
  const text = contentText(content, structuredContent, (data) => {
    if (!limits || images.length === MAX_IMAGES) return undefined;
    // Invalid base64 and images that are too large are not shown.
    const image = attempt(() => loadedImage(Uint8Array.fromBase64(data), "", limits));
    if (image) images.push(image.part);
    return image && `image: ${image.about}`;
  });
  return images.length === 0 ? text : { content: text, images };
}

/** Shows an image, as base64, to the model, and returns the text in its place; undefined if it cannot. */
type Show = (data: string) => string | undefined;

export function contentText(content: unknown, structured?: unknown, show?: Show): string {
  const given = Array.isArray(content) ? content : content === undefined ? [] : [content];
  const parts = given.map((part) => partText(part, show)).filter((one) => one !== "");
  if (structured !== undefined && !isRepeated(given, structured)) {
    parts.push(shownText(JSON.stringify(structured)));
  }
  return parts.join("\n");
}

export function resourceText(contents: unknown): string {
  const given = Array.isArray(contents) ? contents : [];
  return given.filter(isObject).map((one) => embedded(one)).filter((one) => one !== "").join("\n");
}

function partText(part: unknown, show?: Show): string {
  if (!isObject(part)) return "";
  const { type, text, data, mimeType, resource, uri, name, description } = part;
  if (type === "text") return typeof text === "string" ? shownText(text) : "";
  if (type === "image" || type === "audio") return blobText(mimeType, data, show);
  if (type === "resource" && isObject(resource)) {
    const where = typeof resource.uri === "string" ? `[${short(resource.uri)}]\n` : "";
    return `${where}${embedded(resource, show)}`;
  }
  if (type === "resource_link" && typeof uri === "string") {
    const words = [name, description].filter((one) => typeof one === "string") as string[];
    return `[link: ${[short(uri), ...words.map(short)].join(" · ")}]`;
  }
  return `[a part of the kind ${short(String(type))}, not shown]`;
}

/** Returns the text of an embedded resource, or a line that replaces binary data. */
function embedded({ text, blob, mimeType }: Record<string, unknown>, show?: Show): string {
  if (typeof text === "string") return shownText(text);
  return typeof blob === "string" ? blobText(mimeType, blob, show) : "";
}

/** `[image/png, 12 KB, not shown]` */
function blobText(mimeType: unknown, data: unknown, show?: Show): string {
  const shown = typeof data === "string" && show?.(data);
  if (shown) return `[${shown}]`;
  const size = typeof data === "string" ? Math.floor(data.length * 3 / 4) : 0;
  const words = size < 1000 ? count(size, "byte") : `${Math.round(size / 1000)} KB`;
  return `[${short(typeof mimeType === "string" ? mimeType : "unknown")}, ${words}, not shown]`;
}

const short = (text: string): string => oneLine(text.slice(0, 300));

const shownText = (text: string): string => foreignText(text.slice(0, MAX_PART));

/** True if a part already contains the structured result, as the protocol asks for. Many results wrap a text. */
function isRepeated(parts: readonly unknown[], structured: unknown): boolean {
  const values = isObject(structured) ? Object.values(structured) : [];
  const inner = values.length === 1 ? values[0] : structured;
  const wanted = [structured, inner].map((one) => sortedJson(one));
  return parts.some((part) => {
    if (!isObject(part) || typeof part.text !== "string" || part.text.length > MAX_PART) {
      return false;
    }
    return part.text === inner || wanted.includes(sortedJson(jsonOrUndefined(part.text)));
  });
}

export function progressText({ progress, total, message }: RpcParams): string {
  const of = typeof total === "number" && total > 0 ? ` of ${total}` : "";
  const done = typeof progress === "number" ? `${progress}${of}` : "";
  const said = typeof message === "string" ? oneLine(message).slice(0, 200) : "";
  return [said, done].filter((one) => one !== "").join(" · ");
}
