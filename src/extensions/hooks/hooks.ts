/** Runs the hooks of an event, and joins their verdicts. @module */

import { attempt } from "../../attempt.ts";
import { programFolders } from "../../find_program.ts";
import type { Confine } from "../../types/confine.ts";
import { type HookDefinition, type HookEvent, matchesHook } from "./definition.ts";
import { runHook } from "./run_hook.ts";
import { type HookVerdict, joinedVerdicts, verdictOf } from "./verdict.ts";

/** The parts of a session that hooks need. */
export interface HookScene {
  folder(): string;
  /** The root of the repository, which hooks use in paths of scripts. */
  root(): string;
  /** The fields that each hook gets. */
  fields(): Record<string, unknown>;
  /** The names of additional variables. */
  env: readonly string[];
  /** The sandboxes of a folder's hooks and of the user's. */
  confine: Readonly<Record<HookDefinition["scope"], Confine>>;
  home: string | undefined;
  /** Shows lines to the user. */
  tell(lines: readonly string[]): void;
}

/** An event, for the hooks. */
interface HookMoment {
  event: HookEvent;
  /** The names to compare with matchers; missing if the event has none. */
  names?: readonly string[];
  fields: Record<string, unknown>;
  signal: AbortSignal;
}

export class Hooks {
  constructor(readonly all: HookDefinition[], private readonly scene: HookScene) {}

  /** Runs the hooks of an event in parallel. @throws the reason of `signal`. */
  async fire({ event, names = [], fields, signal }: HookMoment): Promise<HookVerdict> {
    const meant = this.all.filter((hook) => hook.event === event && matchesHook(hook, names));
    // A command with two matchers runs once.
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
          // A hook of the user does not run programs that a command made.
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

  /** Returns the sandbox of a hook. A hook of the user can read the files that its command names. */
  #confine({ scope, command }: HookDefinition): Confine {
    const { confine, home = "" } = this.scene;
    const named = scope === "folder" ? [] : command.split(/["'\s;=]+/)
      .map((word) => word.replace(/^(~|\$HOME|\$\{HOME\})(?=\/)/, home))
      .flatMap((word) => /^\/[^*?$`]+$/.test(word) && attempt(() => Deno.realPathSync(word)) || []);
    const reads = named.filter((path) => attempt(() => Deno.statSync(path).isFile));
    return (program, args, leave) => confine[scope](program, args, leave, reads);
  }
}
