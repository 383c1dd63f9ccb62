/** `copilot setup --editor NAME`: the setting by which an editor starts `copilot acp`. @module */

import { attempt } from "../attempt.ts";
import { UsageError } from "../errors.ts";
import { EXIT } from "../frontends/exit_codes.ts";
import type { Output } from "../terminal/stdio.ts";
import { isObject, jsonOrUndefined } from "../text/json.ts";
import { join, resolve } from "../text/std_path.ts";
import { reasonOf } from "../text/reason.ts";
import type { Args } from "./args.ts";
import { wrongValue } from "./args.ts";
import { replaceUserFile, type VariableReader } from "../user_files.ts";

/** A setting in a file of JSON, or code that the person adds to a file of their own. */
type EditorSetup = JsonSetup | { file: string; code: string };

interface JsonSetup {
  /** The file of the editor's settings: below the home folder, or below what a variable names. */
  file: string | ((variable: VariableReader) => string);
  json: Record<string, Record<string, unknown>>;
}

const COMMAND = "copilot";
const AGENT = { command: COMMAND, args: ["acp"], env: {} };

/** Sources: the documents of each editor on external agents. */
const EDITOR_SETUPS: Readonly<Record<string, EditorSetup>> = {
  // https://zed.dev/docs/ai/external-agents
  zed: {
    file: zedFile,
    json: { agent_servers: { copilot: { type: "custom", ...AGENT } } },
  },
  // https://www.jetbrains.com/help/ai-assistant/acp.html
  jetbrains: {
    file: ".jetbrains/acp.json",
    json: { agent_servers: { copilot: AGENT } },
  },
  // https://codecompanion.olimorris.dev/configuration/adapters-acp
  neovim: {
    file: ".config/nvim/init.lua",
    // "copilot" is CodeCompanion's own name of GitHub's service, also for other interactions than chats.
    code: `require("codecompanion").setup({
  adapters = {
    acp = {
      local_copilot = function()
        local helpers = require("codecompanion.adapters.acp.helpers")
        return {
          name = "local_copilot",
          type = "acp",
          formatted_name = "copilot",
          roles = { llm = "assistant", user = "user" },
          opts = { vision = true },
          commands = { default = { "${COMMAND}", "acp" } },
          defaults = { mcpServers = {}, timeout = 20000 },
          parameters = {
            protocolVersion = 1,
            clientCapabilities = { fs = { readTextFile = true, writeTextFile = true } },
            clientInfo = { name = "CodeCompanion.nvim", version = "1.0.0" },
          },
          handlers = {
            setup = function() return true end,
            auth = function() return true end,
            form_messages = function(self, messages, capabilities)
              return helpers.form_messages(self, messages, capabilities)
            end,
            on_exit = function() end,
          },
        }
      end,
    },
  },
  interactions = { chat = { adapter = "local_copilot" } },
})
`,
  },
  // https://github.com/xenodium/agent-shell
  emacs: {
    file: ".emacs.d/init.el",
    code: `(require 'agent-shell)
(add-to-list 'agent-shell-agent-configs
             (agent-shell-make-agent-config
              :identifier 'copilot
              :mode-line-name "copilot"
              :buffer-name "copilot"
              :shell-prompt "copilot> "
              :shell-prompt-regexp "copilot> "
              :client-maker (lambda (buffer)
                              (agent-shell--make-acp-client
                               :command "${COMMAND}"
                               :command-params '("acp")
                               :context-buffer buffer))))
`,
  },
};

function zedFile(variable: VariableReader): string {
  const file = "zed/settings.json";
  if (Deno.build.os === "windows") return join(variable("APPDATA") ?? "AppData/Roaming", file);
  const folder = Deno.build.os === "linux" ? variable("XDG_CONFIG_HOME") : undefined;
  return join(folder || ".config", file);
}

/** Prints an editor's setting, or with `--write` adds it to its file; the exit code. */
export async function setUpEditor(
  args: Args,
  stdout: Pick<Output, "write">,
  variable: VariableReader = (name) => Deno.env.get(name),
): Promise<number> {
  const { editor, write } = args;
  if (editor === undefined) {
    throw new UsageError(
      "copilot setup needs --editor NAME; to choose a model, run copilot and type /setup",
    );
  }
  const setup = Object.hasOwn(EDITOR_SETUPS, editor) ? EDITOR_SETUPS[editor] : undefined;
  if (setup === undefined) {
    throw wrongValue("editor", Object.keys(EDITOR_SETUPS).join(", "), editor);
  }
  if (!write) {
    stdout.write("code" in setup ? setup.code : `${JSON.stringify(setup.json, null, 2)}\n`);
    return EXIT.done;
  }
  const { file } = setup;
  const home = variable("HOME") ?? variable("USERPROFILE");
  if (home === undefined) throw new UsageError("The home folder is not known: set HOME");
  if ("code" in setup) {
    throw new UsageError(`${file} is code of your own: add what is printed without --write to it`);
  }
  const path = resolve(home, typeof file === "string" ? file : file(variable));
  stdout.write(await addSetting(path, setup.json));
  return EXIT.done;
}

/**
 * Adds the setting to a JSON file, and leaves all others; what was done, as a line. What the file held
 * is kept beside it; a copy of an earlier time is not written over.
 * @throws {UsageError} where it cannot be read, {Error} where it cannot be written.
 */
async function addSetting(path: string, json: JsonSetup["json"]): Promise<string> {
  const before = await Deno.readTextFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw new UsageError(`Cannot read ${path}: ${reasonOf(error)}`);
  });
  const settings = settingsIn(before, path);
  const old = JSON.stringify(settings);
  for (const [name, added] of Object.entries(json)) {
    const there = settings[name];
    // An entry of that name is the person's own.
    settings[name] = isObject(there) ? { ...added, ...there } : added;
  }
  if (JSON.stringify(settings) === old) return `${path} has it already: nothing was changed\n`;
  const copy = `${path}.before-copilot`;
  if (before !== undefined) await keepCopy(copy, before);
  // The editor's own file may be shared with others of the machine.
  const mode = attempt(() => Deno.statSync(path).mode);
  await replaceUserFile(path, `${JSON.stringify(settings, null, 2)}\n`, mode);
  return `Added to ${path}${before === undefined ? "" : `; what it held is in ${copy}`}\n`;
}

function settingsIn(text: string | undefined, path: string): Record<string, unknown> {
  const settings = text === undefined || text.trim() === "" ? {} : jsonOrUndefined(text);
  if (settings === undefined) {
    throw new UsageError(
      `${path} holds comments or is not JSON: add what is printed without --write to it`,
    );
  }
  if (!isObject(settings)) throw new UsageError(`${path} must hold a JSON object`);
  return settings;
}

async function keepCopy(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(path, text, { createNew: true, mode: 0o600 }).catch((error) => {
    if (error instanceof Deno.errors.AlreadyExists) return;
    attempt(() => Deno.removeSync(path));
    throw new Error(`Cannot write ${path}: ${reasonOf(error)}`);
  });
}
