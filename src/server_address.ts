/** What the address of a model server says. @module */

/** True for an address with a user name or password in it, which is sent instead of a key. */
export function hasUserinfo(address: string): boolean {
  const { username, password } = new URL(address);
  return username !== "" || password !== "";
}

/** True for an address to which a key is sent that the person gave for no address: one in the environment. */
export function takesEnvKey(address: string): boolean {
  return new URL(address).protocol === "https:" && !hasUserinfo(address);
}

/** A base URL without the path of one endpoint behind it, as people paste it: `/v1/models`, `/api/chat`. */
export function withoutEndpoint(address: string): string {
  return address
    .replace(/\/api\/(?:chat|generate|tags|version)$/, "/v1")
    .replace(/\/chat\/completions$|(?<=\/v1)\/(?:models|messages|responses|completions)$/, "");
}
