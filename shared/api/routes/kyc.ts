import { CurrentKyc, KycSubmission, SubmitKycRequest } from "../contract/kyc.ts";
import type { Route } from "./route.ts";

export const getKyc = {
  method: "GET",
  path: "/v1/kyc",
  summary: "Get the organization's KYC submission, or null",
  description: "The submission has its state, and the reason if the operator has rejected it.",
  scope: "personal",
  data: CurrentKyc,
} as const satisfies Route;

export const submitKyc = {
  method: "POST",
  path: "/v1/kyc",
  summary: "Submit the organization's details; replaces a pending or rejected submission",
  description: "Some gateways let an organization send only after the operator has approved its details.",
  scope: "billing",
  body: SubmitKycRequest,
  status: 201,
  data: KycSubmission,
  idempotent: true,
  audited: ["id", "status"],
  errors: ["CONFLICT"],
} as const satisfies Route;

export const routes = { getKyc, submitKyc };
