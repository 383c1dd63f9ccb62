/** Sign-ins against an authorization server on loopback; the test itself is the person's browser. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { definitionsIn, type OAuthSettings } from "../../../src/extensions/mcp/definition.ts";
import { TokenAuth, TokenStore } from "../../../src/extensions/mcp/oauth.ts";
import { waitForCode } from "../../../src/extensions/mcp/oauth_callback.ts";
import { findAuthority } from "../../../src/extensions/mcp/oauth_discovery.ts";

const { signal } = new AbortController();
Deno.env.set("BROWSER", "no-such-browser-anywhere");

type Answer = unknown | ((form: URLSearchParams) => Response);

interface Authority extends AsyncDisposable {
  base: string;
  documents: Record<string, Answer>;
  /** The bodies of the requests to `/register`, and those to `/token` with their authorization. */
  registered: Record<string, unknown>[];
  asked: (Record<string, string> & { authorization?: string })[];
  paths: string[];
}

/** A server with a protected resource at `/mcp`, which is its own authority; `more` goes over its metadata. */
function authority(more: Record<string, unknown> = {}, resource: object = {}): Authority {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    it.paths.push(pathname + search);
    const body = await request.text();
    if (pathname === "/register") it.registered.push(JSON.parse(body));
    const form = new URLSearchParams(body);
    if (pathname === "/token") {
      const authorization = request.headers.get("authorization");
      it.asked.push({ ...Object.fromEntries(form), ...authorization && { authorization } });
    }
    const found = it.documents[pathname];
    if (typeof found === "function") return found(form);
    return found === undefined
      ? new Response("no", { status: 404 })
      : Response.json(found, { status: pathname === "/broken" ? 500 : 200 });
  });
  const base = `http://127.0.0.1:${server.addr.port}`;
  const it: Authority = {
    base,
    documents: {
      "/.well-known/oauth-protected-resource/mcp": {
        resource: `${base}/mcp`,
        authorization_servers: [base],
        ...resource,
      },
      "/.well-known/oauth-authorization-server": {
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        registration_endpoint: `${base}/register`,
        code_challenge_methods_supported: ["S256"],
        ...more,
      },
      "/token": { access_token: "the-token" },
      "/register": { client_id: "registered" },
    },
    registered: [],
    asked: [],
    paths: [],
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return it;
}

interface SignIn {
  /** The parameters of the page that the person was sent to, and the text of the page after it. */
  page: URLSearchParams;
  text: string;
  store: TokenStore;
  url: string;
  auth: TokenAuth;
}

/** Signs in as a person would: the browser comes back with a code, and with what `back` adds. */
async function signIn(
  { base }: Authority,
  oauth: OAuthSettings = {},
  { challenge = "", back = {} }: { challenge?: string; back?: Record<string, string> } = {},
): Promise<SignIn> {
  const url = `${base}/mcp`;
  const [web] = definitionsIn({ mcpServers: { web: { url, oauth } } }, { scope: "user" });
  const store = new TokenStore(undefined);
  const told = Promise.withResolvers<string>();
  const auth = new TokenAuth(web!, store);
  if (challenge) await store.set(url, { challenge });
  const signingIn = auth.signIn(told.resolve, signal);
  signingIn.catch(told.reject);
  const page = new URL((await told.promise).split("\n")[1]!).searchParams;
  const text = await comeBack(page, back);
  await signingIn;
  return { page, text, store, url, auth };
}

/** The browser comes back with a code; the text of the page that it gets. */
async function comeBack(page: URLSearchParams, back: Record<string, string> = {}): Promise<string> {
  const answer = new URL(page.get("redirect_uri")!);
  const given = { state: page.get("state")!, code: "the-code", ...back };
  for (const [name, value] of Object.entries(given)) answer.searchParams.set(name, value);
  return await (await fetch(answer)).text();
}

Deno.test("mcp: a sign-in proves who asks for the token, and keeps the token", async () => {
  await using server = authority();
  server.documents["/token"] = {
    ...{ access_token: "the-token", refresh_token: "again", expires_in: 3600, scope: "a" },
  };
  const before = Date.now();
  const { page, text, store, url, auth } = await signIn(server);
  assert(text.includes("You are signed in"));
  const [asked] = server.asked;
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(asked!.code_verifier),
  );
  const challenge = new Uint8Array(digest).toBase64({ alphabet: "base64url", omitPadding: true });
  const redirect = page.get("redirect_uri");
  assertEquals(asked!.code_verifier!.length, 43);
  assertEquals(asked, {
    ...{ grant_type: "authorization_code", code: "the-code", client_id: "registered" },
    ...{ redirect_uri: redirect!, code_verifier: asked!.code_verifier!, resource: url },
  });
  assertEquals(Object.fromEntries(page), {
    ...{ response_type: "code", client_id: "registered", redirect_uri: redirect! },
    ...{ code_challenge: challenge, code_challenge_method: "S256", state: page.get("state")! },
    resource: url,
  });
  const { expiresAt, ...token } = store.of(url).token!;
  assert(expiresAt! >= before + 3_600_000 && expiresAt! <= Date.now() + 3_600_000);
  assertEquals(token, {
    ...{ issuer: server.base, tokenUrl: `${server.base}/token`, resource: url },
    ...{ client: { id: "registered", method: "none" }, scope: "a" },
    ...{ access: "the-token", refresh: "again" },
  });
  assertEquals(await auth.header(), "Bearer the-token");
  await auth.signOut();
  assertEquals(await auth.header(), undefined);
});

