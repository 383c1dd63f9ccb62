/** A session with a frontend that only records. */

import { localConfig } from "../../src/config.ts";
import { allExtensions } from "../../src/extensions/extensions.ts";
import type { McpDefinition } from "../../src/extensions/mcp/definition.ts";
import { noticeLines } from "../../src/session/notices.ts";
import { commandIn } from "../../src/session/commands/command_line.ts";
import { commandNamed } from "../../src/session/commands/registry.ts";
import type { Frontend, SessionEvent } from "../../src/session/frontend.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import { openSession, type Session } from "../../src/session/session.ts";
import type { SessionOptions } from "../../src/session/extension.ts";

/** A session that was opened, and the events that it reported. */
export interface FakeSession extends AsyncDisposable {
  session: Session;
  events: SessionEvent[];
  /** The texts of the notices so far. */
  notices(): string[];
  /** Runs a line such as `/undo`; the text that is shown then; null for a turn. */
  command(line: string, signal?: AbortSignal): Promise<string | null>;
}

/** Opens a session with the model `test` of a local server at `host`. */
export async function fakeSession(
  host: string,
  options: Partial<SessionOptions> & {
    contextLength?: number;
    servers?: readonly McpDefinition[];
  } = {},
  frontend: Partial<Frontend> = {},
): Promise<FakeSession> {
  const events: SessionEvent[] = [];
  const { contextLength, servers, ...others } = options;
  const session = await openSession(
    {
      config: { local: localConfig({ host, model: "test", contextLength, maxRetries: 0 }) },
      isChosen: true,
      permissions: openPermissions({}, () => undefined),
      readsFolder: false,
      canUndo: true,
      extensions: allExtensions(servers),
      ...others,
    },
    { ...frontend, onEvent: (event) => events.push(event) },
    new AbortController().signal,
  );
  return {
    session,
    events,
    notices: () =>
      events.flatMap((event) =>
        event.type === "session_notice" ? noticeLines(event.notice, "terminal") : []
      ),
    async command(line, signal = new AbortController().signal) {
      const { name, argument } = commandIn(line)!;
      const answer = await session.command(name, argument, signal);
      return typeof answer === "string" ? answer : "text" in answer ? answer.text : null;
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

/** The arguments that the list of a command offers. */
export const choicesOf = async (session: Session, name: string, signal?: AbortSignal) =>
  await commandNamed(session, name)?.choices?.(session, signal) ?? [];
