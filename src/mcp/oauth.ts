/** Tokens for servers that are addresses: OAuth 2.1 with PKCE, in the person's own browser. @module */

import { isObject, jsonOrUndefined } from "../text/json.ts";
import { oneLine } from "../text/one_line.ts";
import { readJsonFile, replaceUserFile } from "../user_files.ts";
import { openResponse } from "../wire/http.ts";
import type { McpDefinition, OAuthSettings } from "./definition.ts";
import type { HttpAuth } from "./http.ts";
import { type Authority, challengeParam, findAuthority, smallBody } from "./oauth_discovery.ts";
import { waitForCode } from "./oauth_callback.ts";

/** The time of one request to an authorization server, in ms. */
const TOKEN_MS = 30_000;
/** A token that is valid for less is renewed, in ms. */
const RENEWED_MS = 30_000;

/** A client as it is known to an authorization server. */
interface OAuthClient {
  id: string;
  secret?: string;
  method: string;
}

/** A token, and what it takes to renew it. */
interface StoredToken {
  issuer: string;
  tokenUrl: string;
  resource?: string;
  client: OAuthClient;
  access: string;
  refresh?: string;
  /** When it ends, in ms since 1970. */
  expiresAt?: number;
  scope?: string;
}

/** Tokens by the address of their server, and the scopes that a server asked for meanwhile. */
interface StoredServer {
  token?: StoredToken;
  wantedScope?: string;
  challenge?: string;
}

/** The file of tokens, for the person alone to read; without a path, they are kept in memory. */
export class TokenStore {
  #kept: Record<string, StoredServer> = {};

  constructor(private readonly path: string | undefined) {}

  of(url: string): StoredServer {
    return this.#all[url] ?? {};
  }

  async set(url: string, stored: StoredServer | undefined): Promise<void> {
    const { [url]: _, ...others } = this.#all;
    this.#kept = stored === undefined ? others : { ...others, [url]: stored };
    if (this.path) await replaceUserFile(this.path, `${JSON.stringify(this.#kept)}\n`);
  }

  /** Read each time: another run may have signed in meanwhile, or have renewed a token. */
  get #all(): Record<string, StoredServer> {
    if (this.path === undefined) return this.#kept;
    return (readJsonFile(this.path, false) ?? {}) as Record<string, StoredServer>;
  }
}

/** Authorizes the requests to a server with the token of an earlier sign-in; never signs in itself. */
export class TokenAuth implements HttpAuth {
  constructor(protected readonly server: McpDefinition, protected readonly store: TokenStore) {}

  async header(): Promise<string | undefined> {
    const { token } = this.stored;
    if (token === undefined) return undefined;
    const isOver = token.expiresAt !== undefined && token.expiresAt - RENEWED_MS < Date.now();
    if (!isOver) return `Bearer ${token.access}`;
    if (token.refresh === undefined) return undefined;
    const renewed = await this.#renew(token).catch(() => undefined);
    return renewed && `Bearer ${renewed.access}`;
  }

  async refused(
    { status, challenge }: { status: number; challenge: string },
    _signal?: AbortSignal,
  ): Promise<boolean> {
    const { name } = this.server;
    const how = `copilot mcp login ${name} does that`;
    const wanted = challengeParam(challenge, "scope");
    const { token } = this.stored;
    await this.store.set(this.url, {
      ...token && { token },
      challenge,
      ...wanted !== undefined && { wantedScope: scopesOf(token?.scope, wanted) },
    });
    throw new Error(
      status === 403
        ? `it wants a sign-in with more rights (${
          oneLine(wanted ?? "it does not say which")
        }): ${how}`
        : `it wants you to sign in: ${how}`,
    );
  }

  get wanted(): { challenge: string; scope: string } | undefined {
    const { challenge, wantedScope = "" } = this.stored;
    return challenge === undefined ? undefined : { challenge, scope: wantedScope };
  }

  async signOut(): Promise<void> {
    await this.store.set(this.url, undefined);
  }

  protected get url(): string {
    return this.server.url!;
  }