Deno.test("mcp: scopes are those asked for, else those of the settings, else those of the server", async () => {
  const rows: [known: string[], settings: OAuthSettings, asked: string, scope: string | null][] = [
    [[], {}, "a b", "a b"],
    [[], { scope: "c" }, "", "c"],
    [[], { scope: "c" }, "a", "a"],
    [[], {}, "", "x y"],
    [["offline_access"], {}, "a offline_access", "a offline_access"],
    [["other", "offline_access"], {}, "a", "a offline_access"],
    [["other"], {}, "a", "a"],
  ];
  for (const [known, settings, scope, expected] of rows) {
    await using server = authority({ scopes_supported: known }, { scopes_supported: ["x", "y"] });
    const challenge = scope && `Bearer scope="${scope}"`;
    const { page, store, url } = await signIn(server, settings, { challenge });
    assertEquals([page.get("scope"), store.of(url).token?.scope], [expected, expected!]);
  }
});

Deno.test("mcp: a client is the one of the settings, its document, or one that is registered", async () => {
  const document = "https://client.example/copilot.json";
  const basic = `Basic ${btoa("c:s%20")}`;
  type Row = [
    metadata: Record<string, unknown>,
    settings: OAuthSettings,
    answer: Record<string, unknown>,
    sent: { id?: string; secret?: string; authorization?: string; registers?: string },
  ];
  const secret = { clientId: "c", clientSecret: "s " };
  const methods = (...names: string[]) => ({ token_endpoint_auth_methods_supported: names });
  const rows: Row[] = [
    [{}, { clientId: "c" }, {}, { id: "c" }],
    [{}, secret, {}, { authorization: basic }],
    [methods("client_secret_post"), secret, {}, { id: "c", secret: "s " }],
    [methods("client_secret_post", "client_secret_basic"), secret, {}, { authorization: basic }],
    [{ client_id_metadata_document_supported: true }, { clientMetadataUrl: document }, {}, {
      id: document,
    }],
    [{}, { clientMetadataUrl: document }, { client_id: "r" }, {
      id: "r",
      registers: "client_secret_basic",
    }],
    [{ client_id_metadata_document_supported: true }, {}, { client_id: "r" }, {
      id: "r",
      registers: "client_secret_basic",
    }],
    [methods("none"), {}, { client_id: "r" }, { id: "r", registers: "none" }],
    [methods("client_secret_post"), {}, { client_id: "r", client_secret: "s" }, {
      ...{ id: "r", secret: "s", registers: "client_secret_post" },
    }],
    [methods("none"), {}, { client_id: "r", client_secret: "s" }, { id: "r", registers: "none" }],
    [
      methods("client_secret_basic"),
      {},
      { client_id: "r", client_secret: "s", token_endpoint_auth_method: "client_secret_post" },
      { id: "r", secret: "s", registers: "client_secret_basic" },
    ],
  ];
  for (const [metadata, settings, answer, sent] of rows) {
    await using server = authority(metadata);
    server.documents["/register"] = answer;
    await signIn(server, settings);
    const { client_id, client_secret, authorization } = server.asked[0]!;
    const [registration] = server.registered;
    const { id, secret, authorization: header, registers } = sent;
    assertEquals(
      [client_id, client_secret, authorization, registration?.token_endpoint_auth_method],
      [id, secret, header, registers],
    );
  }
});

Deno.test("mcp: a sign-in that cannot be finished says why", async () => {
  const rows: [change: (server: Authority) => void, back: Record<string, string>, why: string][] = [
    [() => {}, { error: "access_denied\n\x1b" }, "the sign-in was refused: access_denied  "],
    [
      ({ documents }) =>
        Object.assign(documents["/.well-known/oauth-authorization-server"] as object, {
          authorization_response_iss_parameter_supported: true,
        }),
      {},
      "not from the authorization server",
    ],
    [({ documents }) => documents["/token"] = {}, {}, "no token came"],
    [({ documents }) => documents["/token"] = { access_token: "a b" }, {}, "no token came"],
    [({ documents }) => documents["/register"] = {}, {}, "registered no client"],
    [
      ({ documents }) =>
        Object.assign(documents["/.well-known/oauth-authorization-server"] as object, {
          registration_endpoint: undefined,
        }),
      {},
      "does not register clients by itself: get a client id",
    ],
    [
      ({ documents }) =>
        documents["/token"] = () =>
          Response.json({ error: "bad", error_description: "w".repeat(300) }, { status: 400 }),
      {},
      `answered 400: bad: ${"w".repeat(195)}`,
    ],
  ];
  for (const [change, back, why] of rows) {
    await using server = authority();
    change(server);
    const { message } = await assertRejects(() => signIn(server, {}, { back }), Error);
    assert(message.includes(why), message);
    assert(!message.includes("w".repeat(196)));
  }
});

