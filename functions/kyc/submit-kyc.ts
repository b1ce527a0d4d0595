import { endpoint } from "../../shared/api/endpoint.ts";
import { getKyc, submitKyc } from "../../shared/kyc/kyc.ts";
import * as routes from "../../shared/routes/kyc.ts";

export const handler = endpoint(
  routes.submitKyc,
  async ({ actor, body }) => submitKyc(actor.organizationId, body),
  async ({ actor }) => getKyc(actor.organizationId),
);