  protected get stored(): StoredServer {
    return this.store.of(this.url);
  }

  async #renew(token: StoredToken): Promise<StoredToken> {
    const { refresh, resource, scope } = token;
    const fields = {
      grant_type: "refresh_token",
      refresh_token: refresh!,
      ...resource && { resource },
    };
    const renewed = await requestToken(token, fields);
    const next = { ...token, ...renewed, ...!renewed.scope && scope && { scope } };
    await this.store.set(this.url, { token: next });
    return next;
  }
}

/** Authorizes requests, and signs in where that is asked for. */
export class LoginAuth extends TokenAuth {
  #rounds = 0;
  hasSignedIn = false;

  constructor(
    server: McpDefinition,
    store: TokenStore,
    /** Shows a line to the person. */
    private readonly tell: (text: string) => void,
  ) {
    super(server, store);
  }

  override async refused(
    { status, challenge }: { status: number; challenge: string },
    signal?: AbortSignal,
  ): Promise<boolean> {
    if (++this.#rounds > 3) throw new Error(`it still refuses after ${this.#rounds - 1} sign-ins`);
    const { token, wantedScope } = this.stored;
    const wanted = challengeParam(challenge, "scope");
    const scope = status === 403
      ? scopesOf(token?.scope, wanted ?? "")
      : scopesOf(wantedScope, wanted ?? "");
    await this.signIn(challenge, scope, signal);
    return true;
  }

  /** Signs in, with the scopes that are asked for, else all that the server names. */
  async signIn(challenge: string, scope: string, signal?: AbortSignal): Promise<void> {
    const settings = this.server.oauth || {};
    const authority = await findAuthority(this.url, challenge, signal);
    this.#checkIssuer(authority, settings);
    const { verifier, challenge: code_challenge } = await makePkce();
    const state = randomText();
    await using callback = waitForCode(settings.callbackPort ?? 0, state, authority);
    const client = await clientFor(authority, settings, callback.address, signal);
    const scopes = wantedScopes(authority, settings, scope);
    const { resource } = authority;
    const url = new URL(authority.authorizeUrl);
    const fields = {
      response_type: "code",
      client_id: client.id,
      redirect_uri: callback.address,
      ...{ code_challenge, code_challenge_method: "S256", state },
      ...resource !== undefined && { resource },
      ...scopes !== "" && { scope: scopes },
    };
    for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
    this.tell(`Sign in to ${this.server.name} in the browser:\n${url.href}`);
    const { openBrowser } = await import("./browser.ts");
    openBrowser(url.href);
    const code = await callback.code(signal);
    const about = { tokenUrl: authority.tokenUrl, client };
    const token = await requestToken(about, {
      grant_type: "authorization_code",
      code,
      redirect_uri: callback.address,
      code_verifier: verifier,
      ...resource !== undefined && { resource },
    }, signal);
    await this.store.set(this.url, {
      token: {
        ...about,
        issuer: authority.issuer,
        ...resource !== undefined && { resource },
        ...scopes !== "" && { scope: scopes },
        ...token,
      },
    });
    this.hasSignedIn = true;
  }

  /** A server that was taken over could name another authority, and so get the secret of the client. */
  #checkIssuer({ issuer }: Authority, { clientSecret }: OAuthSettings): void {
    const before = this.stored.token?.issuer;
    if (clientSecret === undefined || before === undefined || before === issuer) return;
    throw new Error(
      `it names another authorization server than the last time (${
        oneLine(issuer)
      }, before ${before}), which does not get the client secret: if that is right, copilot mcp logout ${this.server.name} first`,
    );
  }
}

function wantedScopes(
  { scopes = [], knownScopes }: Authority,
  { scope }: OAuthSettings,
  asked: string,
): string {
  const wanted = asked || (scope ?? scopes.join(" "));
  const keeps = knownScopes.includes("offline_access") ? "offline_access" : "";
  return scopesOf(wanted, keeps);
}

/** The words of two lists of scopes, each once. */
function scopesOf(one: string | undefined, other: string): string {
  const words = `${one ?? ""} ${other}`.split(/\s+/).filter((word) => word !== "");
  return [...new Set(words)].join(" ");
}

