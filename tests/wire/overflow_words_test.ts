import { assertEquals } from "@std/assert";
import { failureFromErrorObject, failureFromResponse } from "../../src/wire/failure.ts";
import { OTHERS, REFUSALS } from "../fixtures/overflow_words.ts";

for (const [source, status, words, window, prompt] of REFUSALS) {
  Deno.test(`a request that is too long, in the words of ${source}`, () => {
    const body = { error: { message: words, code: status } };
    const url = "http://models.example/v1";
    const refusal = failureFromResponse(status, new Headers(), JSON.stringify(body), url);
    // The same inside a stream.
    for (const failure of [refusal, failureFromErrorObject(body)]) {
      const { kind, contextTokens } = failure!;
      const found = [kind, contextTokens?.window ?? 0, contextTokens?.prompt ?? 0];
      assertEquals(found, ["context_too_long", window, prompt]);
    }
  });
}

for (const [source, status, words] of OTHERS) {
  Deno.test(`a refusal for another reason, in the words of ${source}`, () => {
    const body = JSON.stringify({ error: { message: words } });
    const failure = failureFromResponse(status, new Headers(), body, "http://models.example/v1");
    assertEquals(failure.kind, status === 429 ? "rate_limit" : "request");
  });
}
