import { assertEquals, assertThrows } from "@std/assert";
import { hostVerdict, isOn } from "../../src/safety/host_verdict.ts";
import { placeOf } from "../../src/safety/places.ts";
import { decide, rulesFor } from "../../src/safety/policy.ts";
import { parseKept, parseRule, type RuleEffect } from "../../src/safety/rules.ts";
import type { PolicyCall, Settings } from "../../src/safety/settings.ts";

const call = (url: string): PolicyCall => ({ tool: { name: "fetch_url", access: "network" }, url });

function settings(given: Partial<Settings>, rules: readonly string[] = []): Settings {
  const parsed = rules.map((text) => {
    const [effect, rule] = text.split(" ");
    // `kept` is what a question added.
    return effect === "kept" ? parseKept({ rule: rule! }) : parseRule(effect as RuleEffect, rule!);
  });
  return { approve: "ask", sandbox: "off", rules: parsed, hasBash: () => true, ...given };
}

const place = (path: string) => placeOf("/", path);

const ROWS: [url: string, rules: string[], effect: RuleEffect][] = [
  ["https://docs.test/", [], "ask"],
  ["https://docs.test/", ["allow fetch_url(docs.test)"], "allow"],
  ["http://docs.test/", ["allow fetch_url(DOCS.test.)"], "allow"],
  ["https://docs.test/", ["allow fetch_url"], "allow"],
  ["https://docs.test/", ["allow fetch_url(*)"], "allow"],
  ["https://docs.test/", ["allow network(docs.test)"], "allow"],
  ["https://docs.test/", ["allow *"], "allow"],
  ["https://docs.test/", ["allow read", "allow run_bash", "allow read_file(docs.test)"], "ask"],
  ["https://a.docs.test/", ["allow fetch_url(docs.test)"], "ask"],
  ["https://docs.test.evil.test/", ["allow fetch_url(docs.test)"], "ask"],
  ["https://evildocs.test/", ["allow fetch_url(*.docs.test)"], "ask"],
  ["https://a.b.docs.test/", ["allow fetch_url(*.docs.test)"], "allow"],
  ["https://docs.test/", ["allow fetch_url(*.docs.test)"], "ask"],
  // To refuse, the name itself counts, and each port.
  ["https://docs.test/", ["deny fetch_url(*.docs.test)", "allow fetch_url"], "deny"],
  ["https://docs.test:8443/", ["deny fetch_url(docs.test)", "allow fetch_url"], "deny"],
  ["https://docs.test/", ["deny network"], "deny"],
  ["https://docs.test/", ["ask fetch_url(docs.test)", "allow fetch_url"], "ask"],
  ["https://docs.test:8443/", ["allow fetch_url(docs.test)"], "ask"],
  ["https://docs.test:8443/", ["allow fetch_url(docs.test:8443)"], "allow"],
  ["https://docs.test/", ["allow fetch_url(docs.test:8443)"], "ask"],
  ["https://docs.test/", ["allow fetch_url(docs.test:443)"], "allow"],
  ["https://xn--mnchen-3ya.test/", ["allow fetch_url(münchen.test)"], "allow"],
  // Addresses of this machine and of local networks.
  ["http://127.0.0.1/", [], "deny"],
  ["http://[::1]/", [], "deny"],
  ["http://localhost:3000/", [], "deny"],
  ["http://localhost:3000/", ["allow fetch_url"], "deny"],
  ["http://10.0.0.1/", ["allow fetch_url(*)", "allow network"], "deny"],
  ["http://a.localhost/", ["allow fetch_url(*.localhost)"], "deny"],
  ["http://localhost:3000/", ["allow fetch_url(localhost)"], "deny"],
  ["http://localhost:3000/", ["allow fetch_url(localhost:3000)"], "allow"],
  ["http://localhost:3000/", ["kept fetch_url(localhost:3000)"], "deny"],
  ["http://localhost:3000/", ["allow fetch_url(localhost:3000)", "ask network"], "ask"],
  ["http://127.0.0.1/", ["allow fetch_url(0x7f.1)"], "allow"],
  ["http://169.254.169.254/", ["allow fetch_url(169.254.169.254)"], "deny"],
  ["http://[::1]:81/", ["allow fetch_url([::1]:81)"], "allow"],
];

