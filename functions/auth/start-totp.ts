import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { startTotp } from "../../shared/accounts/second-factor/second-factor.ts";
import * as routes from "../../shared/api/routes/credentials.ts";

export const handler = endpoint(routes.startTotp, async ({ actor, body, sourceIp }) =>
  startTotp(actor, body, sourceIp),
);
