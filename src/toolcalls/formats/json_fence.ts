import type { CallFormat } from "../format.ts";
import { JsonCallReader } from "../json_reader.ts";

/** A code block labelled json that holds nothing but calls (spec 4.6). */
export const jsonFence: CallFormat = {
  name: "json code block",
  fences: ["json"],
  read: (marker, context) =>
    new JsonCallReader({ close: marker.match(/^[`~]+/)![0], strict: true }, context),
};
