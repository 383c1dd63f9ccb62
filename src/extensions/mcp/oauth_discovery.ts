/**
 * Discovers the authorization server: RFC 9728 (protected resource), RFC 8414 and OpenID (metadata of the
 * authorization server). Discovered addresses cannot lead where the MCP server itself could not be. @module
 */

import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { hostKind } from "../../wire/address.ts";
import { isLoopback } from "../../wire/connect.ts";
import { bodyText, openResponse } from "../../wire/http.ts";

const MAX_DOCUMENT = 256 * 1024;
const AUTHORITY_MS = 30_000;

export interface Authority {
  issuer: string;
  /** The resource that tokens are requested for; undefined if the server does not name it. */
  resource: string | undefined;
  authorizeUrl: string;
  tokenUrl: string;
  registerUrl: string | undefined;
  authMethods: readonly string[];
  scopes: readonly string[] | undefined;
  knownScopes: readonly string[];
  takesMetadataUrl: boolean;
  namesIssuer: boolean;
}

export function challengeParam(challenge: string, name: string): string | undefined {
  const value = String.raw`\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))`;
  const found = new RegExp(`(?:^|[\\s,])${name}${value}`, "i").exec(challenge);
  return found?.[1]?.replace(/\\(.)/g, "$1") ?? found?.[2];
}

/** @throws {Error} with the end of a sentence about the server. */
export async function findAuthority(
  serverUrl: string,
  challenge: string,
  signal?: AbortSignal,
): Promise<Authority> {
  const protectedResource = await findResource(serverUrl, challenge, signal);
  if (protectedResource === undefined) return await olderAuthority(serverUrl, signal);
  const { resource, authorization_servers: servers, scopes_supported: scopes } = protectedResource;
  checkResource(resource, serverUrl);
  const [issuer] = textList(servers) ?? [];
  if (issuer === undefined) throw new Error("it names no authorization server");
  const metadata = await findMetadata(issuer, serverUrl, signal);
  if (metadata === undefined) throw new Error(`${issuer} does not say how it gives tokens`);
  return authorityOf(metadata, issuer, resource as string, textList(scopes), serverUrl);
}

async function findResource(
  serverUrl: string,
  challenge: string,
  signal?: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const named = challengeParam(challenge, "resource_metadata");
  const { origin, pathname, search } = new URL(serverUrl);
  const wellKnown = "/.well-known/oauth-protected-resource";
  const path = pathname.replace(/\/$/, "");
  const places = named === undefined
    ? [`${origin}${wellKnown}${path}${search}`, `${origin}${wellKnown}`]
    : [named];
  return await firstDocument(places, serverUrl, signal);
}

/** A token for another resource must not be sent to this server. */
function checkResource(resource: unknown, serverUrl: string): void {
  const wrong = new Error(
    `it says that its tokens are for ${String(resource).slice(0, 200)}, which is another address`,
  );
  if (typeof resource !== "string" || !URL.canParse(resource)) throw wrong;
  const [named, server] = [new URL(resource), new URL(serverUrl)];
  const base = named.pathname.replace(/\/?$/, "/");
  if (named.origin !== server.origin || !`${server.pathname}/`.startsWith(base)) throw wrong;
}

async function findMetadata(
  issuer: string,
  serverUrl: string,
  signal?: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  if (!URL.canParse(issuer)) {
    throw new Error("it names an authorization server that is not an address");
  }
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const [oauth, openid] = ["oauth-authorization-server", "openid-configuration"]
    .map((name) => `/.well-known/${name}`);
  const places = [
    `${origin}${oauth}${path}`,
    `${origin}${openid}${path}`,
    ...path === "" ? [] : [`${origin}${path}${openid}`],
  ];
  const found = await firstDocument(places, serverUrl, signal);
  if (!found || found.issuer === issuer) return found;
  throw new Error(
    `the authorization server ${issuer} calls itself ${String(found.issuer).slice(0, 200)}`,
  );
}