Deno.test("each host is asked about, refused or allowed by the rules for it", () => {
  for (const [url, rules, effect] of ROWS) {
    const found = decide(call(url), settings({}, rules), place);
    assertEquals([url, rules, found.effect], [url, rules, effect], found.reason);
    const isLocal = /localhost|127|::1|10\.0/.test(url);
    assertEquals(found.mayBePrivate === true, isLocal && effect !== "deny", url);
  }
});

Deno.test("modes: auto asks too, plan and never refuse, and a yes is for the host", () => {
  const one = call("https://docs.test/a?b");
  for (
    const [approve, effect] of [
      ["auto", "ask"],
      ["ask", "ask"],
      ["never", "deny"],
      ["plan", "deny"],
    ] as const
  ) assertEquals(decide(one, settings({ approve }), place).effect, effect);
  const allowed = ["allow fetch_url(docs.test)"];
  assertEquals(decide(one, settings({ approve: "never" }, allowed), place).effect, "allow");
  assertEquals(decide(one, settings({ approve: "plan" }, allowed), place).effect, "deny");
  assertEquals(rulesFor(one, settings({}), place), [
    { rule: "fetch_url(docs.test)", words: "docs.test/…" },
  ]);
  const port = call("http://docs.test:8080/");
  assertEquals(rulesFor(port, settings({}), place)[0]!.rule, "fetch_url(docs.test:8080)");
  // What would be refused or asked about all the same is not offered.
  assertEquals(rulesFor(one, settings({}, ["ask fetch_url"]), place), []);
  assertEquals(rulesFor(call("http://10.0.0.1/"), settings({}), place), []);
});

Deno.test("in a sandbox without a network each host is a question, also under --yes, but for a rule", () => {
  const one = call("https://docs.test/");
  const sandbox = "workspace-write";
  const closed = { effect: "ask", reason: "sends a request to docs.test", isBeyond: true } as const;
  assertEquals(hostVerdict(one, settings({ sandbox })), closed);
  assertEquals(hostVerdict(one, settings({ sandbox, network: true })).isBeyond, undefined);
  assertEquals(hostVerdict(one, settings({ sandbox }, ["ask fetch_url"])), closed);
  assertEquals(hostVerdict(one, settings({ sandbox }, ["allow *"])), closed);
  assertEquals(hostVerdict(one, settings({ sandbox }, ["deny fetch_url"])).effect, "deny");
  assertEquals(
    hostVerdict(one, settings({ sandbox }, ["allow fetch_url(docs.test)"])).effect,
    "allow",
  );
  assertEquals(hostVerdict(one, settings({ sandbox }, ["allow fetch_url(a.test)"])).effect, "ask");
  assertEquals(isOn(settings({}, ["allow network", "deny fetch_url"]).rules), true);
  assertEquals(isOn(settings({}, ["deny fetch_url", "ask network", "allow *"]).rules), false);
});

Deno.test("a tool of another program that has its name, or another tool, is decided on as before", () => {
  const other = { name: "fetch_url", access: "network", ruleName: "mcp__x__fetch_url" } as const;
  const found = decide({ tool: other, url: "http://127.0.0.1/" }, settings({}), place);
  assertEquals([found.effect, found.reason], ["ask", "is a tool of another program"]);
  const own = { name: "browse", access: "network" } as const;
  const ruled = settings({}, ["allow network(docs.test)"]);
  assertEquals(decide({ tool: own, url: "https://docs.test/" }, ruled, place).effect, "ask");
});

Deno.test("rules for hosts that make no sense are refused", () => {
  const rows = [
    ...["https://docs.test/", "docs.test/page", "*docs.test", "a.*.test", "a b", "u@docs.test"],
    ...["*.", "docs.test:99999", "docs.test:x", "docs.test?q", "*.*.test", "[::1"],
  ];
  for (const inner of rows) {
    const parse = () => parseRule("allow", `fetch_url(${inner})`);
    assertThrows(parse, SyntaxError, "fetch_url(docs.python.org)", inner);
  }
});
