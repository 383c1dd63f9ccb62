/** The hooks of a session: which run at a moment, with what on their stdin, and what they decide. @module */

import { attempt } from "../../attempt.ts";
import { programFolders } from "../../find_program.ts";
import type { Confine } from "../../types/confine.ts";
import { type HookDefinition, type HookEvent, matchesHook } from "./definition.ts";
import { runHook } from "./run_hook.ts";
import { type HookVerdict, joinedVerdicts, verdictOf } from "./verdict.ts";

/** The session, as hooks see it. */
export interface HookScene {
  folder(): string;
  /** The root of the repository, for scripts that a hook names by it. */
  root(): string;
  /** The fields that each hook gets. */
  fields(): Record<string, unknown>;
  /** Variables that hooks get beside the usual ones, as commands do. */
  env: readonly string[];
  /** Confines a folder's hooks, and the person's own. */
  confine: Readonly<Record<HookDefinition["scope"], Confine>>;
  /** The home folder. */
  home: string | undefined;
  /** Takes lines for the person. */
  tell(lines: readonly string[]): void;
}

/** What happens, for the hooks. */
interface HookMoment {
  event: HookEvent;
  /** The names that matchers are held against; none where the event has none. */
  names?: readonly string[];
  fields: Record<string, unknown>;
  signal: AbortSignal;
}

export class Hooks {
  constructor(readonly all: HookDefinition[], private readonly scene: HookScene) {}

  /** Runs the hooks that are for a moment, side by side. @throws what the signal was aborted with. */
  async fire({ event, names = [], fields, signal }: HookMoment): Promise<HookVerdict> {
    const meant = this.all.filter((hook) => hook.event === event && matchesHook(hook, names));
    // A command that two matchers name runs once.
    const hooks = [
      ...new Map(meant.map((hook) => [`${hook.scope} ${hook.command}`, hook])).values(),
    ];
    if (hooks.length === 0) return { messages: [] };
    const { scene } = this;
    const folder = scene.folder();
    const input = JSON.stringify({
      ...scene.fields(),
      cwd: folder,
      hook_event_name: event,
      ...fields,
    });
    const verdicts = await Promise.all(hooks.map(async (hook) => {
      const end = await runHook(hook, {
        ...{ workingDir: folder, env: scene.env, input, signal },
        ...!hook.isOutside && { confine: this.#confine(hook) },
        variables: {
          CLAUDE_PROJECT_DIR: scene.root(),
          // It runs no program that a command made.
          ...hook.scope === "user" && Deno.build.os !== "windows" &&
            { PATH: programFolders(folder).join(":") },
        },
      });
      return { hook, verdict: verdictOf(hook, end) };
    }));
    const verdict = joinedVerdicts(verdicts);
    if (verdict.messages.length > 0) scene.tell(verdict.messages);
    return verdict;
  }

  /** Confines a hook. One of the person's own reads the files that its command names. */
  #confine({ scope, command }: HookDefinition): Confine {
    const { confine, home = "" } = this.scene;
    const named = scope === "folder" ? [] : command.split(/["'\s;=]+/)
      .map((word) => word.replace(/^(~|\$HOME|\$\{HOME\})(?=\/)/, home))
      .flatMap((word) => /^\/[^*?$`]+$/.test(word) && attempt(() => Deno.realPathSync(word)) || []);
    const reads = named.filter((path) => attempt(() => Deno.statSync(path).isFile));
    return (program, args, leave) => confine[scope](program, args, leave, reads);
  }
}
