import * as z from "zod/mini";

import { about } from "./about.ts";

/** The kinds of callbacks from a carrier: a delivery receipt or an inbound message. */
export const CallbackKind = z.enum(["receipts", "inbound"]);
export type CallbackKind = z.infer<typeof CallbackKind>;

/** An invalid name is not found, like a name that no carrier has. */
export const CarrierCallbackParams = z.object({
  carrier: z.string().check(z.maxLength(32)),
  callback: CallbackKind,
});

/** The parameters of the address that a carrier calls: ours, and those that the carrier adds. */
export const CarrierCallbackQuery = z.looseObject({
  token: about(z.optional(z.string().check(z.maxLength(200))), "The token of the carrier."),
  reference: about(
    z.optional(z.string().check(z.maxLength(200))),
    "For receipts: our reference of the message.",
  ),
});

const CarrierCallback = z.looseObject({}).register(z.globalRegistry, {
  id: "CarrierCallback",
  description: "A delivery receipt or an inbound message, in the carrier's own fields.",
});

/** The largest batch from carriers that send several callbacks in one call. */
const maxCallbacks = 500;

export const CarrierCallbackBody = z
  .union([CarrierCallback, z.array(CarrierCallback).check(z.minLength(1), z.maxLength(maxCallbacks))])
  .register(z.globalRegistry, {
    id: "CarrierCallbackBody",
    description: "A callback, or a list of them.",
    examples: [{ MessageSid: "SM0123456789abcdef0123456789abcdef", MessageStatus: "delivered" }],
  });

/** An empty response. Some carriers would send a text in it to the phone. */
export const CarrierCallbackResponse = z
  .string()
  .register(z.globalRegistry, { id: "CarrierCallbackResponse" });
