/** White space where pieces were cut out of a text. @module */

/**
 * Joins the rest of a text out of which pieces are cut, as it streams. Of the white space around a cut
 * the wider stays (more line feeds, else the first), at both ends of the text none; it is held till then.
 */
export class SeamJoiner {
  #isStarted = false;
  #isCut = false;
  /** The widest white space before the last cuts, with its line feeds. */
  #before = "";
  #beforeFeeds = 0;
  /** The white space after the last text. */
  #held = "";

  /** Takes the next text that stays; returns the text that is certain now. */
  push(text: string): string {
    const start = text.length - text.trimStart().length;
    if (start === text.length) {
      this.#held += text;
      return "";
    }
    const end = text.trimEnd().length;
    const lead = this.#held + text.slice(0, start);
    const gap = !this.#isCut ? lead : this.#isStarted ? wider(this.#before, lead) : "";
    this.#held = text.slice(end);
    this.#isStarted = true;
    this.#isCut = false;
    return gap + text.slice(start, end);
  }

  /** Marks the place of a piece that was cut out. */
  cut(): void {
    // Cuts may follow each other by the thousand: line feeds are counted once.
    const feeds = lineFeeds(this.#held);
    if (!this.#isCut || this.#before === "" || feeds > this.#beforeFeeds) {
      this.#before = this.#held;
      this.#beforeFeeds = feeds;
    }
    this.#held = "";
    this.#isCut = true;
  }

  /** Ends the text; returns the rest. */
  end(): string {
    return this.#isCut ? "" : this.#held;
  }
}

function wider(a: string, b: string): string {
  return a === "" || lineFeeds(b) > lineFeeds(a) ? b : a;
}

function lineFeeds(text: string): number {
  return text.split("\n").length;
}
