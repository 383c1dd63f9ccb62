import { assertEquals, assertThrows } from "@std/assert";
import { countOf, fieldsOf, listOf, stringOf, wholeNumber } from "../../src/models/fields.ts";
import { BackendError } from "../../src/errors.ts";

Deno.test("a field of another shape is named, with what it is", () => {
  const rows: [read: (value: unknown, what: string) => unknown, value: unknown, says: string][] = [
    [fieldsOf, undefined, "an object: it is missing"],
    [fieldsOf, null, "an object: it is null"],
    [fieldsOf, [], "an object: it is an array"],
    [fieldsOf, "x", "an object: it is of type string"],
    [stringOf, 7, "a string: it is of type number"],
    [stringOf, {}, "a string: it is of type object"],
    [listOf, false, "an array: it is of type boolean"],
    [listOf, {}, "an array: it is of type object"],
  ];
  for (const [read, value, says] of rows) {
    const error = assertThrows(() => read(value, "thing"), BackendError);
    const message = `Cannot read the model server's answer as its thing must be ${says}`;
    assertEquals([error.kind, error.message], ["protocol", message]);
  }
});

Deno.test("what is not there is empty", () => {
  for (const value of [undefined, null]) {
    assertEquals([stringOf(value, "x"), listOf(value, "x")], ["", []]);
  }
});

Deno.test("a count is a number of nothing or more", () => {
  const rows: [value: unknown, count: number][] = [
    [7, 7],
    [0.5, 0.5],
    [0, 0],
    [-1, 0],
    [Infinity, 0],
    [NaN, 0],
    ["7", 0],
    [null, 0],
  ];
  for (const [value, count] of rows) assertEquals(countOf(value), count);
});

Deno.test("a whole number is at least what is asked for, 1 where nothing is", () => {
  const rows: [value: unknown, least: number | undefined, number: number | undefined][] = [
    [1, undefined, 1],
    [0, undefined, undefined],
    [-1, undefined, undefined],
    [256, 256, 256],
    [255, 256, undefined],
    [256.5, 256, undefined],
    ["256", 256, undefined],
    [Infinity, 256, undefined],
    [null, undefined, undefined],
  ];
  for (const [value, least, number] of rows) assertEquals(wholeNumber(value, least), number);
});
