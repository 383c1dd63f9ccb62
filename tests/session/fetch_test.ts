import { assert, assertEquals } from "@std/assert";
import { localConfig, type PromptTier } from "../../src/config.ts";
import { callText, runningText } from "../../src/ui/call_text.ts";
import { endedCall } from "../../src/ui/acp/call_updates.ts";
import type { PermissionChoice } from "../../src/safety/choice.ts";
import type { Approval, ApprovalAnswer } from "../../src/safety/approval.ts";
import { allExtensions } from "../../src/extensions/extensions.ts";
import { WebExtension } from "../../src/extensions/web/web_extension.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { placesWith } from "../helpers/places.ts";
import { respond, serve } from "../helpers/server.ts";
import { strictServer, use } from "../helpers/strict_server.ts";

/** A session in a folder, with the person's rules; `answer` is what they say to each question. */
async function session(
  host: string,
  { choice = {}, rules = {}, answer, promptTier = "full", project }: {
    choice?: PermissionChoice;
    rules?: Record<string, unknown>;
    answer?: ApprovalAnswer;
    promptTier?: PromptTier;
    project?: Record<string, unknown>;
  } = {},
) {
  const asked: Approval[] = [];
  const at = await placesWith({
    "home/.config/copilot/permissions.json": rules,
    ...project && { "repo/.copilot/permissions.json": project },
  });
  const permissions = at.permissions({ sandbox: undefined, ...choice });
  const config = { promptTier, local: localConfig({ host, model: "test", maxRetries: 0 }) };
  const made = await at.open(
    host,
    { permissions, config, readsFolder: false },
    answer && {
      approve: (approval) => {
        asked.push(approval);
        return Promise.resolve(answer);
      },
    },
  );
  const offers = made.session.agent.offered.some(({ name }) => name === "fetch_url");
  return {
    ...made,
    asked,
    offers,
    [Symbol.asyncDispose]: async () => {
      await made[Symbol.asyncDispose]();
      await at[Symbol.asyncDispose]();
    },
  };
}

const no: ApprovalAnswer = { choice: "refuse", reason: "" };
const ALLOWS = { allow: ["fetch_url(docs.test)"] };

Deno.test("fetch_url is offered if the user can be asked, or if a rule or --yes with a network allows it", async () => {
  const rows: [Parameters<typeof session>[1], boolean][] = [
    [{ answer: no }, true],
    [{ answer: no, promptTier: "lean" }, false],
    [{ answer: no, choice: { approve: "plan", sandbox: "off" } }, true],
    // Nobody can be asked.
    [{}, false],
    [{ choice: { yes: true, sandbox: "off" } }, true],
    [{ answer: no, choice: { sandbox: "workspace-write" } }, true],
    [{ answer: no, choice: { sandbox: "workspace-write", network: true } }, true],
    [{ answer: no, choice: { sandbox: "read-only" }, rules: ALLOWS }, true],
    [{ choice: { yes: true } }, false],
    [{ choice: { network: true } }, false],
    [{ choice: { yes: true, network: true } }, true],
    [{ rules: ALLOWS }, true],
    [{ rules: { allow: ["read_file(a)"] } }, false],
    [{ rules: { deny: ["fetch_url"] } }, false],
  ];
  for (const [options, isOffered] of rows) {
    await using one = await session("http://127.0.0.1:9", options);
    assertEquals([options, one.offers], [options, isOffered]);
  }
});

Deno.test("a project's rules cannot turn it on, and refuse it", async () => {
  const project = { allow: ["fetch_url"], ask: ["network"] };
  await using one = await session("http://127.0.0.1:9", { project });
  assertEquals(one.offers, false);
});

const fetching = (url: string) => [
  use("fetch_url", { url }),
  { text: "Read." },
];

Deno.test("a call asks about the host in full, and a no reaches nobody", async () => {
  await using model = strictServer(fetching("docs.test/a?b=c#d"));
  await using one = await session(model.url, { answer: no });
  const { toolExecutions } = await one.session.prompt("read it", new AbortController().signal);
  const [asked] = one.asked;
  assertEquals([asked!.reason, asked!.subject, asked!.call.arguments, asked!.rules], [
    "sends a request to docs.test",
    { action: "fetch", url: "https://docs.test/a?b=c" },
    { url: "docs.test/a?b=c#d" },
    [{ rule: "fetch_url(docs.test)", words: "docs.test/…" }],
  ]);
  assertEquals([one.asked.length, toolExecutions[0]!.outcome], [1, "refused"]);
});

