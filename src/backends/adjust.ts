/**
 * Requests in the form that a server takes: what it refuses by name is asked for in its other form
 * once, and remembered.
 *
 * @module
 */

import { BackendError } from "../errors.ts";

/** One thing that servers differ in. */
export interface Adjustment {
  /** The parameter's name on the wire. */
  name: string;
  /** Matches the server's words when it refuses the parameter. */
  refusal: RegExp;
  /** The change to the request, for the notice. */
  instead: string;
}

/** Names of the adjustments that a server needs. */
export type Adjusted = ReadonlySet<string>;

/** The adjustments that the server behind a configuration needs, for as long as that object lives. */
const knownAdjustments = new WeakMap<object, Adjusted>();

/**
 * Calls `send` with the adjustments that the server of `config` is known to need; when the server
 * refuses the request in words that match another row of `table`, calls it again with that one too.
 * The adjustments that helped are remembered.
 *
 * @param onNotice Called with each adjustment, in one line.
 * @throws {BackendError} what `send` throws, unless a row matches.
 */
export async function adjusting<T>(
  config: object,
  table: readonly Adjustment[],
  send: (adjusted: Adjusted) => Promise<T>,
  onNotice: (message: string) => void = () => {},
): Promise<T> {
  const adjusted = new Set(knownAdjustments.get(config));
  for (;;) {
    try {
      const answer = await send(adjusted);
      knownAdjustments.set(config, adjusted);
      return answer;
    } catch (error) {
      const words = refusalIn(error);
      const row = table.find(({ name, refusal }) => !adjusted.has(name) && refusal.test(words));
      if (!row) throw error;
      adjusted.add(row.name);
      onNotice(`The server does not take this request ("${words}"): ${row.instead}.`);
    }
  }
}

/** The server's own words when it refused a request; empty for any other failure. */
function refusalIn(error: unknown): string {
  const refused = error instanceof BackendError &&
    (error.kind === "request" || error.kind === "model_not_found");
  return refused ? error.serverMessage ?? "" : "";
}

/** A row for a parameter that servers refuse by its name. */
export function unsupported(name: string, instead: string): Adjustment {
  const words = "unsupported|n[o']t support|unrecogni[sz]ed|unknown|unexpected|not permitted|" +
    "not allowed|forbidden|deprecated|must be verified";
  // The name and the words in either order.
  return { name, refusal: new RegExp(`^(?=.*\\b${name}\\b)(?=.*(?:${words}))`, "is"), instead };
}
