import { assertEquals } from "@std/assert";
import { hideCredentials } from "../../src/text/credentials.ts";

const token = (start: string) => start + "a1B2".repeat(10);
/** `~` is hidden. */
const ROWS: [text: string, expected: string][] = [
  [`key ${token("sk-ant-api03-")}.`, "key ~."],
  [`${token("ghp_")} ${token("github_pat_")} ${token("xoxb-")}`, "~ ~ ~"],
  ["AKIAIOSFODNN7EXAMPLE", "~"],
  [`Cookie: eyJhbGciOi.eyJzdWIi.${token("")}`, "Cookie: ~"],
  ["OPENAI_API_KEY=correcthorse\nA=b", "OPENAI_API_KEY=~\nA=b"],
  ["`API_KEY=abcd` (TOKEN=abcd12)", "`API_KEY=~` (TOKEN=~)"],
  ["AWS_SECRET_ACCESS_KEY='abcd'", "AWS_SECRET_ACCESS_KEY='~'"],
  ['{"client_secret": "GOCSPX-x y", "a": 1}', '{"client_secret": "~", "a": 1}'],
  ["db:\n  password: hunter22 # it\n", "db:\n  password: ~ # it\n"],
  [`Authorization: Bearer ${token("")}`, "Authorization: Bearer ~"],
  ["-----BEGIN RSA PRIVATE KEY-----\nabc+/=\n-----END RSA PRIVATE KEY-----.", "~."],
  ["-----BEGIN PRIVATE KEY-----\nabc+/=\nabc", "~"],
];
for (const [text, expected] of ROWS) {
  Deno.test(`a credential is hidden in ${JSON.stringify(text)}`, () => {
    const hidden = hideCredentials(text);
    assertEquals(hidden, expected.replaceAll("~", "[redacted]"));
    assertEquals(hideCredentials(hidden), hidden);
  });
}

const HARMLESS = [
  "const token = nextToken(); accessToken: string; f(token=token, password=password)",
  "task-oriented-and-long-names-are-no-keys, desk-top-and-so-on-and-so-forth",
  "The password is asked for. token: a word. https://example.com:8080/a@b",
  "max_tokens=4096 tokens=12",
];
for (const text of HARMLESS) {
  Deno.test(`nothing is hidden in ${JSON.stringify(text)}`, () =>
    assertEquals(hideCredentials(text), text));
}

// In quadratic time, each would take minutes.
Deno.test("long texts are searched for credentials in linear time", () => {
  for (
    const piece of ["token=", "eyJ-", "sk-", "://a:", "-----BEGIN PRIVATE KEY-----x-", '"', "a"]
  ) {
    hideCredentials(`${piece.repeat(200_000 / piece.length)})`);
  }
});
