import type { Format } from "../format.ts";
import { jsonReader } from "../json_reader.ts";

/** `<toolcall>{"name": ..., "arguments": {...}}</toolcall>`, one or several calls (spec 4.6). */
export const tag: Format = {
  name: "toolcall tag",
  markers: ["<toolcall>"],
  read: (marker, context) =>
    jsonReader({ open: marker, close: "</toolcall>", strict: false }, context),
};
