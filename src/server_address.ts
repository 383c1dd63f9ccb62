/** Facts about the address of a model server. @module */

/** True for an address with a user name or password, which is sent instead of a key. */
export function hasUserinfo(address: string): boolean {
  const { username, password } = new URL(address);
  return username !== "" || password !== "";
}

/** True for an address that may receive a key without an address, such as one in the environment. */
export function takesEnvKey(address: string): boolean {
  return new URL(address).protocol === "https:" && !hasUserinfo(address);
}

/** Returns a base URL without the path of an endpoint, which users paste: `/v1/models`, `/api/chat`. */
export function withoutEndpoint(address: string): string {
  return address.replace(/\/api\/(?:chat|generate|tags|version)$/, "/v1")
    .replace(/\/chat\/completions$|(?<=\/v1)\/(?:models|messages|responses|completions)$/, "");
}

/** Returns the address of a server as lists of servers have it: by IPv4 on this machine, and without `/v1`. */
export const listedAddress = (url: string): string =>
  url.replace(/^http:\/\/localhost(?=[:/]|$)/, "http://127.0.0.1").replace(/\/v1$/, "");

/** Returns the address without user name, password and `/v1`, which settings may omit. */
export function serverAt(address: string): string {
  const url = new URL(address);
  url.username = url.password = "";
  return url.href.replace(/\/+$/, "").replace(/\/v1$/, "");
}
