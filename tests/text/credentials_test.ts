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
  ["-----BEGIN RSA PRIVATE KEY-----\nabc+/=\n-----END RSA PRIVATE KEY-----.", "~\n~\n~."],
  ["-----BEGIN PRIVATE KEY-----\nabc+/=\nabc", "~\n~\n~"],
  ["------BEGIN PRIVATE KEY-----\n-D: A-1,\n------END PRIVATE KEY-----", "-~\n~\n~"],
  ["-----BEGIN PGP PRIVATE KEY BLOCK-----\nV: G-1\n\nabc=", "~\n~\n\n~"],
  ['-H "X-Api-Key: abcd1234"', '-H "X-Api-Key: ~"'],
  ["x-auth-token: correcthorse", "x-auth-token: ~"],
  ["Authorization: Token abcd1234", "Authorization: Token ~"],
  ["a --token abcd1234 --db-password 'abc1'", "a --token ~ --db-password '~'"],
  ["curl -s -u me:pass https://h", "curl -s -u me:~ https://h"],
  ["psql postgres://me:pass@h/db redis://:pass@h", "psql postgres://me:~@h/db redis://:~@h"],
  ["curl --user 'me:pass'", "curl --user 'me:~'"],
  ["password = hunter22\nDB_PASS=abcd", "password = ~\nDB_PASS=~"],
  ["passphrase: hunter22\nprivate_key: abcd1234", "passphrase: ~\nprivate_key: ~"],
  ["signing_key=abcd access-key=abcd", "signing_key=~ access-key=~"],
  ["PASSWORD='quoted pw 12' A=b", "PASSWORD='~' A=b"],
  [`${token("glrt-")} ${token("pypi-AgEI")} ${token("xapp-1-")}`, "~ ~ ~"],
  ["AGE-SECRET-KEY-1QQPQZRFR7ZZ2WCV5XXXX", "~"],
  ["https://hooks.slack.com/services/T0/B0/X1", "https://hooks.slack.com/services/~"],
  ["//discord.com/api/webhooks/1234/abcDEFghi", "//discord.com/api/webhooks/1234/~"],
  ['{"auths":{"r":{"auth":"Ym9iOmRvY2twdzk5"}}}', '{"auths":{"r":{"auth":"~"}}}'],
  ["sshpass -p SshPw1234 ssh h", "sshpass -p ~ ssh h"],
  ["machine h\nlogin bob password netrcPw12", "machine h\nlogin bob password ~"],
  [`${token("SG.")}.${token("")} ${token("dop_v1_")} ${token("ya29.")}`, "~ ~ ~"],
  [`${token("gsk_")} ${token("xai-")} ${token("dckr_pat_")} ${token("hvs.")}`, "~ ~ ~ ~"],
  [`-${token("sk-ant-")}\n-AKIAIOSFODNN7EXAMPLE`, "-~\n-~"],
  [`client-key-data: ${btoa("-----BEGIN RSA PRIVATE KEY-----")}`, "client-key-data: ~"],
  ['{\\"password\\":\\"hunter22\\"}', '{\\"password\\":\\"~\\"}'],
  ["password := \"hunter22\"; 'token' => 'hunter22'", "password := \"~\"; 'token' => '~'"],
  ["<password>hunter22</password>", "<password>~</password>"],
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
  "max_tokens=4096 tokens=12 max_tokens = 409600 --max-tokens 4096 compass=north by_passing: 123456",
  "token = next() password: string; --token is --token $TOKEN --password <word>",
  '"auth": "required", sshpass -p $PASS ssh h, a machine with a login and a password of its own',
  "Authorization: Bearer <token>, docker run -u 1000:1000, a://b:$C@h, curl -u $USER:$PASSWORD",
];
for (const text of HARMLESS) {
  Deno.test(`nothing is hidden in ${JSON.stringify(text)}`, () =>
    assertEquals(hideCredentials(text), text));
}

// In quadratic time, each would take minutes.
Deno.test("long texts are searched for credentials in linear time", () => {
  const pieces = [
    ...["token=", "eyJ-", "sk-", "SG.", "://a:", "-----BEGIN PRIVATE KEY-----x-", '"', "a", "-"],
    ...[
      "--token-",
      "--token ",
      "curl -u",
      "x-key:",
      "authorization: a ",
      "password = ",
      "machine a login b password",
    ],
  ];
  for (const piece of pieces) hideCredentials(`${piece.repeat(200_000 / piece.length)})`);
});
