/** Reads HTML like browsers, including broken markup, in time linear in its length. Pure. @module */

import { decodeEntities } from "./entities.ts";

/** A piece of a page, without the content of elements such as scripts. */
export type HtmlToken =
  | { kind: "text"; text: string }
  | { kind: "open"; name: string; attributes: Attributes }
  | { kind: "close"; name: string };

/** The values of a tag's attributes. Of two with the same name, the first counts. */
export type Attributes = ReadonlyMap<string, string>;

/** Elements whose content is not markup. The content of `title` is text, that of others is dropped. */
const RAW_ELEMENTS = new Set("script style textarea title iframe noembed noframes xmp".split(" "));

/**
 * The start of a tag, a comment or the like (`<!doctype …>`, `<?xml …>`, `</>`); `<` before anything else is text.
 * `<!-->` and `<!--->` are complete comments.
 */
const TAG_START = /<(?:!--(?:-?>)?|(\/?)([a-z][^\s/>\0]{0,63})|[/!?])/gi;

export function* htmlTokens(html: string): Generator<HtmlToken> {
  for (let at = 0; at < html.length;) {
    const tag = matchFrom(TAG_START, html, at);
    const text = html.slice(at, tag?.index);
    if (text !== "") yield { kind: "text", text: decodeEntities(text) };
    if (tag === null) return;
    const [begin, slash, given] = tag;
    const from = tag.index + begin.length;
    if (given === undefined) {
      at = begin.endsWith(">") ? from : endOf(html, begin === "<!--" ? "-->" : ">", from);
      continue;
    }
    const name = given.toLowerCase();
    const end = tagEnd(html, from);
    at = end + 1;
    if (slash !== "") {
      yield { kind: "close", name };
      continue;
    }
    yield { kind: "open", name, attributes: attributesIn(html.slice(from, end)) };
    if (!RAW_ELEMENTS.has(name)) continue;
    const rawEnd = matchFrom(new RegExp(`</${name}(?=[\\s/>])`, "gi"), html, at)?.index;
    if (name === "title") yield { kind: "text", text: decodeEntities(html.slice(at, rawEnd)) };
    at = rawEnd ?? html.length;
  }
}

function matchFrom(pattern: RegExp, html: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(html);
}

/** Returns the position after the next `text`. */
function endOf(html: string, text: string, from: number): number {
  const at = html.indexOf(text, from);
  return at === -1 ? html.length : at + text.length;
}

const SIGN = />|=\s{0,16}["']/g;

/** Returns the position of the `>` that ends a tag, outside quotes that are closed. */
function tagEnd(html: string, from: number): number {
  for (let at = from;;) {
    const found = matchFrom(SIGN, html, at);
    if (found === null) return html.length;
    at = found.index + found[0].length;
    if (found[0] === ">") return at - 1;
    // A quote counts at the start of a value. Without another one, this is the last of the page.
    const end = html.indexOf(found[0].at(-1)!, at);
    if (end !== -1) at = end + 1;
  }
}

/** The maximum characters of a tag to search for attributes. */
const MAX_TAG = 65_536;
const ATTRIBUTE =
  /([^\s"'>/=\0]{1,64})(?:\s{0,16}=\s{0,16}(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?/g;

function attributesIn(source: string): Attributes {
  const values = new Map<string, string>();
  for (const [, name, ...given] of source.slice(0, MAX_TAG).matchAll(ATTRIBUTE)) {
    const value = given.find((one) => one !== undefined) ?? "";
    const key = name!.toLowerCase();
    if (!values.has(key)) values.set(key, decodeEntities(value));
  }
  return values;
}
