import { afterEach, expect, it, vi } from "vitest";

import { features } from "../../shared/pages/console/files.ts";
import { environmentNames } from "../../shared/platform/config.ts";

afterEach(() => void vi.unstubAllEnvs());

it.each([
  ["true", "true", "sandbox", "true", ["docs", "payments", "sandbox", "top-up"]],
  ["false", "false", "sandbox", "false", ["sandbox"]],
  ["true", "false", "aws", "false", ["docs"]],
  ["false", "true", "aws", "false", ["payments"]],
  ["false", "false", "aws", "true", ["top-up"]],
  ["false", "false", "aws", "false", []],
])(
  "where the reference is served: %s, customers pay: %s, the carrier is %s and customers top up: %s, the console has %j",
  (docs, payments, carrier, topUp, expected) => {
    vi.stubEnv(environmentNames.docsEnabled, docs);
    vi.stubEnv(environmentNames.paymentsEnabled, payments);
    vi.stubEnv(environmentNames.carrier, carrier);
    vi.stubEnv(environmentNames.topUpEnabled, topUp);
    expect(features()).toEqual(expected);
  },
);
