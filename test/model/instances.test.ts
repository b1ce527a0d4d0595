import { expect, it } from "vitest";

import { blockedPrefixes } from "../../shared/money/prices/blocked-destinations.ts";
import { CarrierAws } from "./carrier-aws.ts";
import { organizationId } from "./carrier-organization.ts";
import * as present from "./carrier-path.ts";
import { Lambda } from "./lambda.ts";
import { MemoryTable } from "./memory-table.ts";
import { connect } from "./money-path.ts";
import { VirtualTime } from "./virtual-time.ts";

it("no one waits for a load of an instance that died, and each instance keeps what it loaded", async () => {
  const time = new VirtualTime(new Date("2026-03-01T06:00:00Z"));
  const random = (): number => 0.5;
  const lambda = new Lambda(time, random);
  const loads: string[] = [];
  const restore = new CarrierAws({
    random,
    lambda,
    table: new MemoryTable(),
    mutation: undefined,
    releases: [{ ...present, connect }],
    observe: (event) => void (event.includes("QueryCommand") && loads.push(event)),
    refund: () => undefined,
    send: () => undefined,
  }).takeOver();
  const handler = async () => {
    await blockedPrefixes(organizationId);
    return { batchItemFailures: [] };
  };
  const newInstance = (name: string) => ({ name, handler, clockErrorMs: 0, isRunning: false, onThaw: [] });
  const living = newInstance("sendMessage-2");
  try {
    // It dies before the table responds.
    expect(await time.until(lambda.call(newInstance("sendMessage-1"), { Records: [] }, 1))).toBeUndefined();
    expect(await time.until(blockedPrefixes(organizationId))).toEqual([]);
    for (let call = 0; call < 2; call += 1)
      expect(await time.until(lambda.call(living, { Records: [] }, 1_000))).toBeDefined();
    expect(loads).toHaveLength(3);
  } finally {
    restore();
  }
});
