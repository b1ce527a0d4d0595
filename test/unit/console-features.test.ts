import { afterEach, expect, it, vi } from "vitest";

import { features } from "../../shared/console/files.ts";
import { environmentNames } from "../../shared/platform/config.ts";

afterEach(() => void vi.unstubAllEnvs());

it.each([
  ["true", "sandbox", "true", ["docs", "sandbox", "top-up"]],
  ["false", "sandbox", "false", ["sandbox"]],
  ["true", "aws", "false", ["docs"]],
  ["false", "aws", "true", ["top-up"]],
  ["false", "aws", "false", []],
])(
  "where the reference is served: %s, the carrier is %s and customers top up: %s, the console has %j",
  (docs, carrier, topUp, expected) => {
    vi.stubEnv(environmentNames.docsEnabled, docs);
    vi.stubEnv(environmentNames.carrier, carrier);
    vi.stubEnv(environmentNames.topUpEnabled, topUp);
    expect(features()).toEqual(expected);
  },
);
