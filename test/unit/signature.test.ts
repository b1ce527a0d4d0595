import { expect, it } from "vitest";

import { newWebhookSecret, serviceSignature, standardSignature } from "../../shared/webhooks/signature.ts";

it("the service signature is the hex HMAC-SHA256 of the body, keyed with the secret as it is shown", () => {
  // RFC 4231, test case 2.
  expect(serviceSignature("Jefe", "what do ya want for nothing?")).toBe(
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  );
});

it("the standard signature is the one of the Standard Webhooks specification's example", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const signature = standardSignature(secret, {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestampSeconds: 1_614_265_330,
    body: '{"test": 2432232314}',
  });
  expect(signature).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

it("every secret is different and holds 32 bytes", () => {
  const [one, other] = [newWebhookSecret(), newWebhookSecret()];
  expect(one).not.toBe(other);
  expect(Buffer.from(one.replace("whsec_", ""), "base64")).toHaveLength(32);
});