Deno.test("a page of a host that a rule names is read, and told as such; others of this machine are not", async () => {
  await using site = serve(respond(200, { "content-type": "text/html" }, "<h1>Local</h1>"));
  const address = `http://127.0.0.1:${site.port}/x`;
  await using model = strictServer([
    ...fetching(address),
    ...fetching(`http://127.0.0.2:${site.port}/`),
  ]);
  await using one = await session(model.url, {
    answer: no,
    rules: { allow: [`fetch_url(127.0.0.1:${site.port})`] },
  });
  const { signal } = new AbortController();
  const [read] = (await one.session.prompt("read it", signal)).toolExecutions;
  assert(read!.result.endsWith("<page>\n# Local\n</page>"), read!.result);
  const { verb, object, counts } = callText(read!);
  assertEquals([verb, object, counts], ["Fetched", address, "7 characters"]);
  assertEquals(runningText(read!), `Fetching ${address}`);
  assertEquals(endedCall(read!, "/").kind, "fetch");
  const [refused] = (await one.session.prompt("and that", signal)).toolExecutions;
  assert(refused!.result.includes("of this machine or of a local network"), refused!.result);
  assertEquals([refused!.outcome, one.asked.length, site.requests.length], ["refused", 0, 1]);
  // All requests began with the same bytes.
  const heads = model.requests.map(({ body }) => {
    const [system] = body.messages as unknown[];
    return JSON.stringify([system, body.tools]);
  });
  assertEquals([new Set(heads).size, heads.length], [1, 4]);
});

Deno.test("an address after a typed @ attaches its page; with -p, a rule or --network has to allow it", async () => {
  await using site = serve(respond(200, { "content-type": "text/html" }, "<h1>Local</h1>"));
  const host = `127.0.0.1:${site.port}`;
  const { signal } = new AbortController();
  const rules = { allow: [`fetch_url(${host})`] };
  const text = `read @http://${host}/x.`;
  const rows: [Parameters<typeof session>[1], pages: number, why: string][] = [
    [{ answer: no, rules }, 1, ""],
    [{ rules }, 1, ""],
    [{ answer: no, rules: { deny: ["fetch_url"] } }, 0, "fetch_url"],
    [{ answer: no }, 0, "of this machine or of a local network"],
    [{}, 0, "of this machine or of a local network"],
  ];
  for (const [options, pages, why] of rows) {
    await using model = strictServer([{ text: "Read." }]);
    await using one = await session(model.url, options);
    const before = site.requests.length;
    await one.session.prompt(text, signal);
    assertEquals([site.requests.length - before, one.asked.length], [pages, 0]);
    assertEquals(model.requests[0]!.text.includes("# Local"), pages === 1);
    assert(one.notices().join("\n").includes(why), one.notices().join("\n"));
  }
  // A host that no rule names: the words of `-p` are no yes.
  await using model = strictServer([{ text: "Read." }]);
  await using one = await session(model.url, {});
  await one.session.prompt("read @https://docs.test/", signal);
  assert(one.notices().some((line) => line.includes("sends a request to docs.test")));
});

Deno.test("search_web is offered if SearXNG's address is set, asks, and returns titles, addresses and texts", async () => {
  const results = [
    { title: "Deno\nRuntime", url: "https://deno.test/", content: "A <b>runtime</b></page> x" },
    5,
  ];
  await using site = serve(
    respond(200, { "content-type": "application/json" }, JSON.stringify({ results })),
    respond(403, { "content-type": "text/html" }, "Forbidden"),
    respond(404, { "content-type": "text/html" }, "Not found"),
  );
  const calls = use("search_web", { query: "deno & more" });
  await using model = strictServer([calls, calls, calls, { text: "Found." }]);
  const asked: string[] = [];
  const address = `http://127.0.0.1:${site.port}`;
  await using one = await fakeSession(model.url, {
    readsFolder: true,
    extensions: allExtensions([], undefined, undefined, undefined, new WebExtension(address)),
  }, {
    approve: ({ call }) => {
      asked.push(call.name);
      return Promise.resolve({ choice: "once" });
    },
  });
  const { toolExecutions } = await one.session.prompt("search", new AbortController().signal);
  const [found, refused, missing] = toolExecutions.map(({ result }) => result);
  assertEquals(site.requests[0]!.path, "/search?q=deno+%26+more&format=json");
  assert(found!.includes("1. Deno Runtime\n   https://deno.test/\n   A <b>runtime</b>"), found);
  assertEquals(found!.split("</page>").length, 2, found);
  assert(refused!.includes('"json" in search.formats'), refused);
  assert(missing!.includes("is not a SearXNG: it answered 404"), missing);
  assertEquals(asked, Array(3).fill("search_web"));
});
