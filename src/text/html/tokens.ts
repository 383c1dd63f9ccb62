/** Reads HTML like browsers, including broken markup, in time linear in its length. Pure. @module */

import { decodeEntities } from "./entities.ts";

/** A piece of a page, without the content of elements such as scripts. */
export type HtmlToken =
  | { kind: "text"; text: string }
  | { kind: "open"; name: string; attributes: Attributes }
  | { kind: "close"; name: string };

/** The attributes of a tag, which are read on demand. */
export interface Attributes {
  /** Returns the value of the first attribute of that name, if any. */
  get(name: string): string | undefined;
}

/** Elements whose content is not markup. The content of `title` is text, that of others is dropped. */
const RAW_ELEMENTS = new Set("script style textarea title iframe noembed noframes xmp".split(" "));

export function* htmlTokens(html: string): Generator<HtmlToken> {
  const reader = new TagReader(html);
  for (let at = 0; at < html.length;) {
    const start = nextTag(html, at);
    if (start > at) yield { kind: "text", text: decodeEntities(html.slice(at, start)) };
    if (start === html.length) return;
    const tag = reader.read(start);
    at = tag.end;
    if (tag.name === "") continue;
    if (tag.isClosing) {
      yield { kind: "close", name: tag.name };
      continue;
    }
    yield { kind: "open", name: tag.name, attributes: new TagAttributes(tag.source) };
    if (!RAW_ELEMENTS.has(tag.name)) continue;
    const end = reader.rawEnd(tag.name, at);
    if (tag.name === "title") yield { kind: "text", text: decodeEntities(html.slice(at, end)) };
    at = end;
  }
}

/** The position of the next tag or comment: `<` before anything else is text. */
function nextTag(html: string, from: number): number {
  for (let at = html.indexOf("<", from); at !== -1; at = html.indexOf("<", at + 1)) {
    const code = html.charCodeAt(at + 1);
    const isLetter = code >= 65 && code <= 90 || code >= 97 && code <= 122;
    if (isLetter || code === SLASH || code === 33 || code === 63) return at;
  }
  return html.length;
}

const SLASH = 47;

interface Tag {
  /** In lower case; empty for a comment and the like. */
  name: string;
  isClosing: boolean;
  /** The text between the name and the end. */
  source: string;
  end: number;
}

class TagReader {
  /** Texts that do not occur after the position of the last search. */
  readonly #gone = new Set<string>();
  readonly #rawEnds = new Map<string, RegExp>();

  constructor(private readonly html: string) {}

  read(start: number): Tag {
    const { html } = this;
    if (html.startsWith("<!--", start)) return noTag(this.#commentEnd(start));
    const isClosing = html.charCodeAt(start + 1) === SLASH;
    TAG_NAME.lastIndex = start + (isClosing ? 2 : 1);
    const [name] = TAG_NAME.exec(html) ?? [];
    if (name === undefined) {
      // `<!doctype …>`, `<?xml …>`, `</>`
      const end = this.#find(">", start);
      return noTag(end === -1 ? html.length : end + 1);
    }
    const from = TAG_NAME.lastIndex;
    const end = this.#tagEnd(from);
    return { name: name.toLowerCase(), isClosing, source: html.slice(from, end), end: end + 1 };
  }

  /** The end of the content of an element without markup. */
  rawEnd(name: string, from: number): number {
    const { html } = this;
    const key = `</${name}`;
    if (this.#gone.has(key)) return html.length;
    let pattern = this.#rawEnds.get(name);
    if (!pattern) this.#rawEnds.set(name, pattern = new RegExp(`</${name}(?=[\\s/>])`, "gi"));
    pattern.lastIndex = from;
    const end = pattern.exec(html)?.index;
    if (end === undefined) this.#gone.add(key);
    return end ?? html.length;
  }

  #commentEnd(start: number): number {
    // `<!-->` and `<!--->` are complete comments.
    const short = /^<!--(?:-?>)/.exec(this.html.slice(start, start + 6));
    if (short) return start + short[0].length;
    const end = this.#find("-->", start + 4);
    return end === -1 ? this.html.length : end + 3;
  }

  /** Returns the position of the `>` that ends a tag, outside quotes that are closed. */
  #tagEnd(from: number): number {
    const { html } = this;
    for (let at = from;;) {
      SIGN.lastIndex = at;
      const found = SIGN.exec(html);
      if (found === null) return html.length;
      const [sign] = found;
      at = SIGN.lastIndex;
      if (sign === ">") return at - 1;
      // A quote counts at the start of a value.
      const quote = sign.at(-1)!;
      const end = this.#find(quote, at);
      if (end !== -1) at = end + 1;
    }
  }

  #find(text: string, from: number): number {
    if (this.#gone.has(text)) return -1;
    const at = this.html.indexOf(text, from);
    if (at === -1) this.#gone.add(text);
    return at;
  }
}

const TAG_NAME = /[a-z][^\s/>\0]{0,63}/iy;
const SIGN = />|=\s{0,16}["']/g;

const noTag = (end: number): Tag => ({ name: "", isClosing: false, source: "", end });

/** The maximum characters of a tag to search for attributes. */
const MAX_TAG = 65_536;
const ATTRIBUTE =
  /([^\s"'>/=\0]{1,64})(?:\s{0,16}=\s{0,16}(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?/g;

class TagAttributes implements Attributes {
  #values: Map<string, string> | undefined;

  constructor(private readonly source: string) {}

  get(name: string): string | undefined {
    return this.#read().get(name);
  }

  #read(): Map<string, string> {
    if (this.#values) return this.#values;
    const values = this.#values = new Map<string, string>();
    if (!/\S/.test(this.source)) return values;
    for (const [, name, ...given] of this.source.slice(0, MAX_TAG).matchAll(ATTRIBUTE)) {
      const value = given.find((one) => one !== undefined) ?? "";
      const key = name!.toLowerCase();
      if (!values.has(key)) values.set(key, decodeEntities(value));
    }
    return values;
  }
}
