/** The slots of llama.cpp's server: each answers one request at a time, and keeps what it computed of it. @module */

import { isObject } from "../../text/json.ts";
import { type Fields, wholeNumber } from "../fields.ts";
import {
  askFields,
  askServer,
  type LocalServerOptions,
  objectOr,
  onFailure,
  orEmpty,
} from "./connection.ts";

/** The longest wait for an answer, in milliseconds, as a request does as well without. */
const LIMITS = { timeoutMs: 2000, isOptional: true };

/** The number of requests that llama.cpp answers at a time (`GET /props`); undefined elsewhere. */
export async function totalSlots(options: LocalServerOptions): Promise<number | undefined> {
  const { total_slots: slots } = await askFields("/props", options, LIMITS).catch(orEmpty);
  return wholeNumber(slots);
}

/** The slots as the server describes them (`GET /slots`); none where it does not. */
async function listSlots(options: LocalServerOptions): Promise<Fields[]> {
  const slots = await askServer("/slots", options, LIMITS).catch(onFailure(() => []));
  return Array.isArray(slots) ? slots.filter(isObject) : [];
}

/**
 * The ids of the slots that are free beside the one that the newest request went to, those that were used
 * last first; none where the server has one slot, or does not say.
 */
export async function freeSlots(options: LocalServerOptions): Promise<number[]> {
  if ((await totalSlots(options) ?? 1) === 1) return [];
  const byUse = (await listSlots(options)).sort((a, b) => taskOf(b) - taskOf(a));
  return byUse.slice(1).filter(({ is_processing: isBusy }) => isBusy !== true)
    .map(({ id }) => id).filter((id) => typeof id === "number");
}

/** The newest task of each slot; a slot that had none has the task -1. */
export type SlotTasks = readonly { slot: number; task: number }[];

/** What the slots were used for last; empty where the server does not say. */
export async function slotTasks(options: LocalServerOptions): Promise<SlotTasks> {
  const slots = await listSlots(options);
  return slots.map((one, at) => ({ slot: wholeNumber(one.id, 0) ?? at, task: taskOf(one) }));
}

/** Text that no conversation begins with. */
const OTHER_TEXT = "0 1 2 3 4 5 6 7";

/**
 * Has a server with one slot set aside what it computed last. After a short conversation with the same
 * beginning, llama.cpp would otherwise compute the rest of the longer one again: it looks into its memory
 * only where less than half of what the slot has is of use. Costs 15 tokens.
 */
export async function clearSlot(options: LocalServerOptions): Promise<void> {
  if (await totalSlots(options) !== 1) return;
  const body = { prompt: OTHER_TEXT, n_predict: 0 };
  await askServer("/completion", options, { ...LIMITS, body }).catch(onFailure(() => undefined));
}

/** The number of the newest task of a slot, which counts up over all of them. */
const taskOf = ({ id_task: task }: Fields) => typeof task === "number" ? task : -1;

/**
 * True where each slot writes an answer, so that a request without one waits for a slot; a slot that reads
 * a prompt may be the request's own.
 */
export async function allSlotsWrite(options: LocalServerOptions): Promise<boolean> {
  const slots = await listSlots(options);
  return slots.length > 0 && slots.every(isWriting);
}

function isWriting({ is_processing, next_token }: Fields): boolean {
  // An object in older versions.
  const { n_decoded } = objectOr(Array.isArray(next_token) ? next_token[0] : next_token);
  return is_processing === true && typeof n_decoded === "number" && n_decoded > 0;
}
