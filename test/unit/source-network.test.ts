import { expect, it } from "vitest";

import { networkOf } from "../../shared/platform/http/source-network.ts";

it("an IPv4 address is a network of its own, also where it is written in IPv6", () => {
  expect(networkOf("203.0.113.9")).toBe("203.0.113.9");
  expect(networkOf("::ffff:203.0.113.9")).toBe("203.0.113.9");
  expect(networkOf("203.0.113.10")).not.toBe(networkOf("203.0.113.9"));
});

it("IPv6 addresses are of one network when they share their first 64 bits, however they are written", () => {
  const network = networkOf("2001:db8:0:1::1");
  expect(network).toBe("2001:db8:0:1::/64");
  for (const address of ["2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:0DB8:0000:0001:0:0:0:2"]) {
    expect(networkOf(address)).toBe(network);
  }
  expect(networkOf("2001:db8:0:2::1")).not.toBe(network);
});

it("what is no address stands for itself", () => {
  expect(networkOf("unknown")).toBe("unknown");
});
