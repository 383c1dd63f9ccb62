/** Streamed answers, folded into what a call without streaming returns. Pure. @module */

import { BackendError } from "../errors.ts";
import type { StreamReader } from "../wire/http.ts";
import type { Decoder } from "../wire/lines.ts";
import type { Delta } from "./backend.ts";
import type { Fields } from "./fields.ts";

export type OnDelta = (delta: Delta) => void;

/** The part that the readers of all protocols share. */
export abstract class DeltaReader implements StreamReader<Fields> {
  progress = 0;
  started = false;
  protected abstract readonly decoder: Decoder;

  constructor(private readonly onDelta?: OnDelta) {}

  push(chunk: Uint8Array): void {
    this.decoder.push(chunk);
  }

  abstract end(): Fields;

  protected emit(delta: Delta): void {
    this.started = true;
    this.tell(delta);
  }

  /** Reports what is no piece of the answer, which may still be asked for again. */
  protected tell(delta: Delta, isProgress = true): void {
    if (isProgress) this.progress++;
    this.onDelta?.(delta);
  }
}

/** True for an answer of events: where `stream` was asked for, some servers send one JSON value. */
export function hasEvents(contentType: string, stream: boolean): boolean {
  return contentType === "text/event-stream" || (stream && !contentType.includes("json"));
}

/** The error for an answer that ends before its protocol says so. */
export function brokeOff(): BackendError {
  const message = "The model server's answer broke off before its end";
  return new BackendError(message, { kind: "incomplete", retryable: true });
}
