import { assertEquals } from "@std/assert";
import { allowedBy, answerRows, isInRow, questionNotes } from "../../src/ui/answers.ts";
import type { Approval } from "../../src/safety/approval.ts";

const ASKED = {
  call: { id: "1", name: "run_bash", arguments: {} },
  subject: { action: "run", command: "make all" },
  reason: "wants\nit",
  choices: ["once", "session", "refuse"],
  isRoutine: false,
  isFromUser: false,
} as Approval;
const rule = (words: string) => ({ words });
const asked = (more: Record<string, unknown>) => ({ ...ASKED, ...more }) as Approval;

Deno.test("what an answer allows for longer is said in words", () => {
  const rows: [more: Record<string, unknown>, words: string][] = [
    [{ rules: [rule("make all")] }, "exactly this"],
    [{ rules: [rule("make")] }, "any `make`"],
    [{ rules: [rule("make all"), rule("b\n")] }, "any `make all` and `b`"],
    [{ rulePath: "src/**\n" }, "runs of src/**"],
    [{ rulePath: "src", subject: {} }, "run_bash of src"],
  ];
  for (const [more, words] of rows) assertEquals(allowedBy(asked(more)), words);
  const exact = asked({ rules: [rule("make all")] });
  assertEquals([isInRow(exact, 42), isInRow(exact, 41)], [true, false]);
});

Deno.test("the answers are rows in the order of their digits", () => {
  const rules = [rule("make all")];
  assertEquals(answerRows(asked({ rules }), 80), [
    { choice: "once", label: "Yes" },
    { choice: "session", label: "Yes, and exactly this in this session" },
    { choice: "refuse", label: "No: say what to do instead" },
  ]);
  const networked = answerRows(asked({ networked: [{ text: "make", isExact: true }] }), 80);
  assertEquals(networked[0], { choice: "once", label: "Yes, for this session" });
  const kept = asked({ rules, choices: ["refuse", "folder"], isFromUser: true });
  const folder = (
    label: string,
  ) => [{ choice: "folder", label }, { choice: "refuse", label: "No" }];
  assertEquals<unknown>(
    answerRows(kept, 53),
    folder("Yes, and exactly this from now on in this folder"),
  );
  assertEquals<unknown>(answerRows(kept, 52), folder("Yes, always in this folder"));
});

Deno.test("notes say why a call is asked about, and what a yes does", () => {
  const why = { text: "It wants it." };
  const calm = (text: string) => ({ text, isCalm: true });
  const network = "If you say yes, it runs with network access; files stay sandboxed.";
  const open = (to: string) =>
    calm(`${network} For the rest of this session, ${to} may use the network without asking.`);
  const scripts = " and all scripts of this folder that it runs";
  const alike = {
    text: "Careful: a word of it has letters of two alphabets, which may look alike.",
    isDanger: true,
  };
  const grant = (text: string, isExact: boolean) => ({ text, isExact });
  const rows: [more: Record<string, unknown>, notes: unknown[]][] = [
    [{}, [why]],
    [{ isRoutine: true }, []],
    [{ isDanger: true }, [{ ...why, isDanger: true }]],
    [{ reason: "x".repeat(900) }, [{ text: `It ${"x".repeat(900)}.` }]],
    [{ confinedTo: "sandboxed" }, [why, calm("sandboxed")]],
    [{ right: { kind: "network" } }, [why, calm(network)]],
    [{ right: { kind: "write", folder: "/a/b" } }, [
      why,
      calm("If you say yes, it runs in the sandbox, and can also write /a/b, this once."),
    ]],
    [{ right: { kind: "sandbox" } }, [
      why,
      calm(
        "If you say yes, it runs outside of the sandbox this once, with all of your files and the network.",
      ),
    ]],
    [{ right: { kind: "network" }, programs: ["/bin/a"] }, [
      why,
      calm(network.replace("it runs", "/bin/a runs")),
    ]],
    [{ right: { kind: "network" }, programs: ["/bin/a", "/bin/b", "/bin/c", "/bin/d", "/bin/e"] }, [
      why,
      calm(network.replace("it runs", "/bin/a and /bin/b and /bin/c and 2 more run")),
    ]],
    [{ networked: [grant("a", true)] }, [why, open("exactly this command")]],
    [{ networked: [grant("a", false)] }, [why, open(`any \`a …\`${scripts}`)]],
    [{ networked: [grant("a", false), grant("b", false), grant("c", true)] }, [
      why,
      open(`any \`a …\` and any \`b …\` and exactly this command${scripts}`),
    ]],
    [{ subject: { command: "t\u043euch a" } }, [why, alike]],
    [{ subject: { path: "\u0391bc" } }, [why, alike]],
    [{ subject: { command: "\u0441\u0441 a.c" } }, [why, {
      text: "Careful: a word of it looks like Latin letters, but has others.",
      isDanger: true,
    }]],
    [{ subject: { command: "git commit -m '\u0430 \u0431'" } }, [why]],
    [{ subject: { command: "git commit -m '\u043f\u0440\u043e\u0431\u0430 a'" } }, [why]],
  ];
  for (const [more, notes] of rows) assertEquals(questionNotes(asked(more)), notes as never);
});
