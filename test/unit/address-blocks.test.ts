import { expect, it } from "vitest";

import { areBlocksWithin, isAddressIn } from "../../shared/platform/auth/address-blocks.ts";

it.each([
  ["192.0.2.1", ["192.0.2.1"], true],
  ["192.0.2.2", ["192.0.2.1"], false],
  ["192.0.2.255", ["198.51.100.0/24", "192.0.2.0/24"], true],
  ["192.0.3.0", ["192.0.2.0/24"], false],
  ["10.200.3.4", ["10.1.2.3/8"], true],
  ["203.0.113.9", ["0.0.0.0/0"], true],
  ["::ffff:192.0.2.1", ["192.0.2.0/24"], true],
  ["2001:db8:0:1::5", ["2001:db8::/48"], true],
  ["2001:DB8:0:0:0:0:0:1", ["2001:db8::1"], true],
  ["2001:db8:1::5", ["2001:db8::/48"], false],
  ["192.0.2.1", ["::/0"], false],
  ["2001:db8::1", ["0.0.0.0/0"], false],
  ["192.0.2.1, 203.0.113.9", ["0.0.0.0/0"], false],
  ["", ["0.0.0.0/0", "::/0"], false],
  ["192.0.2.1", [], false],
])("whether %s is in %j: %s", (address, blocks, isIn) => {
  expect(isAddressIn(address, blocks)).toBe(isIn);
});

it.each([
  [["192.0.2.1"], ["192.0.2.1"], true],
  [["192.0.2.128/25"], ["192.0.2.0/24"], true],
  [["192.0.2.0/23"], ["192.0.2.0/24"], false],
  [["192.0.2.7", "198.51.100.1"], ["192.0.2.0/24"], false],
  [["192.0.2.7", "2001:db8::1"], ["192.0.2.0/24", "2001:db8::/32"], true],
  [["0.0.0.0/0"], ["::/0"], false],
  [["::/0"], ["2001:db8::/32"], false],
])("whether all of %j is within %j: %s", (blocks, others, isWithin) => {
  expect(areBlocksWithin(blocks, others)).toBe(isWithin);
});
