import { assert, assertEquals } from "@std/assert";
import { sessionCommand } from "../../helpers/session.ts";
import { strictServer } from "../../helpers/strict_server.ts";
import { noTmux, type Terminal, terminal } from "../../helpers/tmux.ts";

/** A session in a terminal whose shell ran `setup` first, with `config` as config.json. */
function configuredTest(
  name: string,
  { setup = "", flags = "", config = {} }: {
    setup?: string;
    flags?: string;
    config?: Record<string, unknown>;
  },
  body: (terminal: Terminal) => Promise<void>,
): void {
  Deno.test(noTmux ? `${name} (skipped: ${noTmux})` : name, { ignore: noTmux !== "" }, async () => {
    await using server = await strictServer([{ text: "Answer." }], { models: ["test"] });
    await using screen = await terminal();
    const { folder } = screen;
    await Deno.mkdir(`${folder}/../config/copilot`, { recursive: true });
    await Deno.writeTextFile(`${folder}/../config/copilot/config.json`, JSON.stringify(config));
    await Deno.writeTextFile(`${folder}/ed.sh`, EDITOR_SCRIPT);
    await screen.type(`unset VISUAL EDITOR; ${setup}\r`);
    await screen.type(
      `clear; ${sessionCommand(server, flags)}; echo left: $?; stty -a | grep -o .icanon\r`,
    );
    await screen.until((rows) => rows.includes(">"));
    await body(screen);
  });
}

/** Says whether it found the terminal sane and the file private, and what it read from the keyboard. */
const EDITOR_SCRIPT = `stty -a | grep -q -- '-icanon' && sane=raw || sane=sane
mode=$(ls -l "$1" | cut -c1-10)
echo EDITING
read -r line
printf '\\nfrom editor: %s %s %s\\n' "$sane" "$mode" "$line" >> "$1"
exit "\${CODE:-0}"
`;

configuredTest(
  "without an editor Ctrl-G says what to set, and the line stays",
  {},
  async (screen) => {
    await screen.type("hello\x07");
    await screen.until("no editor is set: export EDITOR=vim");
    await screen.type("!");
    await screen.until("> hello!");
  },
);

configuredTest(
  "the line is edited in $EDITOR, which gets the terminal sane; nothing is left of it",
  { setup: "export EDITOR='sh ed.sh'" },
  async (screen) => {
    await screen.type("hello\x18\x05");
    await screen.until("EDITING");
    await screen.type("typed there\r");
    await screen.until((rows) =>
      rows.includes("> hello") && rows.includes("  from editor: sane -rw------- typed there")
    );
    assertEquals(Array.from(Deno.readDirSync(`${screen.folder}/../state/copilot-tmp`)), []);
    await screen.type("X\x1f\x1f");
    await screen.until((rows) =>
      rows.includes("> hello") && !rows.some((row) => row.startsWith("  ...>"))
    );
    await screen.type(" again\r");
    await screen.until("Answer.");
    await screen.type("\x04");
    await screen.until("left: 0");
    await screen.until((rows) => rows.includes(" icanon"));
  },
);

configuredTest(
  "an editor in the folder of the start, where no command works, that fails leaves the line as it was",
  {
    setup: `mkdir ../bin; cp ed.sh ../bin/ed; chmod +x ../bin/ed; cd ..
      export CODE=3 VISUAL=ed EDITOR=none PATH=$PWD/bin:$PATH`.replaceAll("\n", ";"),
    flags: "--working-dir $OLDPWD",
  },
  async (screen) => {
    await screen.type("hello\x07");
    await screen.until("EDITING");
    await screen.type("lost\r");
    await screen.until("ed failed (exit 3): the line is as it was");
    await screen.type("!");
    const rows = await screen.until("> hello!");
    assert(!rows.some((row) => row.includes("from editor")), rows.join("\n"));
    assertEquals(Array.from(Deno.readDirSync(`${screen.folder}/../state/copilot-tmp`)), []);
  },
);

configuredTest(
  "vim mode and keys from config.json; the footer shows the mode, /keys what is bound",
  { config: { vim: true, keys: { "f2": "kill-to-start", "http://gpu:8080/v1": "KEY" } } },
  async (screen) => {
    await screen.type("one two");
    await screen.until((rows) => rows.some((row) => row.startsWith("insert · test")));
    await screen.type("\x1b");
    await screen.until((rows) => rows.some((row) => row.startsWith("command · test")));
    await screen.type("bdwaX\x1b");
    await screen.until("> one X");
    await screen.type("\x1b0xA!\x1bOQ");
    await screen.until((rows) => rows.includes(">"));
    await screen.type("/keys\r");
    await screen.until("In vim's command mode:");
    await screen.until((rows) => rows.some((row) => row.startsWith("  1 to 9")));
  },
);

configuredTest(
  "Shift-Enter: the terminal that knows kitty's protocol is asked for it; the editor has it off",
  { setup: "export EDITOR='sh ed.sh'" },
  async (screen) => {
    await screen.output((output) => output.includes("\x1b[?u"));
    await screen.type("\x1b[?0u");
    await screen.output((output) => output.includes("\x1b[>5u"));
    await screen.type("one\x1b[13;2utwo");
    await screen.until((rows) => rows.includes("> one") && rows.includes("  two"));
    await screen.type("\x1b[103;5u");
    await screen.until("EDITING");
    const pops = (output: string) => output.split("\x1b[<u").length - 1;
    const pushes = (output: string) => output.split("\x1b[>5u").length - 1;
    await screen.output((output) => pops(output) === 1);
    await screen.type("x\r");
    await screen.output((output) => pushes(output) === 2);
    await screen.type("\x1b[99;5u\x1b[100;5u");
    await screen.until("left: 0");
    await screen.output((output) => pops(output) === 2 && output.includes("\x1b[>4m"));
  },
);
