import { startTotp } from "../../shared/accounts/second-factor/second-factor.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.startTotp, async ({ actor, body, sourceIp }) =>
  startTotp(actor, body, sourceIp),
);
