/** The hooks of a session: which run at an event, their input, and their decisions. @module */

import { attempt } from "../../attempt.ts";
import { programFolders } from "../../find_program.ts";
import type { Confine } from "../../types/confine.ts";
import { type HookDefinition, type HookEvent, matchesHook } from "./definition.ts";
import { runHook } from "./run_hook.ts";
import { type HookVerdict, joinedVerdicts, verdictOf } from "./verdict.ts";

/** The parts of a session that hooks need. */
export interface HookScene {
  folder(): string;
  /** The root of the repository, which scripts of hooks may use. */
  root(): string;
  /** The fields that each hook gets. */
  fields(): Record<string, unknown>;
  /** Additional variables for hooks, as for commands. */
  env: readonly string[];
  /** Sandboxes a folder's hooks, and the user's own. */
  confine: Readonly<Record<HookDefinition["scope"], Confine>>;
  /** The home folder. */
  home: string | undefined;
  /** Shows lines to the user. */
  tell(lines: readonly string[]): void;
}

/** An event, for the hooks. */
interface HookMoment {
  event: HookEvent;
  /** The names that matchers are compared with; missing if the event has no names. */
  names?: readonly string[];
  fields: Record<string, unknown>;
  signal: AbortSignal;
}

export class Hooks {
  constructor(readonly all: HookDefinition[], private readonly scene: HookScene) {}

  /** Runs the hooks of an event in parallel. @throws the signal's reason if it is aborted. */
  async fire({ event, names = [], fields, signal }: HookMoment): Promise<HookVerdict> {
    const meant = this.all.filter((hook) => hook.event === event && matchesHook(hook, names));
    // A command with two matching entries runs once.
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
          // It runs no program that a command created.
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

  /** Returns how to sandbox a hook. One of the user's own may read the files that its command names. */
  #confine({ scope, command }: HookDefinition): Confine {
    const { confine, home = "" } = this.scene;
    const named = scope === "folder" ? [] : command.split(/["'\s;=]+/)
      .map((word) => word.replace(/^(~|\$HOME|\$\{HOME\})(?=\/)/, home))
      .flatMap((word) => /^\/[^*?$`]+$/.test(word) && attempt(() => Deno.realPathSync(word)) || []);
    const reads = named.filter((path) => attempt(() => Deno.statSync(path).isFile));
    return (program, args, leave) => confine[scope](program, args, leave, reads);
  }
}