/** A client that the authority knows: by settings, by a document of its own, else registered now. */
async function clientFor(
  authority: Authority,
  { clientId, clientSecret, clientMetadataUrl }: OAuthSettings,
  redirect: string,
  signal?: AbortSignal,
): Promise<OAuthClient> {
  const { authMethods, issuer, registerUrl, takesMetadataUrl } = authority;
  const withSecret = ["client_secret_basic", "client_secret_post"]
    .find((method) => authMethods.includes(method)) ?? "client_secret_basic";
  if (clientId !== undefined) {
    return clientSecret === undefined
      ? { id: clientId, method: "none" }
      : { id: clientId, secret: clientSecret, method: withSecret };
  }
  if (takesMetadataUrl && clientMetadataUrl !== undefined) {
    return { id: clientMetadataUrl, method: "none" };
  }
  if (registerUrl === undefined) {
    throw new Error(
      `${issuer} does not register clients by itself: get a client id from its operator, and put it into the definition: "oauth": {"clientId": "..."}`,
    );
  }
  const method = authMethods.includes("none") ? "none" : withSecret;
  const answer = await postForJson(registerUrl, {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "copilot",
      application_type: "native",
      redirect_uris: [redirect],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: method,
    }),
  }, signal);
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: given } = answer;
  if (typeof id !== "string") throw new Error(`${issuer} registered no client`);
  const chosen = typeof given === "string" ? given : method;
  return typeof secret === "string" && chosen !== "none"
    ? { id, secret, method: chosen }
    : { id, method: "none" };
}

/** Asks for a token, as the client that it is for. */
async function requestToken(
  { tokenUrl, client: { id, secret, method } }: Pick<StoredToken, "tokenUrl" | "client">,
  fields: Record<string, string>,
  signal?: AbortSignal,
): Promise<Pick<StoredToken, "access" | "refresh" | "expiresAt" | "scope">> {
  const form = new URLSearchParams(fields);
  const headers: Record<string, string> = { "content-type": "application/x-www-form-urlencoded" };
  if (method === "client_secret_basic" && secret !== undefined) {
    headers.authorization = `Basic ${
      btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)
    }`;
  } else {
    form.set("client_id", id);
    if (secret !== undefined) form.set("client_secret", secret);
  }
  const answer = await postForJson(tokenUrl, { headers, body: form.toString() }, signal);
  const { access_token: access, refresh_token: refresh, expires_in: seconds, scope } = answer;
  if (typeof access !== "string" || !/^[\x21-\x7e]+$/.test(access)) {
    throw new Error("no token came");
  }
  return {
    access,
    ...typeof refresh === "string" && { refresh },
    ...typeof seconds === "number" && { expiresAt: Date.now() + seconds * 1000 },
    ...typeof scope === "string" && { scope },
  };
}

async function postForJson(
  url: string,
  request: { headers: Record<string, string>; body: string },
  given?: AbortSignal,
): Promise<Record<string, unknown>> {
  const limit = AbortSignal.timeout(TOKEN_MS);
  const signal = given ? AbortSignal.any([given, limit]) : limit;
  const headers = { accept: "application/json", ...request.headers };
  const response = await openResponse(url, { method: "POST", ...request, headers, signal });
  const value = jsonOrUndefined(await smallBody(response));
  if (response.ok && isObject(value)) return value;
  const { error, error_description: words } = isObject(value) ? value : {};
  const why = [error, words].filter((one) => typeof one === "string").join(": ");
  throw new Error(
    `${new URL(url).host} answered ${response.status}${why && `: ${oneLine(why).slice(0, 200)}`}`,
  );
}

async function makePkce(): Promise<{ verifier: string; challenge: string }> {
  const verifier = randomText();
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return { verifier, challenge: base64Url(new Uint8Array(digest)) };
}

const randomText = (): string => base64Url(crypto.getRandomValues(new Uint8Array(32)));

const base64Url = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: "base64url", omitPadding: true });
