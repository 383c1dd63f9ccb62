/** Tokens for servers at an address: OAuth 2.1 with PKCE, in the user's browser. @module */

import { openBrowser } from "./browser.ts";
import { isObject, objectOr } from "../../text/json.ts";
import { oneLine } from "../../text/one_line.ts";
import { readJsonFile, replaceUserFile } from "../../user_files.ts";
import type { McpDefinition, OAuthSettings } from "./definition.ts";
import { askForJson, type Authority, challengeParam, findAuthority } from "./oauth_discovery.ts";
import { waitForCode } from "./oauth_callback.ts";

/** A token is renewed if it expires sooner, in ms. */
const RENEWED_MS = 30_000;

interface OAuthClient {
  id: string;
  secret?: string;
  method: string;
}

interface StoredToken {
  issuer: string;
  tokenUrl: string;
  resource?: string;
  client: OAuthClient;
  access: string;
  refresh?: string;
  expiresAt?: number;
  scope?: string;
}

interface StoredServer {
  token?: StoredToken;
  challenge?: string;
}

/** The file of tokens, which only the user can read. Without a path, tokens stay in memory. */
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

  /** Read each time: another run may have signed in or renewed a token. */
  get #all(): Record<string, StoredServer> {
    if (this.path === undefined) return this.#kept;
    return (readJsonFile(this.path) ?? {}) as Record<string, StoredServer>;
  }
}

/** The members of a {@linkcode TokenAuth} that the connection uses. */
export type HttpAuth = Pick<TokenAuth, keyof TokenAuth>;

/** Authorizes the requests to a server with the token of a sign-in. */
export class TokenAuth {
  constructor(private readonly server: McpDefinition, private readonly store: TokenStore) {}

  async header(): Promise<string | undefined> {
    const { token } = this.#stored;
    if (token === undefined) return undefined;
    const isOver = token.expiresAt !== undefined && token.expiresAt - RENEWED_MS < Date.now();
    if (!isOver) return `Bearer ${token.access}`;
    if (token.refresh === undefined) return undefined;
    const renewed = await this.#renew(token, token.refresh).catch(() => undefined);
    return renewed && `Bearer ${renewed.access}`;
  }

  /** Saves the challenge of a refused request. @throws {Error} with what the user can do. */
  async refused(status: number, challenge: string): Promise<never> {
    await this.store.set(this.#url, { ...this.#stored, challenge });
    const rights = oneLine(challengeParam(challenge, "scope") ?? "it does not say which");
    const what = status === 403 ? `a sign-in with more rights (${rights})` : "you to sign in";
    throw new Error(`it wants ${what}: copilot mcp login ${this.server.name} does that`);
  }

  /** The challenge with which the server asked for more since the last sign-in. */
  get wanted(): string | undefined {
    return this.#stored.challenge;
  }

  async signOut(): Promise<void> {
    await this.store.set(this.#url, undefined);
  }

  get #url(): string {
    return this.server.url!;
  }

  get #stored(): StoredServer {
    return this.store.of(this.#url);
  }

  async #renew(token: StoredToken, refresh_token: string): Promise<StoredToken> {
    const { resource } = token;
    const fields = { grant_type: "refresh_token", refresh_token, ...resource && { resource } };
    const next = { ...token, ...await requestToken(token, fields) };
    await this.store.set(this.#url, { token: next });
    return next;
  }

  /** Signs in with the scopes of `wanted`, or with all scopes that the server names. `tell` shows a line. */
  async signIn(tell: (text: string) => void, signal: AbortSignal): Promise<void> {
    const challenge = this.wanted ?? "";
    const settings = this.server.oauth || {};
    const authority = await findAuthority(this.#url, challenge, signal);
    this.#checkIssuer(authority, settings);
    const [verifier, state] = [randomText(), randomText()];
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
    await using callback = waitForCode(settings.callbackPort ?? 0, state, authority);
    const client = await clientFor(authority, settings, callback.address, signal);
    const scope = this.#scopes(challenge, authority, settings);
    const about = { ...authority.resource !== undefined && { resource: authority.resource } };
    const url = new URL(authority.authorizeUrl);
    const fields = {
      response_type: "code",
      client_id: client.id,
      redirect_uri: callback.address,
      code_challenge: base64Url(new Uint8Array(digest)),
      code_challenge_method: "S256",
      state,
      ...about,
      ...scope !== "" && { scope },
    };
    for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
    tell(`Sign in to ${this.server.name} in the browser:\n${url.href}`);
    openBrowser(url.href);
    const { issuer, tokenUrl } = authority;
    const token = await requestToken({ tokenUrl, client }, {
      grant_type: "authorization_code",
      code: await callback.code(signal),
      redirect_uri: callback.address,
      code_verifier: verifier,
      ...about,
    }, signal);
    await this.store.set(this.#url, {
      token: { issuer, tokenUrl, client, ...about, ...scope !== "" && { scope }, ...token },
    });
  }

  /** A request for more scopes keeps the scopes of the current token. */
  #scopes(
    challenge: string,
    { scopes = [], knownScopes }: Authority,
    settings: OAuthSettings,
  ): string {
    const asked = challengeParam(challenge, "scope");
    const words = [
      asked && this.#stored.token?.scope,
      asked ?? settings.scope ?? scopes.join(" "),
      knownScopes.includes("offline_access") && "offline_access",
    ].filter(Boolean).join(" ").split(/\s+/);
    return [...new Set(words)].join(" ").trim();
  }

  /** A compromised server could name another authority, and get the client's secret. */
  #checkIssuer({ issuer }: Authority, { clientSecret }: OAuthSettings): void {
    const before = this.#stored.token?.issuer;
    if (clientSecret === undefined || before === undefined || before === issuer) return;
    throw new Error(
      `it names another authorization server than the last time (${
        oneLine(issuer)
      }, before ${before}), which does not get the client secret: if that is right, copilot mcp logout ${this.server.name} first`,
    );
  }
}

/** Returns a client of the authority: from settings, from a client metadata document, or registered now. */
async function clientFor(
  authority: Authority,
  { clientId, clientSecret, clientMetadataUrl }: OAuthSettings,
  redirect: string,
  signal?: AbortSignal,
): Promise<OAuthClient> {
  const { authMethods, issuer, registerUrl, takesMetadataUrl } = authority;
  const withSecret = ["client_secret_basic", "client_secret_post"]
    .find((method) => authMethods.includes(method)) ?? "client_secret_basic";
  if (clientId !== undefined) return clientOf(clientId, clientSecret, withSecret);
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
  return clientOf(id, secret, typeof given === "string" ? given : method);
}

const clientOf = (id: string, secret: unknown, method: string): OAuthClient =>
  typeof secret === "string" && method !== "none" ? { id, secret, method } : { id, method: "none" };

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
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  const { ok, status, value } = await askForJson(url, { method: "POST", ...request }, signal);
  if (ok && isObject(value)) return value;
  const { error, error_description: words } = objectOr(value);
  const why = [error, words].filter((one) => typeof one === "string").join(": ");
  throw new Error(
    `${new URL(url).host} answered ${status}${why && `: ${oneLine(why).slice(0, 200)}`}`,
  );
}

const randomText = (): string => base64Url(crypto.getRandomValues(new Uint8Array(32)));

const base64Url = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: "base64url", omitPadding: true });