Deno.test("mcp: only the sign-in that waits is answered, with the issuer where it is promised", async () => {
  const of = { issuer: "https://a.example", namesIssuer: true };
  const get = async (address: string) => {
    const response = await fetch(address);
    return [response.status, await response.text()];
  };
  const rows: [query: string, isGood: boolean][] = [
    ["code=1&iss=https://a.example", true],
    ["code=1", false],
    ["code=1&iss=https://b.example", false],
    ["iss=https://a.example", false],
  ];
  for (const [query, isGood] of rows) {
    await using callback = waitForCode(0, "mine", of);
    const { address } = callback;
    assertEquals((await get(address.replace("/callback", "/")))[0], 404);
    assertEquals((await get(`${address}?state=other&${query}`))[0], 400);
    const [status, text] = await get(`${address}?state=mine&${query}`);
    assertEquals(status, isGood ? 200 : 400);
    assert(`${text}`.includes(isGood ? "You are signed in" : "The sign-in failed"));
    const code = await callback.code(signal).catch((error: Error) => error.message);
    assertEquals(code === "1", isGood, `${query}: ${code}`);
  }
  await using callback = waitForCode(0, "mine", of);
  const stopped = AbortSignal.abort(new Error("stopped"));
  await assertRejects(() => callback.code(stopped), Error, "stopped");
});

Deno.test("mcp: the secret of a client goes to no other authority than the last time", async () => {
  await using server = authority();
  const url = `${server.base}/mcp`;
  const oauth = { clientId: "c", clientSecret: "s" };
  const { auth, store } = await kept({ ...tokenOf("https://auth.example", 99) }, url, oauth);
  await assertRejects(
    () => auth.signIn(() => {}, signal),
    Error,
    "it names another authorization server than the last time",
  );
  assertEquals(store.of(url).token?.access, "old");
});

/** The token of a server, which ends `seconds` from now. */
const tokenOf = (base: string, seconds: number) => ({
  ...{ issuer: base, tokenUrl: `${base}/token`, client: { id: "c", method: "none" } },
  ...{ access: "old", expiresAt: Date.now() + seconds * 1000, scope: "a" },
});

async function kept(token: object, url = "http://127.0.0.1:1/mcp", oauth: OAuthSettings = {}) {
  const [web] = definitionsIn({ mcpServers: { web: { url, oauth } } }, { scope: "user" });
  const store = new TokenStore(undefined);
  await store.set(url, { token: token as ReturnType<typeof tokenOf> });
  return { store, url, auth: new TokenAuth(web!, store), web: web! };
}

Deno.test("mcp: a token that ends soon is renewed, and what the answer leaves out stays", async () => {
  await using server = authority();
  server.documents["/token"] = { access_token: "new", expires_in: 60 };
  const url = `${server.base}/mcp`;
  const soon = { ...tokenOf(server.base, 20), refresh: "again", resource: url };
  const { auth, store } = await kept(soon, url);
  assertEquals(await auth.header(), "Bearer new");
  assertEquals(server.asked, [{
    ...{ grant_type: "refresh_token", refresh_token: "again", resource: url, client_id: "c" },
  }]);
  const { expiresAt, ...token } = store.of(url).token!;
  assert(expiresAt! > soon.expiresAt);
  const { expiresAt: _, ...same } = soon;
  assertEquals(token, { ...same, access: "new" });
  server.documents["/token"] = { access_token: "newer", scope: "b" };
  const other = await kept(soon, url);
  assertEquals(await other.auth.header(), "Bearer newer");
  assertEquals(other.store.of(url).token?.scope, "b");
  // One that is valid for longer, or for ever, is sent as it is.
  const { expiresAt: __, ...endless } = soon;
  for (const token of [{ ...soon, expiresAt: Date.now() + 45_000 }, endless]) {
    assertEquals(await (await kept(token, url)).auth.header(), "Bearer old");
  }
  server.documents["/token"] = () => Response.json({}, { status: 400 });
  assertEquals(await (await kept(soon, url)).auth.header(), undefined);
  assertEquals(server.asked.length, 3);
  assertEquals(await (await kept(tokenOf(server.base, 20), url)).auth.header(), undefined);
  assertEquals(server.asked.length, 3);
});

