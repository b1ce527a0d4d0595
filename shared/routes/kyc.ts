import { CurrentKyc, KycSubmission, SubmitKycRequest } from "../contract/kyc.ts";
import type { Route } from "./route.ts";

export const getKyc = {
  method: "GET",
  path: "/v1/kyc",
  tag: "kyc",
  summary: "The organisation's KYC submission, or null",
  auth: "bearer",
  scope: "read",
  status: 200,
  data: CurrentKyc,
  errors: [],
} as const satisfies Route;

export const submitKyc = {
  method: "POST",
  path: "/v1/kyc",
  tag: "kyc",
  summary: "Submit the organisation's particulars, in place of what is pending or was rejected",
  auth: "bearer",
  scope: "billing",
  body: SubmitKycRequest,
  status: 201,
  data: KycSubmission,
  audited: ["id", "status"],
  errors: ["CONFLICT"],
} as const satisfies Route;

export const routes = { getKyc, submitKyc };
