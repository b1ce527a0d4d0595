import {
  Campaign,
  CampaignParams,
  CampaignRecipient,
  CreateCampaignRequest,
  DeletedCampaign,
  RecipientsQuery,
  LaunchQuery,
  UpdateCampaignRequest,
} from "../contract/campaigns.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

/** The fields of a campaign that the audit log keeps. */
const auditedOfCampaign = ["id", "name", "status", "senderId", "scheduledAt"] as const;

export const listCampaigns = {
  method: "GET",
  path: "/v1/campaigns",
  summary: "List campaigns with their progress, newest first",
  description: "Each campaign has counts of the messages that it accepted, sent and skipped.",
  scope: "read",
  query: PageQuery,
  data: Campaign,
  paged: true,
} as const satisfies Route;

export const createCampaign = {
  method: "POST",
  path: "/v1/campaigns",
  summary: "Create a campaign: a draft, or with `scheduledAt` a scheduled campaign",
  description:
    "A draft sends nothing until you launch it. Messages are charged one by one when they are accepted.",
  scope: "campaigns",
  limitedKeys: true,
  body: CreateCampaignRequest,
  status: 201,
  data: Campaign,
  idempotent: true,
  audited: auditedOfCampaign,
  errors: ["MISSING_SENDER_ID", "EMAIL_NOT_VERIFIED", "KYC_REQUIRED", "SENDER_ID_NOT_APPROVED", "CONFLICT"],
} as const satisfies Route;

export const getCampaign = {
  method: "GET",
  path: "/v1/campaigns/{id}",
  summary: "Get a campaign and its progress",
  description: "The counts change while the campaign runs.",
  scope: "read",
  params: CampaignParams,
  data: Campaign,
} as const satisfies Route;

export const listCampaignRecipients = {
  method: "GET",
  path: "/v1/campaigns/{id}/recipients",
  summary: "List the people of a campaign by their outcome",
  description:
    "Campaigns that ran before this list existed have no skipped contacts in it, only their counts.",
  scope: "read",
  params: CampaignParams,
  query: RecipientsQuery,
  data: CampaignRecipient,
  paged: true,
} as const satisfies Route;

export const updateCampaign = {
  method: "PATCH",
  path: "/v1/campaigns/{id}",
  summary: "Change the given fields of a draft",
  description: "Once a campaign is launched or scheduled, it cannot be changed.",
  scope: "campaigns",
  params: CampaignParams,
  body: UpdateCampaignRequest,
  data: Campaign,
  audited: auditedOfCampaign,
  errors: ["MISSING_SENDER_ID", "CONFLICT"],
} as const satisfies Route;

const startErrors = ["EMAIL_NOT_VERIFIED", "KYC_REQUIRED", "SENDER_ID_NOT_APPROVED", "CONFLICT"] as const;

export const launchCampaign = {
  method: "POST",
  path: "/v1/campaigns/{id}/launch",
  summary: "Launch a draft, or resume a failed campaign",
  description: "Sending starts immediately. Contacts that have opted out are left out.",
  scope: "campaigns",
  params: CampaignParams,
  query: LaunchQuery,
  data: Campaign,
  audited: auditedOfCampaign,
  errors: ["EMAIL_NOT_VERIFIED", "KYC_REQUIRED", "SENDER_ID_NOT_APPROVED", "CONFLICT", "NO_RECIPIENTS"],
} as const satisfies Route;

export const cancelCampaign = {
  method: "POST",
  path: "/v1/campaigns/{id}/cancel",
  summary: "Cancel a campaign that is not completed; it accepts no more messages",
  description: "Messages that were accepted already are still sent.",
  scope: "campaigns",
  params: CampaignParams,
  data: Campaign,
  audited: auditedOfCampaign,
  errors: ["CONFLICT"],
} as const satisfies Route;

export const deleteCampaign = {
  method: "DELETE",
  path: "/v1/campaigns/{id}",
  summary: "Delete a draft",
  description:
    "Its id is not found from then on. A campaign that was launched or scheduled is cancelled instead.",
  scope: "campaigns",
  params: CampaignParams,
  data: DeletedCampaign,
  audited: ["id"],
  errors: ["CONFLICT"],
} as const satisfies Route;

export const pauseCampaign = {
  method: "POST",
  path: "/v1/campaigns/{id}/pause",
  summary: "Pause a campaign that is being sent",
  description:
    "It accepts no more messages until it is resumed. Messages that were accepted already are still sent.",
  scope: "campaigns",
  params: CampaignParams,
  data: Campaign,
  audited: auditedOfCampaign,
  errors: ["CONFLICT"],
} as const satisfies Route;

export const resumeCampaign = {
  method: "POST",
  path: "/v1/campaigns/{id}/resume",
  summary: "Resume a paused campaign",
  description: "It continues after the last contact that it reached.",
  scope: "campaigns",
  params: CampaignParams,
  data: Campaign,
  audited: auditedOfCampaign,
  errors: startErrors,
} as const satisfies Route;

export const routes = {
  listCampaigns,
  createCampaign,
  getCampaign,
  listCampaignRecipients,
  updateCampaign,
  launchCampaign,
  cancelCampaign,
  deleteCampaign,
  pauseCampaign,
  resumeCampaign,
};
