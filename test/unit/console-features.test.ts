import { afterEach, expect, it, vi } from "vitest";

import { features } from "../../shared/pages/console/files.ts";
import { environmentNames } from "../../shared/platform/config.ts";

afterEach(() => void vi.unstubAllEnvs());

it.each([
  ["senderIds", "approved", ["approved-sender-ids"]],
  ["kyc", "before-sending", ["kyc"]],
  ["verifiedEmail", "before-sending", ["verified-email"]],
] as const)("where the policy %s is %s, the console knows %j", (policy, value, expected) => {
  for (const name of Object.values(environmentNames.policies)) vi.stubEnv(name, "none");
  vi.stubEnv(environmentNames.docsEnabled, "false");
  vi.stubEnv(environmentNames.paymentsEnabled, "false");
  vi.stubEnv(environmentNames.carrier, "aws");
  vi.stubEnv(environmentNames.topUpEnabled, "false");
  vi.stubEnv(environmentNames.policies[policy], value);
  expect(features()).toEqual(expected);
});

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
