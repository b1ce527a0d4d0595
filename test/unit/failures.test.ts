import { expect, it } from "vitest";

import { repeated } from "../../functions/console/app/failures.ts";
import { failureOf } from "../../shared/api/contract/failures.ts";
import type { Message } from "../../shared/api/contract/sms.ts";

const at = "2026-11-01T00:00:00.000Z";
const message: Message = {
  id: "msg_01KE0000000000000000000001",
  status: "sent",
  to: "15005550008",
  message: "Bonjour",
  senderId: "ACME",
  language: "Unicode",
  encoding: "UCS-2",
  pricing: { segments: 1, unitPrice: 0.0079, total: 0.0079, currency: "USD" },
  queuedAt: at,
};

it("a message that did not arrive has one reason, of its failure or else of its receipt", () => {
  const undelivered = { status: "undelivered", at } as const;
  expect(failureOf(message)).toBeUndefined();
  expect(failureOf({ ...message, delivery: { status: "pending", at } })).toBeUndefined();
  expect(failureOf({ ...message, delivery: undelivered })).toBe("DELIVERY_FAILED");
  const errorCode = "DELIVERY_REJECTED";
  expect(failureOf({ ...message, delivery: { ...undelivered, errorCode } })).toBe(errorCode);
  expect(failureOf({ ...message, status: "failed", errorCode: "MESSAGE_EXPIRED" })).toBe("MESSAGE_EXPIRED");
});

it("a message is repeated with its values, without what was erased", () => {
  const values = {
    to: "+15005550008",
    senderId: "ACME",
    message: "Bonjour",
    messageType: "",
    isUnicode: true,
  };
  expect(repeated(message)).toEqual({ ...values, isTest: false });
  expect(repeated({ ...message, test: true, messageType: "otp" })).toEqual({
    ...values,
    messageType: "otp",
    isTest: true,
  });
  const erased = { ...message, to: "[removed]", message: "[removed]" };
  expect(repeated(erased)).toMatchObject({ to: "", message: "" });
});
