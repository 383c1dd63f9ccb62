/** Joins the rest of a text out of which pieces are cut: see {@linkcode seamJoiner}. */
export interface SeamJoiner {
  /** Takes the next text that stays; returns what can be given out now. */
  push(text: string): string;
  /** Something was cut out here. */
  cut(): void;
  /** The text is over; returns what is left to give out. */
  end(): string;
}

/**
 * Joins the rest of a text out of which pieces are cut, as it streams. Of the white space on the
 * two sides of a cut the wider stays (more line feeds, else the first), at the beginning and the
 * end of the text none. Without a cut nothing changes. White space is given out when text follows.
 */
export function seamJoiner(): SeamJoiner {
  let started = false;
  let cut = false;
  /** White space before the cut, and white space that came last. */
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
      // Cuts may follow each other by the thousand: what was counted is not counted again.
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
