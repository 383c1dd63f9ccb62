/** The slots of llama.cpp's server: each keeps what it computed of one conversation. @module */

import { isObject } from "../../text/json.ts";
import type { Fields } from "../fields.ts";
import { askServer, type LocalServerOptions, onFailure } from "./connection.ts";

/** The longest wait for an answer, in milliseconds. */
const ASK_SLOTS_MS = 1000;

/**
 * The slots that are free beside the one that the newest request went to, from `GET /props` and `GET
 * /slots`, those that were used last first; none where the server has one slot, or does not say.
 */
export async function serverSlots(options: LocalServerOptions): Promise<number[]> {
  const limits = { timeoutMs: ASK_SLOTS_MS, isOptional: true };
  const ask = (path: string) => askServer(path, options, limits).catch(onFailure(() => undefined));
  const props = await ask("/props");
  if (!isObject(props) || !(Number(props.total_slots) > 1)) return [];
  const told = await ask("/slots");
  const slots = Array.isArray(told) ? told.filter(isObject) : [];
  const byUse = slots.toSorted((a, b) => taskOf(b) - taskOf(a));
  return byUse.slice(1).filter(({ is_processing: isBusy }) => isBusy !== true)
    .map(({ id }) => id).filter((id) => typeof id === "number");
}

/** The number of the newest task of a slot, which counts up over all of them. */
const taskOf = ({ id_task: task }: Fields) => typeof task === "number" ? task : -1;
