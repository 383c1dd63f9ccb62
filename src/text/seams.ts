/** White space at positions where pieces were cut out of a text. @module */

/**
 * Joins a streamed text after pieces are cut out of it. Around a cut, only the wider white space stays (more line
 * feeds, otherwise the first). At both ends of the text, white space is dropped, so it is held back until more
 * text arrives.
 */
export class SeamJoiner {
  #isStarted = false;
  #isCut = false;
  /** The widest white space before the last cuts, with its line feeds. */
  #before = "";
  #beforeFeeds = 0;
  /** The white space after the last text. */
  #pending = "";

  /** Adds the next text that stays. Returns the text that is now certain. */
  push(text: string): string {
    const start = text.length - text.trimStart().length;
    if (start === text.length) {
      this.#pending += text;
      return "";
    }
    const end = text.trimEnd().length;
    const lead = this.#pending + text.slice(0, start);
    const gap = !this.#isCut ? lead : this.#isStarted ? wider(this.#before, lead) : "";
    this.#pending = text.slice(end);
    this.#isStarted = true;
    this.#isCut = false;
    return gap + text.slice(start, end);
  }

  cut(): void {
    // Thousands of cuts may follow each other, so line feeds are counted once.
    const feeds = lineFeeds(this.#pending);
    if (!this.#isCut || this.#before === "" || feeds > this.#beforeFeeds) {
      this.#before = this.#pending;
      this.#beforeFeeds = feeds;
    }
    this.#pending = "";
    this.#isCut = true;
  }

  end(): string {
    return this.#isCut ? "" : this.#pending;
  }
}

function wider(a: string, b: string): string {
  return a === "" || lineFeeds(b) > lineFeeds(a) ? b : a;
}

function lineFeeds(text: string): number {
  return text.split("\n").length;
}
