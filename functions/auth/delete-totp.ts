import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { deleteTotp } from "../../shared/accounts/second-factor/switch.ts";
import * as routes from "../../shared/api/routes/credentials.ts";

export const handler = endpoint(routes.deleteTotp, async ({ actor, organization, body, sourceIp }) =>
  deleteTotp(actor, organization, body, sourceIp),
);
