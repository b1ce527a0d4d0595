import { endpoint } from "../../shared/api/endpoint.ts";
import { getKyc } from "../../shared/kyc/kyc.ts";
import * as routes from "../../shared/routes/kyc.ts";

export const handler = endpoint(routes.getKyc, async ({ actor }) => getKyc(actor.organizationId));
