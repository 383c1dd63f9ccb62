/** The screen of a session, its colours, and its rows that change in place. @module */

import type { Theme } from "../../../config.ts";
import type { Status } from "../../../session/frontend.ts";
import type { Keymap } from "../line/actions.ts";
import { canEdit } from "../line/input.ts";
import { LiveScreen } from "../screen/live_screen.ts";
import { PlainScreen, type Screen } from "../screen/screen.ts";
import {
  type Appearance,
  appearance,
  type Background,
  DIM,
  type Painter,
  painter,
  type Style,
  styleStart,
  themed,
} from "../style.ts";
import { terminalSize } from "../tty.ts";
import { entryText } from "../units.ts";
import { oneLine, shortened } from "../../../text/one_line.ts";
import { wrapped } from "../../../text/wrap.ts";
import type { TextPart } from "../../../types/message.ts";
import { footerText, type StatusPart } from "./footer.ts";
import { shortHelp } from "./help_tables.ts";
import { taskRows } from "./task_rows.ts";
import { TurnView } from "./turn_view.ts";
import { Welcome } from "./welcome.ts";

type ScreenOptions = ConstructorParameters<typeof LiveScreen>[0];

/** The background that this kind of terminal reported last, and how to save another one. */
export interface Backgrounds {
  last: Background | undefined;
  keep(background: Background): void;
}

interface DisplayOptions extends
  Pick<
    ScreenOptions,
    "history" | "completer" | "onStop" | "onEnd" | "overtakes" | "runsNow" | "steers"
  >,
  Required<Pick<ScreenOptions, "onShiftTab" | "moveToBackground" | "transcript" | "onUnsent">> {
  keymap: Keymap;
  theme: Theme;
  statusParts?: readonly StatusPart[] | undefined;
  backgrounds?: Backgrounds | undefined;
  closed: AbortSignal;
  subjectOf: ConstructorParameters<typeof TurnView>[2];
}

/** The command of a double Escape. It is not added to the history because it was not typed. */
export const REWIND: TextPart = { type: "text", text: "/rewind" };
const MAX_WINDOW_TITLE = 80;

/** Creates the screen on first use. Setup may run before there is a session. */
export class Display implements Disposable {
  readonly isLive = canEdit();
  readonly appearance: Appearance;
  readonly paint: Painter;
  status: Status | undefined;
  #theme: Theme;
  /** The background that the terminal reported, independent of the theme. */
  #background: Background | undefined;
  showsTasks = false;
  #hint = 'Ask anything · try "fix the failing tests" · @ files · / commands · ? keys';
  #screen: Screen | undefined;
  #view: TurnView | undefined;
  #welcome: Welcome | undefined;

  constructor(private readonly options: DisplayOptions) {
    this.#theme = options.theme;
    this.#background = options.backgrounds?.last;
    this.appearance = this.#look();
    this.paint = painter(this.appearance);
  }

  get theme(): Theme {
    return this.#theme;
  }

  set theme(theme: Theme) {
    this.#theme = theme;
    Object.assign(this.appearance, this.#look());
    this.screen.update();
  }

  #look(): Appearance {
    return themed({ ...appearance(), background: this.#background }, this.#theme);
  }

  get keymap(): Keymap {
    return this.options.keymap;
  }

  get columns(): number {
    return terminalSize().columns;
  }

  get screen(): Screen {
    return this.#screen ??= this.#makeScreen();
  }

  get view(): TurnView {
    const { subjectOf, keymap } = this.options;
    return this.#view ??= new TurnView(this.screen, this.appearance, subjectOf, keymap);
  }

  readonly dim = (text: string): string => this.paint(text, DIM);

  readonly sgr = (style: Style): string => styleStart(this.appearance, style);

  say(text: string): void {
    if (this.openWelcome === undefined) return this.screen.print(wrapped(text, this.columns));
    this.openWelcome.say(text);
    this.screen.update();
  }

  /** Shows the first rows. On a live screen, they change until other text is printed. */
  welcome(): void {
    const welcome = new Welcome();
    // Without colours, text in the line would look as if it was typed.
    if (!this.isLive || this.appearance.colors === "none") {
      welcome.say("· /help lists the commands");
    }
    const text = () => welcome.text(this.status!, this.columns, this.paint);
    if (!(this.screen instanceof LiveScreen)) return this.screen.print(text());
    this.#welcome = welcome;
    this.screen.showHead(text);
  }

  get openWelcome(): Welcome | undefined {
    return this.#screen instanceof LiveScreen && this.#screen.hasHead ? this.#welcome : undefined;
  }

  endHint(): void {
    this.#hint = "";
  }

  wait(name: string | undefined): void {
    const { activity } = this.view;
    if (name === undefined) activity.end();
    else activity.begin(name);
    this.screen.update();
  }

  [Symbol.dispose](): void {
    this.#screen?.[Symbol.dispose]();
    this.#screen = undefined;
    this.#view = undefined;
  }

  #makeScreen(): Screen {
    const { options } = this;
    const { closed, theme: _, subjectOf: __, ...keys } = options;
    if (!this.isLive) {
      return new PlainScreen(() => keys.history().map(entryText), closed, this.appearance.unicode);
    }
    const hasColors = () => this.appearance.colors !== "none";
    const onBackground = (background: Background) => {
      if (background !== this.#background) options.backgrounds?.keep(background);
      this.#background = background;
      // Colours do not change within a conversation.
      if (this.#hint !== "") this.appearance.background = background;
    };
    const asksBackground = () => this.#theme === "auto" && /256|rgb/.test(this.appearance.colors);
    return new LiveScreen({
      ...keys,
      sgr: this.sgr,
      unicode: this.appearance.unicode,
      folder: () => this.status?.folder,
      activity: () => this.#view?.liveRows(),
      caption: () => this.#view?.caption,
      footer: (mode) => {
        const { status, paint } = this;
        if (!status) return this.dim(mode ?? "");
        // Later turns may be about something else.
        const tasks = (this.#view?.turnsSinceTasks ?? 0) > 1 ? [] : status.tasks;
        const style = { paint, parts: keys.statusParts, lineMode: mode };
        return footerText({ ...status, tasks }, this.columns, style);
      },
      get onBackground() {
        return asksBackground() ? onBackground : undefined;
      },
      rewind: REWIND,
      help: () => shortHelp(this.keymap, this.columns, this.status?.mode?.approve).map(this.dim),
      panel: () => this.showsTasks ? taskRows(this.status?.tasks ?? [], { paint: this.paint }) : [],
      onTasks: () => this.#toggleTasks(),
      placeholder: () => hasColors() ? this.#hint : "",
      // The Linux console would print it.
      title: Deno.env.get("TERM") === "linux" ? undefined : (state) => this.#title(state),
    });
  }

  /** Such as `copilot works · project`; undefined before the folder is known. */
  #title(state: "asks" | "works" | "waits"): string | undefined {
    const { folder } = this.status ?? {};
    if (folder === undefined) return undefined;
    const name = /[^/\\]*$/.exec(folder)![0] || folder;
    const title = `copilot${state === "waits" ? "" : ` ${state}`} · ${oneLine(name)}`;
    return shortened(title, MAX_WINDOW_TITLE);
  }

  /** Shows or hides the task list. Returns false if there is no list. */
  #toggleTasks(): boolean {
    if ((this.status?.tasks ?? []).length === 0) {
      this.say("· no tasks yet: the model lists its steps in long work");
      return false;
    }
    this.showsTasks = !this.showsTasks;
    this.screen.update();
    return true;
  }
}
