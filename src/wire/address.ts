/** Tells public internet addresses from others, and looks up the addresses of a name. @module */

/**
 * `private`: this machine and networks behind a router (RFC 1918, 4193, 6598). `reserved`: any other address that
 * no public server has, such as link-local, cloud metadata, multicast and tunnels.
 */
type AddressKind = "public" | "private" | "reserved";

/** IPv4 blocks that are not public (IANA special-purpose registry). The first match applies. */
const IPV4: readonly [block: string, kind: AddressKind][] = [
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "private"], // CGNAT, VPNs
  ["127.0.0.0/8", "private"],
  ["172.16.0.0/12", "private"],
  ["192.168.0.0/16", "private"],
  ["0.0.0.0/8", "reserved"],
  ["168.63.129.16/32", "reserved"], // Azure's service for its own machines
  ["169.254.0.0/16", "reserved"],
  ["192.0.0.0/24", "reserved"],
  ["192.0.2.0/24", "reserved"],
  ["192.88.99.0/24", "reserved"],
  ["198.18.0.0/15", "reserved"],
  ["198.51.100.0/24", "reserved"],
  ["203.0.113.0/24", "reserved"],
  ["224.0.0.0/3", "reserved"],
];

/** IPv6 blocks. In `embedded` ones, the IPv4 address in the last 32 bits decides. */
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

/** Returns the kind of an address in any notation that URLs allow; `reserved` if it is not an address. */
export function addressKind(address: string): AddressKind {
  const bits = bitsOf(address);
  if (bits === undefined) return "reserved";
  if (bits.length === 32) return kindOfIpv4(bits);
  const [, kind = "reserved"] = IPV6.find(([block]) => isInBlock(bits, block)) ?? [];
  return kind === "embedded" ? kindOfIpv4(bits.slice(-32)) : kind;
}

/** Returns the kind of a URL's host; `name` if it must be looked up. */
export function hostKind(hostname: string): AddressKind | "name" {
  if (/(^|\.)localhost$/.test(hostname)) return "private";
  const address = bareHost(hostname);
  return bitsOf(address) === undefined ? "name" : addressKind(address);
}

/** Returns the host of a URL, without the brackets of IPv6. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");

function kindOfIpv4(bits: string): AddressKind {
  return IPV4.find(([block]) => isInBlock(bits, block))?.[1] ?? "public";
}

function isInBlock(bits: string, block: string): boolean {
  const [start, length] = block.split("/");
  return bits.startsWith(bitsOf(start!)!.slice(0, Number(length)));
}

function bitsOf(address: string): string | undefined {
  if (!/^[\da-fx.:]+$/i.test(address)) return undefined;
  const isIpv6 = address.includes(":");
  const host = URL.parse(`http://${isIpv6 ? `[${address}]` : address}/`)?.hostname;
  if (host === undefined) return undefined;
  if (!isIpv6) {
    if (!/^\d+(\.\d+){3}$/.test(host)) return undefined;
    return host.split(".").map((part) => Number(part).toString(2).padStart(8, "0")).join("");
  }
  // The URL writes it as groups of hex digits, with the longest run of zeros as `::`.
  const [head, tail] = host.slice(1, -1).split("::").map((part) => part.split(":"));
  const [first, last] = [head!, tail ?? []].map((part) => part.filter((group) => group !== ""));
  const zeros = new Array(8 - first!.length - last!.length).fill("0");
  return [...first!, ...zeros, ...last!]
    .map((group) => parseInt(group, 16).toString(2).padStart(16, "0")).join("");
}

export class NotPublicError extends Error {
  override readonly name = "NotPublicError";
}

/** Looks up the addresses of a name. @throws {Error} if there are no addresses of that type, or no answer. */
export type Resolve = (name: string, type: "A" | "AAAA", signal: AbortSignal) => Promise<string[]>;

/** Queries the name servers only: entries of this machine's hosts file are not public. */
export const resolveName: Resolve = (name, type, signal) => Deno.resolveDns(name, type, { signal });

/** Returns the public addresses of a host, IPv4 first. @throws {NotPublicError} if one is not public, or {Error}. */
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
  // A name with addresses of both kinds could lead elsewhere at the next attempt.
  if (addresses.some((address) => addressKind(address) !== "public")) {
    throw new NotPublicError(`${hostname} ${NOT_PUBLIC}`);
  }
  if (addresses.length > 0) return addresses;
  const errors = found.map((one) => one.status === "rejected" ? one.reason : undefined);
  const isUnknown = errors.every((error) => error instanceof Deno.errors.NotFound);
  const why = isUnknown ? "no host has that name" : "DNS lookup failed";
  throw new Error(`Cannot reach ${hostname}: ${why}`);
}

export const NOT_PUBLIC = "is at an address of this machine or of a local network";
