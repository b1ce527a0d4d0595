import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sms.ts";
import { entriesOf } from "../../shared/audience/templates/batch.ts";
import { acceptBatch } from "../../shared/messages/accept/accept-batch.ts";
import { BatchBody } from "../../shared/messages/accept/batch-entry.ts";

export const handler = endpoint(
  { ...routes.sendBatch, body: BatchBody },
  async ({ actor, organization, body, attempt, reportRateLimit }) =>
    acceptBatch(organization, await entriesOf(organization.id, body), body, {
      actor,
      attempt,
      reportRateLimit,
    }),
);
