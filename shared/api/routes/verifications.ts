import { sendErrors } from "../contract/send-errors.ts";
import {
  CheckVerificationRequest,
  ConversionQuery,
  ResendVerificationRequest,
  StartVerificationRequest,
  Verification,
  VerificationCheck,
  VerificationConversion,
  VerificationOutcome,
  VerificationParams,
  VerificationsQuery,
} from "../contract/verifications.ts";
import type { Route } from "./route.ts";

/** Bundles of the other rows omit a call that is marked as pure, but not a list with `...` in it. */
export const startErrors = /* @__PURE__ */ (() =>
  [...sendErrors, "VERIFICATION_BLOCKED", "TOO_MANY_CHECKS", "TOO_MANY_SENDS", "NOT_FOUND"] as const)();
const resendErrors = /* @__PURE__ */ (() =>
  [...sendErrors, "VERIFICATION_NOT_PENDING", "TOO_MANY_CHECKS", "TOO_MANY_SENDS"] as const)();

export const startVerification = {
  method: "POST",
  path: "/v1/verifications",
  summary: "Send a code to a number, or send the pending one again",
  description:
    "The number gets a code, which is in no response. While a verification of the number is pending, the call returns the same " +
    "one. It sends the same code again once `nextSendAt` has passed, at most five times in all.",
  scope: "send",
  limitedKeys: true,
  testKeys: true,
  debits: true,
  body: StartVerificationRequest,
  status: 202,
  data: Verification,
  idempotent: true,
  unhashed: "code",
  errors: startErrors,
} as const satisfies Route;

export const checkVerification = {
  method: "POST",
  path: "/v1/verifications/check",
  summary: "Check the code that a person typed, at most five times",
  description:
    "A wrong code is no error: `valid` is `false`. A verification can be checked five times, or three with fewer than six " +
    "characters, and approved once. One more check fails it. A verification that is not pending, or does not exist, gets `VERIFICATION_NOT_PENDING`. " +
    "After a lost response, repeat the check with the same `Idempotency-Key` and code. It gets the same result until the code " +
    "expires, at most five times. Another code, or another key, is another check.",
  scope: "send",
  limitedKeys: true,
  testKeys: true,
  body: CheckVerificationRequest,
  data: VerificationCheck,
  idempotent: true,
  recognizesRepeats: true,
  errors: ["VERIFICATION_NOT_PENDING", "TOO_MANY_CHECKS"],
} as const satisfies Route;

export const listVerifications = {
  method: "GET",
  path: "/v1/verifications",
  summary: "List verifications, newest first; filter by status or number",
  description: "Verifications are kept for 30 days.",
  scope: "read",
  testKeys: true,
  query: VerificationsQuery,
  data: Verification,
  paged: true,
} as const satisfies Route;

export const getVerificationConversion = {
  method: "GET",
  path: "/v1/verifications/conversion",
  summary: "Get how many verifications of the last days were approved, by country",
  description: "The guard compares each country with what is usual there.",
  scope: "read",
  query: ConversionQuery,
  data: VerificationConversion,
} as const satisfies Route;

export const getVerification = {
  method: "GET",
  path: "/v1/verifications/{id}",
  summary: "Get a verification and its status",
  description: "The code is in no response.",
  scope: "read",
  testKeys: true,
  params: VerificationParams,
  data: Verification,
} as const satisfies Route;

export const resendVerification = {
  method: "POST",
  path: "/v1/verifications/{id}/resend",
  summary: "Send the same code again",
  description:
    "It sends the same code, and does not extend its validity. A code that cannot be checked any more is neither sent nor charged.",
  scope: "send",
  limitedKeys: true,
  testKeys: true,
  debits: true,
  params: VerificationParams,
  body: ResendVerificationRequest,
  status: 202,
  data: Verification,
  idempotent: true,
  errors: resendErrors,
} as const satisfies Route;

export const reportVerification = {
  method: "POST",
  path: "/v1/verifications/{id}/outcome",
  summary: "Report the outcome of a verification with a code of your own",
  description:
    "Use it if you check the code yourself. Only an approved verification keeps its fee, and the guard learns from both outcomes.",
  scope: "send",
  limitedKeys: true,
  testKeys: true,
  params: VerificationParams,
  body: VerificationOutcome,
  data: Verification,
  errors: ["VERIFICATION_NOT_PENDING", "CONFLICT"],
} as const satisfies Route;

export const cancelVerification = {
  method: "DELETE",
  path: "/v1/verifications/{id}",
  summary: "Cancel a pending verification",
  description: "Its code is no longer accepted, and its fee is returned. Messages that were sent stay paid.",
  scope: "send",
  limitedKeys: true,
  testKeys: true,
  params: VerificationParams,
  data: Verification,
  errors: ["VERIFICATION_NOT_PENDING"],
} as const satisfies Route;

export const routes = {
  startVerification,
  checkVerification,
  listVerifications,
  getVerificationConversion,
  getVerification,
  resendVerification,
  reportVerification,
  cancelVerification,
};
