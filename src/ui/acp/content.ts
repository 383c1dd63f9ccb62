import { invalidParams } from "../../rpc/message.ts";
import { isObject } from "../../text/json.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { isWithin } from "../../text/paths.ts";
import { fromFileUrl, relative } from "../../text/std_path.ts";
import { typedText } from "../../text/parts.ts";
import type { Message, Part } from "../../types/message.ts";

export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image"; mimeType: string; data: string };

/** Converts a prompt to parts. A link to a file is like a typed `@path`. @throws {RpcError} for a block of another kind. */
export function promptParts(blocks: unknown, folder: string, isNew: boolean): Part[] {
  if (!Array.isArray(blocks) || blocks.length === 0) {
    throw invalidParams("prompt must be a list of content blocks");
  }
  const parts = blocks.map((block, at) => {
    const part = isObject(block) ? partOf(block, folder) : undefined;
    if (part !== undefined) return part;
    const type = isObject(block) ? shortened(oneLine(String(block.type)), 100) : "no object";
    throw invalidParams(`prompt[${at}] cannot be used: ${type}`);
  });
  return newestMessage(parts, isNew);
}

const AVANTE_MESSAGE = /^<previous_user_message>([\s\S]*)<\/previous_user_message>$/;
const AVANTE_NOTE = /^<system_context>Continuing from previous session/;

/**
 * Avante sends what is attached, its last messages in tags, the newest first, and a note about them. A session has
 * the earlier ones, unless it is new.
 */
function newestMessage(parts: Part[], isNew: boolean): Part[] {
  const texts = parts.map((part) => part.type === "text" ? part.text : "");
  const newest = texts.findIndex((text) => AVANTE_MESSAGE.test(text));
  if (newest < 0) return parts;
  const others = parts.filter((_, at) =>
    at !== newest && !AVANTE_NOTE.test(texts[at]!) &&
    (isNew || !AVANTE_MESSAGE.test(texts[at]!))
  );
  return [{ type: "text", text: AVANTE_MESSAGE.exec(texts[newest]!)![1]! }, ...others];
}

function partOf(block: Record<string, unknown>, folder: string): Part | undefined {
  const { type, text, uri, data, mimeType, name, resource } = block;
  if (type === "text" && typeof text === "string") return { type, text };
  if (type === "image" && typeof data === "string" && typeof mimeType === "string") {
    return { type, mediaType: mimeType, data };
  }
  const link = (to: string, what: string): Part => {
    const path = pathOf(to, folder);
    const isFit = path !== undefined && !/["\n]/.test(path);
    return { type: "text", text: isFit ? `@"${path}"` : `${what}: ${to}` };
  };
  if (type === "resource_link" && typeof uri === "string") {
    return link(uri, typeof name === "string" ? name : "link");
  }
  if (type !== "resource" || !isObject(resource) || typeof resource.uri !== "string") {
    return undefined;
  }
  const named = pathOf(resource.uri, folder) ?? resource.uri;
  if (typeof resource.text === "string") {
    // Some editors send the bytes of an image as text.
    // deno-lint-ignore no-control-regex
    if (/[\0-\x08\x0e-\x1a]/.test(resource.text.slice(0, 1000))) return link(resource.uri, "file");
    return { type: "resource", kind: "file", name: named, text: resource.text };
  }
  const isImage = typeof resource.mimeType === "string" && /^image\//.test(resource.mimeType);
  if (!isImage || typeof resource.blob !== "string") return undefined;
  return {
    type: "image",
    mediaType: resource.mimeType as string,
    data: resource.blob,
    name: named,
  };
}

/** Returns the path of a `file:` address, relative if it is in `folder`; undefined for other addresses. */
function pathOf(uri: string, folder: string): string | undefined {
  if (!/^file:\/\/(?!\/*$)/i.test(uri)) return undefined;
  try {
    const path = fromFileUrl(uri.replace(/[?#].*$/, ""));
    return isWithin(folder, path) ? relative(folder, path) || "." : path;
  } catch {
    return undefined;
  }
}

export function userBlocks(message: Message): ContentBlock[] {
  const images = (message.parts ?? []).filter((part) => part.type === "image");
  const text = typedText(message);
  return [
    ...text === "" ? [] : [{ type: "text", text } as const],
    ...images.map(({ mediaType, data }) => ({ type: "image", mimeType: mediaType, data } as const)),
  ];
}
