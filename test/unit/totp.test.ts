import { expect, it } from "vitest";

import {
  base32Of,
  newTotpSecret,
  stepOfTotpCode,
  totpCode,
  totpStepAt,
  totpUri,
} from "../../shared/platform/auth/totp.ts";
import { secondMs } from "../../shared/platform/clock.ts";

/** The shared secret of RFC 6238, appendix B: "12345678901234567890". */
const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

function at(seconds: number): Date {
  return new Date(seconds * secondMs);
}

it.each([
  [59, "94287082"],
  [1_111_111_109, "07081804"],
  [1_111_111_111, "14050471"],
  [1_234_567_890, "89005924"],
  [2_000_000_000, "69279037"],
  [20_000_000_000, "65353130"],
])(
  "the code %s seconds after 1970 is the end of the one that RFC 6238 gives for SHA-1",
  (seconds, eightDigits) => {
    expect(totpCode(secret, totpStepAt(at(seconds)))).toBe(eightDigits.slice(-6));
  },
);

it("base32 is that of RFC 4648", () => {
  expect(base32Of(Buffer.from("fooba"))).toBe("MZXW6YTB");
  expect(base32Of(Buffer.from("12345678901234567890"))).toBe(secret);
});

it("a code counts in its own step, and one before and after", () => {
  const step = totpStepAt(at(1_234_567_890));
  const startSeconds = step * 30;
  const code = totpCode(secret, step);
  const steps = [-31, -30, 0, 29, 30, 59, 60].map((seconds) =>
    stepOfTotpCode(secret, code, at(startSeconds + seconds)),
  );
  expect(steps).toEqual([undefined, step, step, step, step, step, undefined]);
});

it.each(["", "12345", "1234567", "abcdef", "００００００"])("%j is no code", (code) => {
  expect(stepOfTotpCode(secret, code, at(1_234_567_890))).toBeUndefined();
});

it("each secret is different and has 160 bits", () => {
  const secrets = Array.from({ length: 100 }, newTotpSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const each of secrets) expect(each).toMatch(/^[A-Z2-7]{32}$/);
});

it("the URI names the account, with any characters", () => {
  expect(totpUri(secret, { issuer: "SMS Gateway", account: "ada+sms&x=1@example.com" })).toBe(
    `otpauth://totp/SMS%20Gateway:ada%2Bsms%26x%3D1%40example.com?secret=${secret}` +
      "&issuer=SMS%20Gateway&algorithm=SHA1&digits=6&period=30",
  );
});
