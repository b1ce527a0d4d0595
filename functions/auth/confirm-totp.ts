import { confirmTotp } from "../../shared/accounts/second-factor/switch.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.confirmTotp, async ({ actor, body, sourceIp }) =>
  confirmTotp(actor, body, sourceIp),
);
