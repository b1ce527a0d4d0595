import { BlockList, isIPv6 } from "node:net";

interface Block {
  readonly network: string;
  readonly prefixLength: number;
  readonly family: "ipv4" | "ipv6";
}

/**
 * Whether an address is in one of the blocks: addresses, or CIDR blocks such as `192.0.2.0/24`. An IPv4 address may also have
 * the form of IPv6 (`::ffff:192.0.2.1`).
 */
export function isAddressIn(address: string, blocks: readonly string[]): boolean {
  return contains(blocks.map(parsed), address);
}

/** Whether each of the blocks is within one of the other blocks. */
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
    // An IPv6 block would match IPv4 addresses too.
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