Deno.test("mcp: a refusal is remembered for the sign-in, with the scopes that are wanted", async () => {
  const { auth, store, url } = await kept(tokenOf("i", 99));
  assertEquals(auth.wanted, undefined);
  const more = 'Bearer error="insufficient_scope", scope="b a"';
  await assertRejects(
    () => auth.refused(403, more),
    Error,
    "more rights (b a): copilot mcp login web does that",
  );
  assertEquals(auth.wanted, more);
  await assertRejects(
    () => auth.refused(401, ""),
    Error,
    "it wants you to sign in: copilot mcp login web does that",
  );
  assertEquals(store.of(url).token?.access, "old");
  await assertRejects(
    () => auth.refused(403, "Bearer"),
    Error,
    "more rights (it does not say which)",
  );
  assertEquals(auth.wanted, "Bearer");
});

Deno.test("mcp: documents are looked for where the standards put them, in their order", async () => {
  const own = "/.well-known/oauth-protected-resource";
  const oauth = "/.well-known/oauth-authorization-server";
  const openid = "/.well-known/openid-configuration";
  const metadata = (server: Authority, issuer = server.base) => ({
    ...server.documents[oauth] as object,
    issuer,
  });
  type Row = [path: string, change: (server: Authority) => void, challenge: string, seen: string[]];
  const rows: Row[] = [
    ["/mcp", () => {}, "", [`${own}/mcp`, oauth]],
    [
      "/mcp/?q=1",
      ({ documents, base }) => {
        documents[own] = { resource: base, authorization_servers: [base] };
        delete documents[`${own}/mcp`];
      },
      "",
      [`${own}/mcp?q=1`, own, oauth],
    ],
    [
      "/",
      ({ documents, base }) => {
        documents[own] = { resource: `${base}/`, authorization_servers: [base] };
      },
      "",
      [own, oauth],
    ],
    [
      "/mcp",
      (it) => {
        it.documents["/named"] = it.documents[`${own}/mcp`];
      },
      'Bearer resource_metadata="BASE/named"',
      ["/named", oauth],
    ],
    [
      "/mcp",
      (it) => {
        const issuer = `${it.base}/tenant/`;
        it.documents[`${own}/mcp`] = { resource: it.base, authorization_servers: [issuer] };
        it.documents[`/tenant${openid}`] = metadata(it, issuer);
      },
      "",
      [`${own}/mcp`, `${oauth}/tenant`, `${openid}/tenant`, `/tenant${openid}`],
    ],
  ];
  for (const [path, change, challenge, seen] of rows) {
    await using server = authority();
    change(server);
    const found = await findAuthority(
      server.base + path,
      challenge.replace("BASE", server.base),
      signal,
    );
    assertEquals(server.paths, seen);
    assertEquals(found.tokenUrl, `${server.base}/token`);
  }
});

Deno.test("mcp: what does not fit together is not signed in to", async () => {
  const rows: [metadata: object, resource: object, why: string][] = [
    [{}, { resource: "https://other.example/mcp" }, "which is another address"],
    [{}, { resource: "mcp" }, "which is another address"],
    [{}, { resource: undefined }, "which is another address"],
    [{}, { authorization_servers: [] }, "it names no authorization server"],
    [{}, { authorization_servers: ["nowhere"] }, "that is not an address"],
    [{ issuer: "https://other.example" }, {}, "calls itself https://other.example"],
    [{ code_challenge_methods_supported: ["plain"] }, {}, "does not offer PKCE"],
    [{ code_challenge_methods_supported: undefined }, {}, "does not offer PKCE"],
    [{ authorization_endpoint: undefined }, {}, "where tokens are asked for"],
    [{ token_endpoint: undefined }, {}, "where tokens are asked for"],
    [{ token_endpoint: 1 }, {}, "is not a web address"],
    [{ authorization_endpoint: "http://other.example" }, {}, "is not https"],
  ];
  for (const [metadata, resource, why] of rows) {
    await using server = authority({ ...metadata }, resource);
    await assertRejects(() => findAuthority(`${server.base}/mcp`, "", signal), Error, why);
  }
  await using server = authority();
  const own = "/.well-known/oauth-protected-resource/mcp";
  server.documents[own] = { resource: `${server.base}/mc`, authorization_servers: [server.base] };
  await assertRejects(() => findAuthority(`${server.base}/mcp`, "", signal), Error, "another");
  server.documents[own] = { resource: server.base, authorization_servers: [server.base] };
  delete server.documents["/.well-known/oauth-authorization-server"];
  await assertRejects(
    () => findAuthority(`${server.base}/mcp`, "", signal),
    Error,
    "does not say how it gives tokens",
  );
});
