import * as routes from "../../shared/api/routes/payments.ts";
import { receiveEvent } from "../../shared/money/payments/receive-event.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.receivePaymentEvent, async ({ rawBody, headers }) =>
  receiveEvent(rawBody, headers["stripe-signature"]),
);
