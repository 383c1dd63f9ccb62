import { assertEquals, assertThrows } from "@std/assert";
import { elicitationOf } from "../../../src/extensions/mcp/elicitation.ts";
import { answerByDefaults, fieldValue } from "../../../src/session/form.ts";

const form = (properties: Record<string, unknown>, required: string[] = []) => {
  const question = elicitationOf("s", { message: "m", requestedSchema: { properties, required } });
  if (question.mode !== "form") throw new Error(question.mode);
  return question;
};

Deno.test("elicitation: each kind of field takes what fits, by value, words or number", () => {
  const titled = [{ const: "r", title: "Red" }, { const: "g", title: "Green" }];
  const rows: [field: Record<string, unknown>, typed: string, value: unknown][] = [
    [{ type: "string" }, "a b", "a b"],
    [{ type: "string", default: "x" }, "", "x"],
    [{ type: "integer", minimum: 1 }, "3", 3],
    [{ type: "number" }, "2.5", 2.5],
    [{ type: "boolean" }, "yes", true],
    [{ type: "boolean" }, "N", false],
    [{ type: "string", enum: ["a", "b"], enumNames: ["Alpha", "Beta"] }, "beta", "b"],
    [{ type: "string", oneOf: titled }, "2", "g"],
    [{ type: "array", items: { anyOf: titled } }, "red, g", ["r", "g"]],
    [{ type: "array", items: { type: "string", enum: ["a", "b"] } }, "a", ["a"]],
    [{ type: "string" }, "", undefined],
    [{ type: "string", enum: ["2", "1"] }, "1", "1"],
    [{ type: "string", enum: ["a", "b"] }, "1", "a"],
  ];
  for (const [field, typed, value] of rows) {
    const [one] = form({ field }).fields;
    assertEquals(fieldValue(one!, typed), value, JSON.stringify(field));
  }
});

Deno.test("elicitation: what does not fit is refused with what it must be", () => {
  const rows: [field: Record<string, unknown>, typed: string, must: string][] = [
    [{ type: "integer", title: "Age" }, "2.5", "Age must be an integer"],
    [{ type: "boolean" }, "maybe", "must be yes or no"],
    [{ type: "string", enum: ["a"] }, "b", "must be one of a"],
    [{ type: "string", enum: ["a"] }, "0", "must be one of a"],
    [{ type: "number" }, "x", "must be a number"],
    [{ type: "number" }, "", "must be a number"],
    [{ type: "array", items: { enum: ["a", "b"] } }, "a, c", "must be some of a, b"],
  ];
  for (const [field, typed, must] of rows) {
    const [one] = form({ field }, ["field"]).fields;
    assertThrows(() => fieldValue(one!, typed), RangeError, must);
  }
});

Deno.test("elicitation: forms and addresses that cannot be shown are refused", () => {
  assertThrows(
    () => form({ a: { type: "object" } }),
    Error,
    "the field a is of a type that no form has",
  );
  assertThrows(() => form({ a: 5 }), Error, "the field a is not an object");
  for (const url of ["javascript:alert(1)", "file:///etc/passwd", 5]) {
    assertThrows(
      () => elicitationOf("s", { mode: "url", url }),
      Error,
      "its url is not a web address",
    );
  }
});

Deno.test("elicitation: defaults answer where every required field has one that fits", () => {
  const fields = { a: { type: "string", default: "x" }, b: { type: "integer" } };
  assertEquals(answerByDefaults(form(fields)), { action: "accept", content: { a: "x" } });
  assertEquals(answerByDefaults(form(fields, ["b"])), { action: "cancel" });
  const wrong = { a: { type: "integer", default: "x" } };
  assertEquals(answerByDefaults(form(wrong, ["a"])), { action: "cancel" });
});
