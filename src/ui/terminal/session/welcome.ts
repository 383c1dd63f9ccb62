/** The first rows of a session: the model and its abilities, the folder, and what there is to know. @module */

import { VERSION } from "../../../config.ts";
import type { Check } from "../../../session/data.ts";
import type { Status } from "../../../session/frontend.ts";
import { windowText } from "../../../text/count.ts";
import { wrapped, wrappedParts } from "../../../text/wrap.ts";
import { ACCENT, BOLD, DIM, type Painter } from "../style.ts";
import { MIN_FOLDER, modelText, shortFolder } from "./footer.ts";

/** Such as `copilot 0.1 · qwen3:8b · 32k context · tools`, and below it `~/shop · master · AGENTS.md`. */
export class Welcome {
  /** The instruction files that the model gets. */
  files: readonly string[] = [];
  readonly #lines: string[] = [];
  #facts: string[] = [];

  /** Adds what the server said about its model. Returns the checks that need more words. */
  learn(checks: readonly Check[]): Check[] {
    const size = checks.find(({ contextLength }) => contextLength !== undefined)?.contextLength;
    const does = checks.find((check) => check.does !== undefined)?.does;
    this.#facts = [
      ...size === undefined ? [] : [`${windowText(size)} context`],
      ...does ? [does] : [],
    ];
    return checks.filter(({ name, status }) =>
      status === "fail" || status === "note" && name === "model"
    );
  }

  say(text: string): void {
    this.#lines.push(text);
  }

  text({ model, folder, branch }: Status, columns: number, paint: Painter): string {
    const name = `copilot ${VERSION.replace(/\.\d+$/, "")}`;
    const first = [name, ...model === undefined ? [] : [modelText(model)], ...this.#facts];
    const place = [...branch === undefined ? [] : [branch], ...this.files].join(" · ");
    const room = Math.max(MIN_FOLDER, columns - place.length - 5);
    const second = [shortFolder(folder, room), place].filter(Boolean).join(" · ");
    const bar = paint("▌ ", ACCENT);
    const rows = wrappedParts(`${first.join(" · ")}\n${second}`, columns - 2).split("\n");
    return [
      bar + paint(name, BOLD | ACCENT) + rows[0]!.slice(name.length),
      ...rows.slice(1).map((row) => bar + paint(row, DIM)),
      ...this.#lines.map((line) => wrapped(line, columns)),
    ].join("\n");
  }
}
