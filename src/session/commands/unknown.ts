/** The report of a name that nothing has. @module */

import { nearest } from "../../text/nearest.ts";
import type { Report } from "../report.ts";

type Unknown = Extract<Report, { type: "unknown" }>;

/** Reports that there is no such `what`, with the one of `names` that was likely meant. */
export function unknownReport(
  what: Unknown["what"],
  name: string,
  names: readonly string[],
): Unknown {
  const near = nearest(name, names);
  return { type: "unknown", what, name, ...near !== undefined && { nearest: near } };
}
