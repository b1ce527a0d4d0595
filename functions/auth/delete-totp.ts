import { deleteTotp } from "../../shared/accounts/second-factor/switch.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.deleteTotp, async ({ actor, body, sourceIp }) =>
  deleteTotp(actor, body, sourceIp),
);
