/**
 * White space where pieces were cut out of a text.
 *
 * @module
 */

interface SeamJoiner {
  /** Takes the next text that stays; returns the text that is certain now. */
  push(text: string): string;
  /** Marks the place of a piece that was cut out. */
  cut(): void;
  /** Ends the text; returns the rest. */
  end(): string;
}

/**
 * Joins the rest of a text out of which pieces are cut, as it streams. Of the white space on the
 * two sides of a cut the wider stays (more line feeds, else the first), at the beginning and the
 * end of the text none. Without a cut nothing changes. White space is held until text follows.
 */
export function seamJoiner(): SeamJoiner {
  let started = false;
  let cut = false;
  /** The widest white space before the last cuts, with its line feeds, and that after the last text. */
  let before = "";
  let beforeFeeds = 0;
  let held = "";
  return {
    push(text) {
      const start = text.length - text.trimStart().length;
      if (start === text.length) {
        held += text;
        return "";
      }
      const end = text.trimEnd().length;
      const lead = held + text.slice(0, start);
      const gap = !cut ? lead : started ? wider(before, lead) : "";
      held = text.slice(end);
      started = true;
      cut = false;
      return gap + text.slice(start, end);
    },
    cut() {
      // Cuts may follow each other by the thousand: line feeds are counted once.
      const feeds = lineFeeds(held);
      if (!cut || before === "" || feeds > beforeFeeds) {
        before = held;
        beforeFeeds = feeds;
      }
      held = "";
      cut = true;
    },
    end: () => cut ? "" : held,
  };
}

function wider(a: string, b: string): string {
  if (a === "") return b;
  return lineFeeds(b) > lineFeeds(a) ? b : a;
}

function lineFeeds(text: string): number {
  return text.split("\n").length;
}
