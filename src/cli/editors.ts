/** `copilot setup --editor NAME`: the setting by which an editor starts `copilot acp`. @module */

import { UsageError } from "../errors.ts";
import { EXIT } from "../frontends/exit_codes.ts";
import type { Output } from "../terminal/stdio.ts";
import { isObject } from "../text/json.ts";
import { dirname, join } from "../text/std_path.ts";
import type { Args } from "./args.ts";
import { wrongValue } from "./args.ts";

interface EditorSetup {
  /** The file of the editor's settings, below the home folder, and what it is written in. */
  file: string;
  text: string;
  /** The setting in a file of JSON; left out where the file is code of the person's own. */
  json?: Record<string, Record<string, unknown>>;
}

const COMMAND = "copilot";
const AGENT = { command: COMMAND, args: ["acp"], env: {} };

/** Sources: the documents of each editor on external agents. */
const EDITOR_SETUPS: Readonly<Record<string, EditorSetup>> = {
  // https://zed.dev/docs/ai/external-agents
  zed: {
    file: ".config/zed/settings.json",
    text: "",
    json: { agent_servers: { copilot: { type: "custom", ...AGENT } } },
  },
  // https://www.jetbrains.com/help/ai-assistant/acp.html
  jetbrains: {
    file: ".jetbrains/acp.json",
    text: "",
    json: { agent_servers: { copilot: AGENT } },
  },
  // https://codecompanion.olimorris.dev/configuration/adapters-acp
  neovim: {
    file: ".config/nvim/init.lua",
    text: `require("codecompanion").setup({
  adapters = {
    acp = {
      copilot = function()
        local helpers = require("codecompanion.adapters.acp.helpers")
        return {
          name = "copilot",
          type = "acp",
          formatted_name = "copilot",
          roles = { llm = "assistant", user = "user" },
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
  interactions = { chat = { adapter = "copilot" } },
})
`,
  },
  // https://github.com/xenodium/agent-shell
  emacs: {
    file: ".emacs.d/init.el",
    text: `(require 'agent-shell)
(setq agent-shell-agent-configs
      (list (agent-shell-make-agent-config
             :identifier 'copilot
             :mode-line-name "copilot"
             :buffer-name "copilot"
             :shell-prompt "copilot> "
             :shell-prompt-regexp "copilot> "
             :client-maker (lambda (buffer)
                             (agent-shell--make-acp-client
                              :command "${COMMAND}"
                              :command-params '("acp")
                              :context-buffer buffer)))))
`,
  },
};

/** Prints an editor's setting, or with `--write` adds it to its file; the exit code. */
export async function setUpEditor(args: Args, stdout: Output): Promise<number> {
  const { editor, write } = args;
  if (editor === undefined) {
    throw new UsageError(
      "copilot setup needs --editor NAME; to choose a model, run copilot and type /setup",
    );
  }
  const setup = EDITOR_SETUPS[editor];
  if (setup === undefined) {
    throw wrongValue("editor", Object.keys(EDITOR_SETUPS).join(", "), editor);
  }
  const { file, json, text } = setup;
  if (!write) {
    stdout.write(json === undefined ? text : `${JSON.stringify(json, null, 2)}\n`);
    return EXIT.done;
  }
  const home = Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE");
  if (home === undefined) throw new UsageError("The home folder is not known: set HOME");
  if (json === undefined) {
    throw new UsageError(`${file} is code of your own: add what is printed without --write to it`);
  }
  const path = join(home, file);
  await addSetting(path, json);
  stdout.write(`Added to ${path}\n`);
  return EXIT.done;
}

/** Adds the setting to a JSON file, and leaves all others. @throws {UsageError} where it cannot be read. */
async function addSetting(
  path: string,
  json: NonNullable<EditorSetup["json"]>,
): Promise<void> {
  const before = await Deno.readTextFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return "{}";
    throw new UsageError(`Cannot read ${path}: ${error.message}`);
  });
  let settings: unknown;
  try {
    settings = JSON.parse(before.trim() === "" ? "{}" : before);
  } catch {
    throw new UsageError(
      `${path} holds comments or is no JSON: add what is printed without --write to it`,
    );
  }
  if (!isObject(settings)) throw new UsageError(`${path} must hold a JSON object`);
  for (const [name, added] of Object.entries(json)) {
    const old = settings[name];
    settings[name] = { ...isObject(old) ? old : {}, ...added };
  }
  await Deno.mkdir(dirname(path), { recursive: true });
  await Deno.writeTextFile(path, `${JSON.stringify(settings, null, 2)}\n`);
}
