import ipaddr from "ipaddr.js";

/**
 * The network that an address is in, as far as whoever calls cannot choose: an IPv4 address is one of its own, and of IPv6
 * a single customer is given all addresses that share their first 64 bits (RFC 6177).
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const groups = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(":")}::/64`;
}
