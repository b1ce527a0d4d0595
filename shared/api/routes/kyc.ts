import { CurrentKyc, KycSubmission, SubmitKycRequest } from "../contract/kyc.ts";
import type { Route } from "./route.ts";

export const getKyc = {
  method: "GET",
  path: "/v1/kyc",
  tag: "kyc",
  summary: "Get the organization's KYC submission, or null",
  auth: "bearer",
  scope: "read",
  data: CurrentKyc,
} as const satisfies Route;

export const submitKyc = {
  method: "POST",
  path: "/v1/kyc",
  tag: "kyc",
  summary: "Submit the organization's details; replaces a pending or rejected submission",
  auth: "bearer",
  scope: "billing",
  body: SubmitKycRequest,
  status: 201,
  data: KycSubmission,
  audited: ["id", "status"],
  errors: ["CONFLICT"],
} as const satisfies Route;

export const routes = { getKyc, submitKyc };
