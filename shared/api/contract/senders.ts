import * as z from "zod/mini";

import { about } from "./about.ts";

export const SenderId = about(
  z
    .string()
    .check(z.maxLength(11, { abort: true }), z.regex(/^[A-Za-z0-9]+$/, "must be letters and digits only")),
  "The name that the message comes from: up to 11 letters and digits.",
);

/** A number that messages come from: as it was assigned, in international digits or as a short code. */
export const SenderNumber = about(
  z.string().check(
    z.regex(/^\+?[1-9]\d{2,14}$/, { error: "must be a number of 3 to 15 digits", abort: true }),
    z.overwrite((number) => number.replace(/^\+/, "")),
  ),
  "Your own number that the message comes from, in international digits or as a short code. The operator has assigned it " +
    "to your organization alone (`GET /v1/numbers`). People can reply to it. Not together with `senderId`.",
);
