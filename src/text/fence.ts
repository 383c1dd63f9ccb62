/** Fenced blocks of code in Markdown text, as in CommonMark 0.31. @module */

/** A line that opens a block, without its indentation: its fence and its info string. */
export const FENCE = /^(`{3,}(?!.*`)|~{3,})(.*)$/;

export function closesCode(line: string, fence: string): boolean {
  const signs = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return signs?.startsWith(fence) ?? false;
}

export function outdent(line: string, columns: number): string {
  let at = 0;
  for (let column = 0; column < columns && (line[at] === " " || line[at] === "\t"); at++) {
    column += line[at] === " " ? 1 : 4 - (column & 3);
  }
  return line.slice(at);
}

interface CodeBlock {
  /** The word after its fence, such as `sh`. */
  language: string;
  text: string;
}

export const codeBlocks = (markdown: string): CodeBlock[] =>
  blocksOf(markdown).filter((block): block is CodeBlock => "language" in block);

/** Returns the blocks of code of Markdown text, and the texts around them, in order. */
export function blocksOf(markdown: string): (CodeBlock | { text: string })[] {
  const blocks: (CodeBlock | { text: string })[] = [];
  let prose: string[] = [];
  let open: { fence: string; lead: string; language: string; lines: string[] } | undefined;
  const close = () => {
    if (prose.length > 0) blocks.push({ text: prose.join("\n") });
    prose = [];
    if (open) blocks.push({ language: open.language, text: open.lines.join("\n") });
    open = undefined;
  };
  for (const line of markdown.split("\n")) {
    if (open !== undefined) {
      const inner = line.startsWith(open.lead)
        ? line.slice(open.lead.length)
        : outdent(line, open.lead.length);
      if (closesCode(inner, open.fence)) close();
      else open.lines.push(inner);
      continue;
    }
    const [start] = /^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)?/.exec(line)!;
    const [, fence, info = ""] = FENCE.exec(line.slice(start.length)) ?? [];
    if (fence === undefined) {
      prose.push(line);
      continue;
    }
    close();
    const [language = ""] = info.trim().split(/\s/, 1);
    open = { fence, lead: start, language, lines: [] };
  }
  close();
  return blocks;
}
