import type { Format } from "../format.ts";
import { jsonReader } from "../json_reader.ts";

/** A code block labelled json that holds nothing but calls (spec 4.6). */
export const fence: Format = {
  name: "json code block",
  fences: ["json"],
  read: (marker, context) =>
    jsonReader({ close: marker.match(/^[`~]+/)![0], strict: true }, context),
};
