import { BlockList, isIPv6 } from "node:net";

interface Block {
  readonly network: string;
  readonly prefixLength: number;
  readonly family: "ipv4" | "ipv6";
}

/**
 * Whether an address is in one of the blocks: addresses, or CIDR blocks such as `192.0.2.0/24`. An IPv4 address counts as
 * such also where it comes in the form of IPv6 (`::ffff:192.0.2.1`).
 */
export function isAddressIn(address: string, blocks: readonly string[]): boolean {
  return contains(blocks.map(parsed), address);
}

/** Whether all addresses of the blocks are in one block of others. */
export function areBlocksWithin(blocks: readonly string[], others: readonly string[]): boolean {
  const outer = others.map(parsed);
  return blocks.map(parsed).every(({ network, prefixLength, family }) =>
    contains(
      outer.filter((each) => each.family === family && each.prefixLength <= prefixLength),
      network,
    ),
  );
}

function contains(blocks: readonly Block[], address: string): boolean {
  const family = familyOf(address);
  const list = new BlockList();
  for (const block of blocks) {
    // A block of IPv6 would take an IPv4 address for one of its own.
    if (family === "ipv6" || block.family === family) {
      list.addSubnet(block.network, block.prefixLength, block.family);
    }
  }
  return list.check(address, family);
}

function parsed(block: string): Block {
  const [network = "", prefixLength] = block.split("/");
  const family = familyOf(network);
  return { network, prefixLength: Number(prefixLength ?? (family === "ipv6" ? 128 : 32)), family };
}

function familyOf(address: string): Block["family"] {
  return isIPv6(address) ? "ipv6" : "ipv4";
}
