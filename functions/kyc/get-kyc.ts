import { getKyc } from "../../shared/kyc/kyc.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/kyc.ts";

export const handler = endpoint(routes.getKyc, async ({ actor }) => getKyc(actor.organizationId));
