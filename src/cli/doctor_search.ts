/** Finds the servers of this machine for `copilot doctor` and `-p`, if no server is configured. @module */

import { EXIT } from "../exit_codes.ts";
import { placesText, type ServerSettings, settingsOf } from "../ui/server_settings.ts";
import type { DoctorOutput } from "../ui/terminal/session/command_runner.ts";
import type { SetupHome } from "../ui/terminal/session/setup.ts";
import type { Check } from "../session/data.ts";
import type { FoundServer } from "../models/servers.ts";
import { hasUserinfo } from "../server_address.ts";
import { checkRows } from "./doctor.ts";
import { KEY_VARIABLES } from "./keys.ts";
import { setupHome } from "./setup.ts";

interface SearchOptions extends DoctorOutput {
  json: boolean;
}

const DOCTOR_SEARCH_MS = 3000;
const FLAGS_SEARCH_MS = 1000;
/** Returns the flags of the one server with one model. Otherwise writes what there is, and returns the exit code. */
export async function searchServers(
  home: SetupHome,
  { json, columns, write, signal }: SearchOptions,
): Promise<ServerSettings | number> {
  const found = await home.find(DOCTOR_SEARCH_MS, signal);
  const [only] = found;
  if (only && found.length === 1 && only.models.length === 1) {
    return settingsOf(only, only.models[0]!);
  }
  const check: Check = { name: "server", status: "fail", text: noServerAmong(found, home) };
  const all = { ok: false, backend: "", server: "", model: "", checks: [check] };
  write(json ? `${JSON.stringify(all)}\n` : checkRows(check, columns));
  return EXIT.error;
}

const CHOOSING = "Run `copilot` in a terminal to choose one";

/** Returns the error of a run without a configured server: what there is, or how to start one. */
export async function noServerText(home: SetupHome = setupHome()): Promise<string> {
  return noServerAmong(await home.find(FLAGS_SEARCH_MS, new AbortController().signal), home);
}

function noServerAmong(found: readonly FoundServer[], home: SetupHome): string {
  const flags = ownFlags(found, home);
  const { compat, hosted } = KEY_VARIABLES;
  return flags === undefined
    ? `No model server found on the usual ports of this machine (${
      placesText(home.own())
    }), and no key. Start a server, such as \`ollama serve\` or llama-server, pass --base-url URL, or set ${compat}, or ${hosted} with --hosted, or try --demo. ${CHOOSING}`
    : `No model configured. Add ${flags}. Or set ${compat}, or try --demo. ${CHOOSING}`;
}

/** Returns the flags that name all known servers, also of OLLAMA_HOST and of a key; undefined without any. */
function ownFlags(found: readonly FoundServer[], home: SetupHome): string | undefined {
  const flags = found.filter(({ state }) => state !== "slow").map(({ url, isNative }) => {
    // Only OLLAMA_HOST may have a password, which no message shows.
    if (hasUserinfo(url)) return `--local (OLLAMA_HOST names ${new URL(url).host})`;
    return isNative ? `--local --host ${url}` : `--base-url ${url}/v1`;
  });
  const { keyIn } = home.hosted().find(({ settings }) => settings.hosted) ?? {};
  if (keyIn !== undefined) flags.push(`--hosted (with the key in ${keyIn})`);
  return flags.length > 0 ? flags.join(", or ") : undefined;
}
