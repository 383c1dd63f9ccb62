/** Tests of sessions that are recorded. */

import type { Frontend } from "../../src/session/frontend.ts";
import type { SessionOptions } from "../../src/session/extension.ts";
import { type FakeSession, fakeSession } from "./fake_session.ts";
import { storedSessions } from "./records.ts";
import { type Step, type StrictServer, strictServer } from "./strict_server.ts";
import { folderWithState } from "./temp_folder.ts";

export interface Recorded {
  folder: string;
  server: StrictServer;
  open(options?: Partial<SessionOptions>, frontend?: Partial<Frontend>): Promise<FakeSession>;
  /** What the newest record holds: roles and texts. */
  stored(): string[];
}

/** A test of recorded sessions, whose folder has a state folder of its own. */
export function recordTest(
  name: string,
  steps: Step[],
  body: (recorded: Recorded) => Promise<void>,
  sees = false,
) {
  Deno.test(name, async () => {
    using temp = folderWithState();
    const folder = temp.path;
    await using server = strictServer(steps, { models: ["test", "other"], sees });
    await body({
      folder,
      server,
      open: (options, frontend) =>
        fakeSession(server.url, { folder, isRecorded: true, ...options }, frontend),
      stored() {
        const [newest] = storedSessions(`${folder}/state/copilot/sessions`, folder);
        return newest?.messages.map(({ role, content }) => `${role}: ${content}`) ?? [];
      },
    });
  });
}
