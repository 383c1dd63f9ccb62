/** Folds streamed answers into the form without streaming. Pure. @module */

import { BackendError } from "../errors.ts";
import type { StreamReader } from "../wire/http.ts";
import type { Decoder } from "../wire/lines.ts";
import type { Delta } from "./backend.ts";
import type { Fields } from "./fields.ts";

export type OnDelta = (delta: Delta) => void;

/** The common part of the readers for all protocols. */
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

  /** Reports progress, after which the request may still be retried. */
  protected tell(delta: Delta, isProgress = true): void {
    if (isProgress) this.progress++;
    this.onDelta?.(delta);
  }
}

/** True for an answer of events. Some servers ignore `stream` and send one JSON value. */
export function hasEvents(contentType: string, stream: boolean): boolean {
  return contentType === "text/event-stream" || (stream && !contentType.includes("json"));
}

/** Returns the error for an answer that ends before its protocol allows it. */
export function incompleteAnswer(): BackendError {
  const message = "The model server's answer broke off before its end";
  return new BackendError(message, { kind: "incomplete", retryable: true });
}
