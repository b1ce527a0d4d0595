import * as z from "zod/mini";

import { about, namedEnum, namedObject, withExample } from "./about.ts";
import { GivenPhoneNumber, PhoneNumber } from "./phone-numbers.ts";
import { Timestamp } from "./primitives.ts";

export const OptOutSource = about(
  namedEnum("OptOutSource", ["api", "contact", "reply"]),
  "How the opt-out was set. `api`: by you. `contact`: by you, as the `optedOut` of a contact. `reply`: the person " +
    "replied STOP or a similar word, and only the person's START lifts it.",
);
export type OptOutSource = z.infer<typeof OptOutSource>;

export const CreateOptOutRequest = withExample(
  namedObject("CreateOptOutRequest", { phoneNumber: GivenPhoneNumber }),
  { phoneNumber: "15005550013" },
);
export type CreateOptOutRequest = z.infer<typeof CreateOptOutRequest>;

export const OptOutParams = z.object({
  phoneNumber: GivenPhoneNumber.clone().register(z.globalRegistry, { examples: ["15005550013"] }),
});

export const OptOut = about(
  namedObject("OptOut", {
    phoneNumber: PhoneNumber,
    source: OptOutSource,
    createdAt: Timestamp,
  }),
  "A number that gets none of your marketing and campaigns. If the person replied STOP (`reply`), the number gets only " +
    "messages of the type `otp`.",
);
export type OptOut = z.infer<typeof OptOut>;

export const LiftedOptOut = namedObject("LiftedOptOut", {
  phoneNumber: PhoneNumber,
  deleted: z.literal(true),
});
export type LiftedOptOut = z.infer<typeof LiftedOptOut>;
