/**
 * Formats that say the name first and the arguments after it, up to a closing mark or the end of a
 * JSON object.
 *
 * @module
 */

import { type MarkerReader, markerReader } from "../text/markers.ts";
import {
  type CallContext,
  type CallReader,
  type Format,
  offeredName,
  type Verdict,
} from "./format.ts";
import { invalidCall, newCall } from "./json_calls.ts";
import { jsonScanner } from "./json_scanner.ts";

/** A piece of a head: text as it is, or a pattern of which every beginning matches as well. */
export type Atom = string | RegExp;

/** How calls of a format are written. */
export interface Block {
  /** For people. */
  name: string;
  /** The markers, and what stands between each and the head. */
  markers: Readonly<Record<string, readonly Atom[]>>;
  /** From there to the arguments; the group `name` is the tool's, with a namespace or without. */
  head: readonly Atom[];
  /** Where the arguments end; without it, at the end of the JSON object that they are. */
  close?: readonly string[];
  /** What stands before and behind each value; within one, `close` closes nothing. */
  value?: readonly [open: string, close: string];
  /** What else may stand behind, and goes with the call. */
  after?: readonly string[];
  /** Recognised at the beginning of a line only. */
  lineStart?: true;
  /** The arguments, or undefined where they are broken. */
  args(body: string, name: string, context: CallContext): Record<string, unknown> | undefined;
}

/** A head is no longer than this. */
const MAX_HEAD = 256;
const CUT = "it was cut off before its end";
const BROKEN = "its arguments could not be read: write them as the format has it";

/** The format that `block` describes. */
export function blockFormat(block: Block): Format {
  // Made when a marker is met: most answers have none.
  const heads = new Map<string, Head>();
  function headOf(marker: string): Head {
    const known = heads.get(marker);
    if (known) return known;
    const [, lead] = Object.entries(block.markers).find(([one]) => one.toLowerCase() === marker)!;
    const atoms = [...lead, ...block.head];
    const head = {
      whole: new RegExp(`^${atoms.map(source).join("")}`),
      beginning: new RegExp(`^(?:$|${beginningOf(atoms)})`),
    };
    heads.set(marker, head);
    return head;
  }
  return {
    name: block.name,
    markers: Object.keys(block.markers),
    needsNames: true,
    ...(block.lineStart && { lineStart: true }),
    read: (marker, context) => blockReader(block, headOf(marker.toLowerCase()), context),
  };
}

interface Head {
  whole: RegExp;
  beginning: RegExp;
}

