import { receiveEvent } from "../../shared/payments/receive-event.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/payments.ts";

export const handler = publicEndpoint(routes.receivePaymentEvent, async ({ rawBody, headers }) =>
  receiveEvent(rawBody, headers["stripe-signature"]),
);
