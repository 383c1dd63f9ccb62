import { assertEquals } from "@std/assert";
import { elicitAnswer, elicitParams } from "../../../src/ui/acp/questions.ts";
import { elicitationOf } from "../../../src/extensions/mcp/elicitation.ts";

Deno.test("acp: a form of a server is asked as it came, with its limits", () => {
  const choices = [{ const: "a", title: "A" }];
  const properties = {
    text: {
      type: "string",
      title: "T",
      description: "d",
      default: "x",
      format: "email",
      minLength: 1,
      maxLength: 9,
    },
    plain: { type: "string", title: "P" },
    whole: { type: "integer", title: "W", minimum: 2, maximum: 3 },
    yes: { type: "boolean", title: "Y", default: true },
    one: { type: "string", title: "O", oneOf: choices },
    some: { type: "array", title: "S", minItems: 1, maxItems: 2, items: { anyOf: choices } },
  };
  const asked = elicitationOf("s", {
    message: "m",
    requestedSchema: { type: "object", properties, required: ["plain", "one"] },
  });
  assertEquals(elicitParams(asked, "id"), {
    ...{ sessionId: "id", mode: "form", message: "s: m" },
    requestedSchema: { type: "object", properties, required: ["plain", "one"] },
  });
  const secret = elicitationOf("s", {
    message: "m",
    requestedSchema: { properties: { password: { type: "string" } } },
  });
  assertEquals(
    elicitParams(secret, "id").message,
    "s: m\n\nIt seems to ask for a secret. A form is no place for one.",
  );
  const { elicitationId, ...page } = elicitParams(
    elicitationOf("s", { mode: "url", message: "m", url: "https://a/b" }),
    "id",
  );
  assertEquals(typeof elicitationId, "string");
  assertEquals(page, { sessionId: "id", mode: "url", message: "s: m", url: "https://a/b" });
});

Deno.test("acp: an answer that is none of the protocol's is a cancellation", () => {
  const rows: [answer: unknown, meant: unknown][] = [
    [{ action: "accept", content: { a: 1 } }, { action: "accept", content: { a: 1 } }],
    [{ action: "accept", content: 5 }, { action: "accept" }],
    [{ action: "decline", content: {} }, { action: "decline" }],
    [{ action: "cancel" }, { action: "cancel" }],
    [{ action: "other" }, { action: "cancel" }],
    [undefined, { action: "cancel" }],
  ];
  for (const [answer, meant] of rows) assertEquals(elicitAnswer(answer), meant);
});
