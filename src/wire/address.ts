/** Which addresses are of the public internet, and the addresses of a name. @module */

/**
 * `private` is this machine and networks behind a router (RFC 1918, 4193, 6598); `reserved` all else that no
 * public server has: link-local with the metadata of clouds, multicast, tunnels, examples.
 */
type AddressKind = "public" | "private" | "reserved";

/** Blocks of IPv4 (IANA's registry of special purposes) that are not public; the first that matches counts. */
const IPV4: readonly [block: string, kind: AddressKind][] = [
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "private"], // CGNAT, VPNs
  ["127.0.0.0/8", "private"],
  ["172.16.0.0/12", "private"],
  ["192.168.0.0/16", "private"],
  ["0.0.0.0/8", "reserved"],
  ["168.63.129.16/32", "reserved"], // a cloud's service for its own machines (Azure)
  ["169.254.0.0/16", "reserved"],
  ["192.0.0.0/24", "reserved"],
  ["192.0.2.0/24", "reserved"],
  ["192.88.99.0/24", "reserved"],
  ["198.18.0.0/15", "reserved"],
  ["198.51.100.0/24", "reserved"],
  ["203.0.113.0/24", "reserved"],
  ["224.0.0.0/3", "reserved"],
];

/** Blocks of IPv6; `embedded` has an IPv4 address in its last 32 bits, which decides. */
const IPV6: readonly [block: string, kind: AddressKind | "embedded"][] = [
  ["::1/128", "private"],
  ["fc00::/7", "private"],
  ["::ffff:0:0/96", "embedded"],
  ["64:ff9b::/96", "embedded"], // NAT64
  ["2001::/23", "reserved"], // Teredo and others
  ["2001:db8::/32", "reserved"],
  ["2002::/16", "reserved"], // 6to4
  ["3fff::/20", "reserved"],
  ["2000::/3", "public"],
];

/** The kind of an address in any notation that URLs have; what is none is reserved. */
export function addressKind(address: string): AddressKind {
  const bits = bitsOf(address);
  if (bits === undefined) return "reserved";
  if (bits.length === 32) return kindOfIpv4(bits);
  const [, kind = "reserved"] = IPV6.find(([block]) => isInBlock(bits, block)) ?? [];
  return kind === "embedded" ? kindOfIpv4(bits.slice(-32)) : kind;
}

/** The kind of the host of a URL; `name` where name servers tell it. */
export function hostKind(hostname: string): AddressKind | "name" {
  if (/(^|\.)localhost$/.test(hostname)) return "private";
  const address = bareHost(hostname);
  return bitsOf(address) === undefined ? "name" : addressKind(address);
}

/** The host of a URL without the brackets of IPv6. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");

function kindOfIpv4(bits: string): AddressKind {
  return IPV4.find(([block]) => isInBlock(bits, block))?.[1] ?? "public";
}

function isInBlock(bits: string, block: string): boolean {
  const [start, length] = block.split("/");
  return bits.startsWith(bitsOf(start!)!.slice(0, Number(length)));
}

/** The 32 or 128 bits of an address as zeros and ones. */
function bitsOf(address: string): string | undefined {
  if (!/^[\da-fx.:]+$/i.test(address)) return undefined;
  const isIpv6 = address.includes(":");
  const host = URL.parse(`http://${isIpv6 ? `[${address}]` : address}/`)?.hostname;
  if (host === undefined) return undefined;
  if (!isIpv6) {
    if (!/^\d+(\.\d+){3}$/.test(host)) return undefined;
    return host.split(".").map((part) => Number(part).toString(2).padStart(8, "0")).join("");
  }
  // The URL has it in groups of hex digits, the longest run of zeros as `::`.
  const [head, tail] = host.slice(1, -1).split("::").map((part) => part.split(":"));
  const [first, last] = [head!, tail ?? []].map((part) => part.filter((group) => group !== ""));
  const zeros = new Array(8 - first!.length - last!.length).fill("0");
  return [...first!, ...zeros, ...last!]
    .map((group) => parseInt(group, 16).toString(2).padStart(16, "0")).join("");
}

/** A host has an address that is not public. */
export class NotPublicError extends Error {
  override readonly name = "NotPublicError";
}

/** Looks up the addresses of a name. @throws {Error} where there are none of that type, or no answer. */
export type Resolve = (
  name: string,
  type: "A" | "AAAA",
  signal: AbortSignal,
) => Promise<string[]>;

/** Asks the name servers alone: what the hosts file of this machine says is not public. */
export const resolveName: Resolve = (name, type, signal) => Deno.resolveDns(name, type, { signal });

/**
 * The public addresses of a host, IPv4 first, as more networks have that.
 *
 * @throws {NotPublicError} where one is not public. @throws {Error} where there are none.
 */
export async function publicAddresses(
  hostname: string,
  signal: AbortSignal,
  resolve: Resolve,
): Promise<string[]> {
  const found = await Promise.allSettled([
    resolve(hostname, "A", signal),
    resolve(hostname, "AAAA", signal),
  ]);
  signal.throwIfAborted();
  const addresses = found.flatMap((one) => one.status === "fulfilled" ? one.value : []);
  // A name with one address of each kind would lead elsewhere at the next attempt.
  if (addresses.some((address) => addressKind(address) !== "public")) {
    throw new NotPublicError(`${hostname} ${NOT_PUBLIC}`);
  }
  if (addresses.length > 0) return addresses;
  const errors = found.map((one) => one.status === "rejected" ? one.reason : undefined);
  const isUnknown = errors.every((error) => error instanceof Deno.errors.NotFound);
  const why = isUnknown
    ? "there is no host of that name"
    : "its name cannot be looked up at the moment";
  throw new Error(`Cannot reach ${hostname}: ${why}`);
}

/** Why a request to an address that is not public is refused. */
export const NOT_PUBLIC = "is at an address of this machine or of a local network";
