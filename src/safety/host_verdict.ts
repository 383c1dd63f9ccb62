/** The verdict on a call that requests an address of the web. @module */

import { hostKind, NOT_PUBLIC } from "../wire/address.ts";
import { askBecause, byRule } from "./path_verdict.ts";
import { type HostPattern, isFor, type OfferedRule, type Rule, RULE_EFFECTS } from "./rules.ts";
import type { PolicyCall, Settings, Verdict } from "./settings.ts";

/**
 * Asks about each host, without a network also if `--yes` or `*` allows all. Refuses private addresses, unless the
 * user wrote a rule that names the host. Rules that were saved from an answer do not suffice: their host may
 * resolve to another address later.
 */
export function hostVerdict(
  { tool, url: address = "" }: PolicyCall,
  { rules, sandbox, network }: Settings,
): Verdict {
  const url = new URL(address);
  const about = rules.filter((rule) =>
    isFor(rule, tool) && !rule.path && !rule.command && matchesHost(rule, url)
  );
  const [rule] = RULE_EFFECTS.flatMap((effect) => about.find((one) => one.effect === effect) ?? []);
  if (rule?.effect === "deny") return byRule(rule);
  const kind = hostKind(url.hostname);
  if (kind === "reserved") return { effect: "deny", reason: NOT_PUBLIC };
  if (kind === "private") {
    const isNamed = about.some((one) =>
      one.effect === "allow" && !one.isKept && one.host && !one.host.isBelow
    );
    if (!isNamed) {
      const how = `(a rule that you write, such as ${tool.name}(${url.host}), allows it)`;
      return { effect: "deny", reason: `${NOT_PUBLIC} ${how}` };
    }
    return { ...rule ? byRule(rule) : askBecause(NOT_PUBLIC), mayBePrivate: true };
  }
  const asked = askBecause(`sends a request to ${url.host}`);
  if (sandbox !== "off" && network !== true && !isOn(rules)) return { ...asked, isBeyond: true };
  return rule ? byRule(rule) : asked;
}

const FETCHER = { name: "fetch_url", access: "network" } as const;

export function isFetch({ tool, url }: PolicyCall): boolean {
  return tool.name === FETCHER.name && tool.ruleName === undefined && url !== undefined;
}

/** True if a rule allows pages of some host. They may then be fetched even if commands have no network. */
export function isOn(rules: readonly Rule[]): boolean {
  return rules.some((rule) => rule.effect === "allow" && rule.tool !== "*" && isFor(rule, FETCHER));
}

/** Returns the rule that would allow all pages of a host, with its port unless it is the default. */
export function hostRule({ tool, url = "" }: PolicyCall): OfferedRule {
  const { host } = new URL(url);
  return { rule: `${tool.name}(${host})`, words: `${host}/…` };
}

/** True if a rule applies to a host. Without a port, it allows the default ports and refuses all ports. */
function matchesHost({ effect, host }: Rule, { hostname, port }: URL): boolean {
  if (host === undefined) return true;
  const isPort = host.port !== undefined ? host.port === port : effect !== "allow" || port === "";
  return isPort && isNamed(host, hostname, effect !== "allow");
}

function isNamed({ name, isBelow }: HostPattern, hostname: string, withItself: boolean): boolean {
  if (!isBelow) return hostname === name;
  return hostname.endsWith(`.${name}`) || withItself && hostname === name;
}
