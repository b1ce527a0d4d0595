import { afterEach, expect, it, vi } from "vitest";

import { features } from "../../shared/console/files.ts";
import { environmentNames } from "../../shared/platform/config.ts";

afterEach(() => void vi.unstubAllEnvs());

it.each([
  ["true", "sandbox", ["docs", "sandbox"]],
  ["false", "sandbox", ["sandbox"]],
  ["true", "aws", ["docs"]],
  ["false", "aws", []],
])(
  "where the reference is served: %s, and the carrier is %s, the console has %j",
  (docs, carrier, expected) => {
    vi.stubEnv(environmentNames.docsEnabled, docs);
    vi.stubEnv(environmentNames.carrier, carrier);
    expect(features()).toEqual(expected);
  },
);
