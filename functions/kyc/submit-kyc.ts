import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/kyc.ts";
import { storingResponse } from "../../shared/platform/http/idempotency.ts";
import { getKyc, submitKyc } from "../../shared/tenancy/kyc/kyc.ts";

export const handler = endpoint(
  routes.submitKyc,
  storingResponse(async ({ actor, body }) => submitKyc(actor.organizationId, body)),
  { readBefore: async ({ actor }) => getKyc(actor.organizationId) },
);
