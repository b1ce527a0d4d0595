import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sms.ts";
import { entriesOf } from "../../shared/audience/templates/batch.ts";
import { BatchBody } from "../../shared/messages/accept/batch-entry.ts";
import { estimateBatch } from "../../shared/messages/accept/estimate.ts";
import { isTestRequest } from "../../shared/messages/message/test-messages.ts";

export const handler = endpoint(
  { ...routes.estimateBatch, body: BatchBody },
  async ({ actor, organization, body }) =>
    estimateBatch(organization, await entriesOf(organization.id, body), {
      isTest: isTestRequest(actor, body),
    }),
);
