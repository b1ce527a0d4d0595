import * as z from "zod/mini";

import { GivenPhoneNumber, KnownPhoneNumber, PhoneNumber } from "./phone-numbers.ts";
import { Timestamp } from "./primitives.ts";

export const OptOutSource = z.enum(["api", "contact", "reply"]).register(z.globalRegistry, {
  id: "OptOutSource",
  description:
    "Who said so: you did (`api`), you did by the `optedOut` of a contact (`contact`), or the person did, who answered " +
    "STOP or a word like it (`reply`). A START of theirs lifts a `reply` alone, which you cannot lift; what you have noted, you lift.",
});
export type OptOutSource = z.infer<typeof OptOutSource>;

export const CreateOptOutRequest = z
  .object({ phoneNumber: GivenPhoneNumber })
  .register(z.globalRegistry, { id: "CreateOptOutRequest", examples: [{ phoneNumber: "15005550013" }] });
export type CreateOptOutRequest = z.infer<typeof CreateOptOutRequest>;

export const OptOutParams = z.object({
  phoneNumber: KnownPhoneNumber.clone().register(z.globalRegistry, { examples: ["15005550013"] }),
});

export const OptOut = z
  .object({
    phoneNumber: PhoneNumber,
    source: OptOutSource,
    createdAt: Timestamp,
  })
  .register(z.globalRegistry, {
    id: "OptOut",
    description:
      "A number that gets no marketing and no campaigns of yours. Where the person has answered STOP (`reply`), only messages " +
      "of the type `otp` reach it.",
  });
export type OptOut = z.infer<typeof OptOut>;

export const LiftedOptOut = z
  .object({ phoneNumber: PhoneNumber, deleted: z.literal(true) })
  .register(z.globalRegistry, { id: "LiftedOptOut" });
export type LiftedOptOut = z.infer<typeof LiftedOptOut>;
