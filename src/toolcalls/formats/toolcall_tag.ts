import type { CallFormat } from "../format.ts";
import { JsonCallReader } from "../json_reader.ts";

/** `<toolcall>{"name": ..., "arguments": {...}}</toolcall>`, one or several calls (spec 4.6). */
export const toolcallTag: CallFormat = {
  name: "toolcall tag",
  markers: ["<toolcall>"],
  read: (marker, context) =>
    new JsonCallReader({ open: marker, close: "</toolcall>", strict: false }, context),
};
