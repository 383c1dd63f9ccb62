/** The slots of llama.cpp's server. Each answers one request at a time, and caches its computation. @module */

import { isObject, objectOr } from "../../text/json.ts";
import { type Fields, wholeNumber } from "../fields.ts";
import { askFields, askServer, type LocalServerOptions, onFailure, orEmpty } from "./connection.ts";

/** The maximum wait in milliseconds for an answer, which is optional. */
const LIMITS = { timeoutMs: 2000, isOptional: true };

/** Returns the number of requests that llama.cpp processes at a time (`GET /props`); otherwise undefined. */
async function totalSlots(options: LocalServerOptions): Promise<number | undefined> {
  const { total_slots: slots } = await askFields("/props", options, LIMITS).catch(orEmpty);
  return wholeNumber(slots);
}

async function listSlots(options: LocalServerOptions): Promise<Fields[]> {
  const slots = await askServer("/slots", options, LIMITS).catch(onFailure(() => []));
  return Array.isArray(slots) ? slots.filter(isObject) : [];
}

/** Returns the free slots but the newest request's, the last used first; empty for one slot or an unknown server. */
export async function freeSlots(options: LocalServerOptions): Promise<number[]> {
  if ((await totalSlots(options) ?? 1) === 1) return [];
  const byUse = (await listSlots(options)).sort((a, b) => taskOf(b) - taskOf(a));
  return byUse.slice(1).filter(({ is_processing: isBusy }) => isBusy !== true)
    .map(({ id }) => id).filter((id) => typeof id === "number");
}

/** The newest task of each slot; -1 for an unused one. */
export type SlotTasks = readonly { slot: number; task: number }[];

/** Returns the last use of the slots; empty if the server does not say. */
export async function slotTasks(options: LocalServerOptions): Promise<SlotTasks> {
  const slots = await listSlots(options);
  return slots.map((one, at) => ({ slot: wholeNumber(one.id, 0) ?? at, task: taskOf(one) }));
}

const OTHER_TEXT = "0 1 2 3 4 5 6 7";

/**
 * Makes a server with one slot store its last computation. After a short conversation with the same start,
 * llama.cpp would otherwise compute the rest of the longer one again: it searches its cache only if less than
 * half of the slot is useful. Costs 15 tokens.
 */
export async function clearSlot(options: LocalServerOptions): Promise<void> {
  if (await totalSlots(options) !== 1) return;
  const body = { prompt: OTHER_TEXT, n_predict: 0 };
  await askServer("/completion", options, { ...LIMITS, body }).catch(onFailure(() => undefined));
}

/** Returns the number of a slot's newest task. All slots share one counter. */
const taskOf = ({ id_task: task }: Fields) => typeof task === "number" ? task : -1;

/** True if every slot writes an answer, so that a request waits. A slot that reads a prompt may be the request's. */
export async function allSlotsWrite(options: LocalServerOptions): Promise<boolean> {
  const slots = await listSlots(options);
  return slots.length > 0 && slots.every(isWriting);
}

function isWriting({ is_processing, next_token }: Fields): boolean {
  // An object in older versions.
  const { n_decoded } = objectOr(Array.isArray(next_token) ? next_token[0] : next_token);
  return is_processing === true && typeof n_decoded === "number" && n_decoded > 0;
}
