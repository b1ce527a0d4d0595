import { PageQuery } from "../contract/primitives.ts";
import {
  DeletedVerificationProfile,
  SaveVerificationProfileRequest,
  VerificationProfile,
  VerificationProfileParams,
} from "../contract/verification-profiles.ts";
import type { Route } from "./route.ts";

/** The fields of a profile that the audit log keeps: none that may have a phone number. */
const auditedOfProfile = ["name", "brand", "senderId", "codeLength", "validitySeconds", "countries", "guard"];

export const listVerificationProfiles = {
  method: "GET",
  path: "/v1/verification-profiles",
  summary: "List verification profiles, by name",
  description: "The profile `default` is in the list even before you save it.",
  scope: "read",
  query: PageQuery,
  data: VerificationProfile,
  paged: true,
} as const satisfies Route;

export const getVerificationProfile = {
  method: "GET",
  path: "/v1/verification-profiles/{name}",
  summary: "Get a verification profile",
  description: "Before you save it, `default` has the name of the organization and the usual limits.",
  scope: "read",
  params: VerificationProfileParams,
  data: VerificationProfile,
} as const satisfies Route;

export const saveVerificationProfile = {
  method: "PUT",
  path: "/v1/verification-profiles/{name}",
  summary: "Add a verification profile, or replace it",
  description:
    "It applies to verifications that start from then on. Fields that are not there have their defaults. Unknown fields are rejected.",
  scope: "webhooks",
  params: VerificationProfileParams,
  body: SaveVerificationProfileRequest,
  recentProof: true,
  data: VerificationProfile,
  audited: auditedOfProfile,
  errors: ["CONFLICT", "SENDER_ID_NOT_APPROVED"],
} as const satisfies Route;

export const deleteVerificationProfile = {
  method: "DELETE",
  path: "/v1/verification-profiles/{name}",
  summary: "Delete a verification profile; `default` then has its first values again",
  description: "Pending verifications keep their text. New ones can no longer name it.",
  scope: "webhooks",
  params: VerificationProfileParams,
  recentProof: true,
  data: DeletedVerificationProfile,
  audited: auditedOfProfile,
} as const satisfies Route;

export const routes = {
  listVerificationProfiles,
  getVerificationProfile,
  saveVerificationProfile,
  deleteVerificationProfile,
};
