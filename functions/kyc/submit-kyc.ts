import { getKyc, submitKyc } from "../../shared/kyc/kyc.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/kyc.ts";

export const handler = endpoint(
  routes.submitKyc,
  async ({ actor, body }) => submitKyc(actor.organizationId, body),
  async ({ actor }) => getKyc(actor.organizationId),
);