function blockReader(block: Block, head: Head, context: CallContext): CallReader {
  /** What follows the marker, until the name is known. */
  let start = "";
  let name: string | undefined;
  /** How much was read before the body, and the body itself. */
  let before = 0;
  let body = "";
  let reader: MarkerReader | undefined;
  const json = jsonScanner();
  /** Whether the body is JSON, in whose strings nothing is a mark; undefined while unknown. */
  let isJson: boolean | undefined;
  let inString = false;
  const values = block.value?.map((mark) => mark.toLowerCase()) ?? [];
  let inValue = false;
  /** The first closing mark within the value that is open: it closes if that value never ends. */
  let early: { at: number; length: number } | undefined;
  /** What follows the call, and may go with it. */
  let behind: string | undefined;
  let end = 0;
  let args: Record<string, unknown> | undefined;
  let isClosed = false;

  /** Looks for the name; what follows the head. */
  function readHead(piece: string, final: boolean): string | "text" | undefined {
    start += piece;
    const known = start.slice(0, MAX_HEAD);
    const match = head.whole.exec(known);
    if (!match) {
      const mayCome = !final && start.length < MAX_HEAD && head.beginning.test(known);
      return mayCome ? undefined : "text";
    }
    name = offeredName(match.groups!.name!, context);
    if (name === undefined) return "text";
    before = match[0].length;
    return undefined;
  }

  /** Reads the body up to its end; true when it is there. */
  function readBody(piece: string, final: boolean): boolean {
    if (block.close) {
      reader ??= markerReader([...block.close, ...block.value ?? []], { inCode: true });
      reader.push(piece);
      for (;;) {
        const { text, marker } = reader.next(final);
        addToBody(text);
        if (marker === undefined) {
          if (final && early) closeEarly("");
          return final;
        }
        if (isClosing(marker.toLowerCase())) {
          isClosed = true;
          end = before + body.length + marker.length;
          behind = reader.take();
          return true;
        }
        if (early && marker.toLowerCase() === values[0]) {
          closeEarly(marker);
          return true;
        }
        addToBody(marker);
      }
    }
    const scanned = json.scan(piece, 0);
    const to = scanned.end ?? scanned.error ?? piece.length;
    body += piece.slice(0, to);
    if (scanned.end === undefined && scanned.error === undefined) return final;
    isClosed = scanned.end !== undefined;
    end = before + body.length;
    behind = piece.slice(to);
    return true;
  }

  function addToBody(text: string): void {
    body += text;
    if (isJson === undefined) {
      const [lead, brace] = /^\s*(?:`{0,2}$|`{3}\w*\s*)?(\{)?/.exec(body.slice(0, MAX_HEAD))!;
      if (!brace && lead.length === body.length) return;
      isJson = brace !== undefined;
      text = body.slice(lead.length - 1);
    }
    if (!isJson || text === "") return;
    const scanned = json.scan(text, 0);
    inString = scanned.inString ?? false;
    isJson = scanned.inString !== undefined;
  }

  /** Whether `marker` closes the call. */
  function isClosing(marker: string): boolean {
    if (inString) return false;
    if (values.includes(marker)) {
      inValue = marker === values[0];
      if (!inValue) early = undefined;
      return false;
    }
    if (inValue) early ??= { at: body.length, length: marker.length };
    return !inValue;
  }

  /** The end of the value that is open does not come: a mark in it closes the call. */
  function closeEarly(marker: string): void {
    const { at, length } = early!;
    behind = body.slice(at + length) + marker;
    body = body.slice(0, at);
    end = before + at + length;
    isClosed = true;
    // Where nothing else follows, that mark was not part of the value, but all its end.
    const marks = block.after ?? [];
    if (marks.reduce((rest, mark) => rest.replace(mark, ""), behind).trim() === "") {
      body += block.value![1];
    }
  }

  function readBehind(final: boolean): Verdict | undefined {
    for (;;) {
      const text = behind!.trimStart();
      const mark = block.after?.find((candidate) => text.startsWith(candidate));
      if (mark !== undefined) {
        end += behind!.length - text.length + mark.length;
        behind = text.slice(mark.length);
        continue;
      }
      const mayCome = block.after?.some((candidate) => candidate.startsWith(text));
      if (mayCome && !final && behind!.length < MAX_HEAD) return undefined;
      const call = args
        ? newCall(name!, args, context)
        : invalidCall(name!, body, isClosed ? BROKEN : CUT, context);
      return { calls: [call], end };
    }
  }

  return {
    push(piece, final) {
      if (name === undefined) {
        const verdict = readHead(piece, final);
        if (name === undefined) return verdict === "text" ? "text" : undefined;
        piece = start.slice(before);
        if (!block.close) {
          const gap = piece.length - piece.trimStart().length;
          before += gap;
          piece = piece.slice(gap);
        }
      }
      if (behind === undefined) {
        if (!readBody(piece, final)) return undefined;
        // Without its end, only JSON shows that it is whole.
        if (isClosed || /^\s*(?:```\w*\s*)?[{"]/.test(body)) args = block.args(body, name, context);
        if (behind === undefined) {
          end = before + body.length;
          behind = "";
        }
      } else behind += piece;
      return readBehind(final);
    },
  };
}

function source(atom: Atom): string {
  return typeof atom === "string" ? escape(atom) : atom.source;
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** A pattern for all beginnings of what `atoms` match, up to the end of the text. */
function beginningOf(atoms: readonly Atom[]): string {
  return atoms.reduceRight<string>((rest, atom) => {
    // A group's name may be there once only.
    const whole = source(atom).replace(/\(\?<\w+>/g, "(?:");
    const more = rest === "" ? "$" : `(?:$|${rest})`;
    if (typeof atom !== "string") return `${whole}${more}`;
    const cut = [...atom].slice(0, -1).map(escape)
      .reduceRight((tail, char) => `${char}(?:$${tail && `|${tail}`})`, "");
    return `(?:${whole}${more}${cut && `|${cut}`})`;
  }, "");
}
