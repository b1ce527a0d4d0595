import { expect, it } from "vitest";

import { networkOf } from "../../shared/platform/source-network.ts";

it("an IPv4 address is a network of its own, also where it is written in IPv6", () => {
  expect(networkOf("203.0.113.9")).toBe("203.0.113.9");
  for (const address of ["::ffff:203.0.113.9", "::FFFF:cb00:7109", "0:0:0:0:0:ffff:cb00:7109"]) {
    expect(networkOf(address)).toBe("203.0.113.9");
  }
  expect(networkOf("::ffff:10.0.0.1")).toBe("10.0.0.1");
  expect(networkOf("203.0.113.10")).not.toBe(networkOf("203.0.113.9"));
});

it("IPv6 addresses are of one network when they share their first 64 bits, however they are written", () => {
  const network = networkOf("2001:db8:0:1::1");
  expect(network).toBe("2001:db8:0:1::/64");
  for (const address of ["2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:0DB8:0000:0001:0:0:0:2"]) {
    expect(networkOf(address)).toBe(network);
  }
  expect(networkOf("2001:db8:0:2::1")).not.toBe(network);
  expect(networkOf("::1")).toBe("0:0:0:0::/64");
  expect(networkOf("1::")).toBe("1:0:0:0::/64");
  expect(networkOf("1:2:3:4:5:6:7:8")).toBe("1:2:3:4::/64");
  expect(networkOf("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
});

it("text that is not an address stays unchanged", () => {
  expect(networkOf("unknown")).toBe("unknown");
});
