import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/kyc.ts";
import { getKyc } from "../../shared/tenancy/kyc/kyc.ts";

export const handler = endpoint(routes.getKyc, async ({ actor }) => getKyc(actor.organizationId));
