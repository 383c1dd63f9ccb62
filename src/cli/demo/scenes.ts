/** The demo's scenes: the project of the tour, and what the scripted model says and calls. @module */

import { count } from "../../text/count.ts";
import { shortened } from "../../text/one_line.ts";

type DemoCall = { name: string; arguments: Record<string, unknown> };

export interface DemoRequest {
  messages: readonly { role: string; content?: string | null }[];
}

export type DemoReply = { text: string; call?: DemoCall };

export const TOUR: readonly string[] = ["The tests fail. Fix them.", "/undo"];

export const PROJECT: Readonly<Record<string, string>> = {
  "README.md": "# Shop\n\nAdds up a shopping cart. Run the tests with `sh cart_test.sh`.\n",
  "cart.sh": `# total PRICE QUANTITY...: prints the sum of a cart.
total() {
  sum=0
  while [ $# -gt 1 ]; do
    sum=$((sum + $1))
    shift 2
  done
  echo "$sum"
}
`,
  "cart_test.sh": `. ./cart.sh
failed=0
check() {
  if [ "$2" = "$3" ]; then echo "ok      $1"; else echo "FAILED  $1: $2, not $3"; failed=1; fi
}
check "an empty cart" "$(total)" 0
check "one book" "$(total 12 1)" 12
check "two books and a pen" "$(total 12 2 3 1)" 27
exit $failed
`,
};

const NOTE = "This is the demo: a script plays the model, and the tools are real.";
const REAL_MODEL = "`/setup` chooses a real model. Or start `copilot` without `--demo`.";

const TESTS: DemoCall = { name: "run_bash", arguments: { command: "sh cart_test.sh" } };
const REPAIR: readonly DemoReply[] = [
  { text: "I will run the tests first.", call: TESTS },
  {
    text: "The total ignores the quantity. I will look at the code.",
    call: { name: "read_file", arguments: { file_path: "cart.sh" } },
  },
  {
    text: "The loop adds each price once. It has to multiply the price by its quantity.",
    call: {
      name: "edit_file",
      arguments: {
        file_path: "cart.sh",
        old_string: "sum=$((sum + $1))",
        new_string: "sum=$((sum + $1 * $2))",
      },
    },
  },
  { text: "Now the tests again.", call: TESTS },
  {
    text: `Fixed: \`total\` now multiplies each price by its quantity, and all three tests pass.

\`/undo\` is in the line: press Enter to take the change back. Then try these:

- Ctrl-O opens the whole conversation
- Shift-Tab switches between asking, automatic edits and planning

${NOTE} ${REAL_MODEL}`,
  },
];

/** Repairs the project once. A call that was declined ends the turn. */
export function tour(messages: DemoRequest["messages"]): DemoReply {
  const turn = turnOf(messages);
  if (turn.results.at(-1)?.startsWith("Refused")) {
    return { text: "Nothing was changed. Send the message again to see the rest of the tour." };
  }
  const isDone = messages.some(({ content }) => content?.startsWith("Fixed:"));
  return !isDone && REPAIR[turn.steps] || { text: `${NOTE} ${REAL_MODEL}` };
}

/** The files that say most about a project, best first. */
const TELLING = [
  /^readme/i,
  /^(?:package|deno|composer)\.jsonc?$/,
  /^(?:Cargo|pyproject)\.toml$/,
  /^(?:go\.mod|pom\.xml|Makefile|CMakeLists\.txt)$/,
  /\.(?:md|txt)$/,
];

/** Lists the folder, reads its most telling file and answers with both. */
export function look(messages: DemoRequest["messages"]): DemoReply {
  const { steps, results: [listing = "", file = ""] } = turnOf(messages);
  if (steps === 0) {
    return {
      text: "I will look at the folder.",
      call: { name: "list_directory", arguments: { path: "." } },
    };
  }
  const names = listing.split("\n").slice(0, -1).map((line) => line.split(/ {2}| -> /, 1)[0]!);
  const telling = TELLING.flatMap((name) => names.filter((known) => name.test(known)))[0];
  if (steps === 1 && telling !== undefined) {
    return { text: "", call: { name: "read_file", arguments: { file_path: telling } } };
  }
  const lines = file.split("\n").flatMap((line) => /^\d+\t(.*\w.*)$/.exec(line)?.[1] ?? []);
  const shown = names.slice(0, 12).map((name) => `\`${name}\``).join(", ");
  const more = names.length > 12 ? ` and ${names.length - 12} more` : "";
  return {
    text: [
      NOTE,
      `The folder has ${count(names.length, "entry", "entries")}${shown && `: ${shown}${more}`}.`,
      ...lines.length > 0 ? [`\`${telling}\` begins with: ${shortened(lines[0]!, 200)}`] : [],
      "For a real answer, leave out `--demo` and name a model server: `--local`, `--base-url URL` or `--hosted`.",
    ].join("\n\n"),
  };
}

/** The number of answers since the newest message of the user, and the results of their calls. */
function turnOf(messages: DemoRequest["messages"]): { steps: number; results: string[] } {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  return {
    steps: turn.filter(({ role }) => role === "assistant").length,
    results: turn.flatMap(({ role, content }) => role === "tool" ? [content ?? ""] : []),
  };
}
