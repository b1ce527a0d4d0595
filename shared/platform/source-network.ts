import { isIPv6 } from "node:net";

const groupCount = 8;

/** The prefix of an IPv4 address in the form of IPv6 (RFC 4291, section 2.5.5.2). */
const mappedPrefix = "0:0:0:0:0:ffff";

/**
 * Returns the network of an address, within which the caller can choose addresses. An IPv4 address is a network by itself. In
 * IPv6 a single customer has all addresses with the same first 64 bits (RFC 6177).
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  if (groups.slice(0, -2).join(":") === mappedPrefix) {
    const bytes = groups.slice(-2).map((group) => Buffer.from(group.padStart(4, "0"), "hex"));
    return Buffer.concat(bytes).join(".");
  }
  return `${groups.slice(0, groupCount / 2).join(":")}::/64`;
}

/** Returns the eight groups of an IPv6 address. */
function groupsOf(address: string): string[] {
  // A URL normalizes an address (RFC 5952), and does not allow its zone.
  const { hostname } = new URL(`http://[${address.replace(/%.*/, "")}]`);
  const [front = [], back = []] = hostname
    .slice(1, -1)
    .split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: groupCount - front.length - back.length }, () => "0");
  return [...front, ...zeros, ...back];
}
