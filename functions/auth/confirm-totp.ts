import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { confirmTotp } from "../../shared/accounts/second-factor/switch.ts";
import * as routes from "../../shared/api/routes/credentials.ts";

export const handler = endpoint(routes.confirmTotp, async ({ actor, body, sourceIp }) =>
  confirmTotp(actor, body, sourceIp),
);
