import * as z from "zod";

import { Campaign, CreateCampaignRequest } from "../contract/campaigns.ts";
import { PageQuery, idSchema } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

export const routes = {
  listCampaigns: {
    method: "GET",
    path: "/v1/campaigns",
    tag: "campaigns",
    summary: "List campaigns with their progress, newest first",
    auth: "bearer",
    query: PageQuery,
    status: 200,
    data: Campaign,
    paged: true,
    errors: [],
  },
  createCampaign: {
    method: "POST",
    path: "/v1/campaigns",
    tag: "campaigns",
    summary: "Create a campaign: a draft, or with a time a scheduled one",
    auth: "bearer",
    body: CreateCampaignRequest,
    status: 201,
    data: Campaign,
    idempotent: true,
    errors: ["MISSING_SENDER_ID", "CONFLICT"],
  },
  getCampaign: {
    method: "GET",
    path: "/v1/campaigns/{id}",
    tag: "campaigns",
    summary: "One campaign and its progress",
    auth: "bearer",
    params: z.object({ id: idSchema("cmp") }),
    status: 200,
    data: Campaign,
    errors: [],
  },
  launchCampaign: {
    method: "POST",
    path: "/v1/campaigns/{id}/launch",
    tag: "campaigns",
    summary: "Begin to send a draft, or go on with a campaign that ran out of money",
    auth: "bearer",
    params: z.object({ id: idSchema("cmp") }),
    status: 200,
    data: Campaign,
    errors: ["CONFLICT"],
  },
  cancelCampaign: {
    method: "POST",
    path: "/v1/campaigns/{id}/cancel",
    tag: "campaigns",
    summary: "Cancel a campaign that is not finished; no more messages are accepted",
    auth: "bearer",
    params: z.object({ id: idSchema("cmp") }),
    status: 200,
    data: Campaign,
    errors: ["CONFLICT"],
  },
} as const satisfies Record<string, Route>;