function authorityOf(
  metadata: Record<string, unknown>,
  issuer: string,
  resource: string | undefined,
  scopes: readonly string[] | undefined,
  serverUrl: string,
): Authority {
  const methods = textList(metadata.code_challenge_methods_supported) ?? [];
  if (!methods.includes("S256")) {
    throw new Error(`${issuer} does not offer PKCE with S256, without which no sign-in is safe`);
  }
  const address = (name: string) =>
    metadata[name] === undefined ? undefined : checkedAddress(metadata[name], serverUrl);
  const [authorizeUrl, tokenUrl] = [address("authorization_endpoint"), address("token_endpoint")];
  if (authorizeUrl === undefined || tokenUrl === undefined) {
    throw new Error(`${issuer} does not say where tokens are asked for`);
  }
  return {
    issuer,
    resource,
    authorizeUrl,
    tokenUrl,
    scopes,
    registerUrl: address("registration_endpoint"),
    authMethods: textList(metadata.token_endpoint_auth_methods_supported) ??
      ["client_secret_basic"],
    knownScopes: textList(metadata.scopes_supported) ?? [],
    takesMetadataUrl: metadata.client_id_metadata_document_supported === true,
    namesIssuer: metadata.authorization_response_iss_parameter_supported === true,
  };
}

/** A server of revision 2025-03-26 is its own authority. */
async function olderAuthority(serverUrl: string, signal?: AbortSignal): Promise<Authority> {
  const { origin } = new URL(serverUrl);
  const place = `${origin}/.well-known/oauth-authorization-server`;
  const found = await firstDocument([place], serverUrl, signal);
  if (!found) throw new Error("it does not say where it gets its tokens from");
  const issuer = typeof found.issuer === "string" ? found.issuer : origin;
  if (new URL(issuer).origin !== origin) throw new Error(`it calls itself ${issuer}`);
  return authorityOf(found, issuer, undefined, textList(found.scopes_supported), serverUrl);
}

async function firstDocument(
  places: readonly string[],
  serverUrl: string,
  signal?: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  for (const place of new Set(places)) {
    const address = checkedAddress(place, serverUrl);
    const { ok, value } = await askForJson(address, { method: "GET" }, signal);
    if (ok && isObject(value)) return value;
  }
  return undefined;
}

/** Sends one request to an authorization server. `value` is undefined if the answer is not JSON. */
export async function askForJson(
  url: string,
  request: { method: "GET" | "POST"; headers?: Record<string, string>; body?: string },
  given?: AbortSignal,
): Promise<{ ok: boolean; status: number; value: unknown }> {
  const limit = AbortSignal.timeout(AUTHORITY_MS);
  const signal = given ? AbortSignal.any([given, limit]) : limit;
  const headers = { accept: "application/json", ...request.headers };
  const response = await openResponse(url, { ...request, headers, signal });
  const { ok, status } = response;
  return { ok, status, value: jsonOrUndefined(await bodyText(response, MAX_DOCUMENT)) };
}

const LOCAL_NAME = /(^|\.)(local|localhost|internal|lan|home\.arpa)\.?$/i;
const isPrivate = ({ hostname }: URL): boolean =>
  LOCAL_NAME.test(hostname) || !["public", "name"].includes(hostKind(hostname));

/** Checks an address that a server names: no private network for a public server, no secret over plain HTTP. */
export function checkedAddress(given: unknown, serverUrl: string): string {
  const url = typeof given === "string" ? URL.parse(given) : null;
  const wrong = (why: string) =>
    new Error(`it names the address ${String(given).slice(0, 200)}, which ${why}`);
  if (url === null || !/^https?:$/.test(url.protocol)) throw wrong("is not a web address");
  if (url.username !== "" || url.password !== "") throw wrong("contains a password");
  const server = new URL(serverUrl);
  const isOwn = url.hostname === server.hostname;
  if (url.protocol === "http:" && !isLoopback(url.href)) throw wrong("is not https");
  if (isPrivate(url) && !isPrivate(server) && !isOwn) throw wrong("is of a private network");
  return url.href;
}

const textList = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : undefined;
