/** How much may be written to a terminal at once, so that what a key does is seen soon on a slow one. @module */

/** The most characters of a frame's text; keys are looked at between two frames. */
const MAX_FRAME_CHARS = 8 * 1024;
/** The same for the slowest terminal. */
const MIN_FRAME_CHARS = 256;
/** The same at first for a terminal that answers, until it is known how fast it is. */
const FIRST_FRAME_CHARS = 1024;
/** A terminal that takes a frame in more milliseconds is slow: it gets less at once, so that Escape is heeded. */
const SLOW_MS = 100;
/** The characters behind which a terminal that is not slow is asked whether it has shown them. */
const ASK_CHARS = 512;
/** Asks for the terminal's status (ECMA-48, DSR 5), which it tells once all before was read. */
const ASK_STATUS = "\x1b[5n";
/** A terminal that tells nothing within these milliseconds is not asked again, unless it does later. */
export const GIVE_UP_MS = 3000;

/**
 * The writes to a terminal. One that answered once is asked behind its frames, and gets no further one as
 * long as it is slow to answer: what the system holds for it would delay what a key does by seconds.
 */
export class OutputFlow {
  /** The most characters of the next frame's text. */
  room = MAX_FRAME_CHARS;
  #answers = false;
  /** The question that is not answered: when it was asked, the characters before it since the one before. */
  #asked: { at: number; chars: number } | undefined;
  /** The characters since the newest question. */
  #sent = 0;
  #isSlow = false;

  constructor(private readonly now: () => number) {}

  /** True while the terminal may owe an answer. */
  get isAsked(): boolean {
    return this.#asked !== undefined && this.now() - this.#asked.at <= GIVE_UP_MS;
  }

  /** True while a frame would only wait behind others. */
  isFull(): boolean {
    if (!this.#answers || this.#asked === undefined) return false;
    if (!this.isAsked) {
      this.#answers = false;
      return false;
    }
    return this.#isSlow || this.now() - this.#asked.at > SLOW_MS || this.#sent > this.room;
  }

  /** The question to write: only a terminal that answers the first one is asked others. */
  ask(): string {
    this.#asked = { at: this.now(), chars: this.#sent };
    this.#sent = 0;
    return ASK_STATUS;
  }

  /** `chars` were written in `ms` milliseconds; the question to write behind them, if any. */
  wrote(chars: number, ms: number): string {
    this.#sent += chars;
    if (!this.#answers) this.#pace(chars, ms);
    else if (!this.isAsked && this.#sent >= (this.#isSlow ? 1 : ASK_CHARS)) return this.ask();
    return "";
  }

  /** The terminal told its status. */
  answered(): void {
    if (!this.#answers) this.room = FIRST_FRAME_CHARS;
    else if (this.#asked !== undefined) {
      const ms = this.now() - this.#asked.at;
      this.#pace(this.#asked.chars, ms);
      this.#isSlow = ms > SLOW_MS;
    }
    this.#asked = undefined;
    this.#answers = true;
  }

  #pace(chars: number, ms: number): void {
    if (ms > SLOW_MS) this.room = Math.max(MIN_FRAME_CHARS, Math.floor(chars * SLOW_MS / ms));
    else if (chars > this.room / 2) this.room = Math.min(MAX_FRAME_CHARS, 2 * this.room);
  }
}
