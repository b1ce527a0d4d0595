import * as z from "zod/mini";

import { about, namedObject, withExample } from "./about.ts";

/** Your own once more: whatever it was when it was set. */
export const OwnPassword = about(z.string().check(z.maxLength(1_000)), "Your password, once more.");

/** A code as people type it: with spaces, with or without hyphens, in upper or lower case. */
export const SecondFactorCode = about(
  z.string().check(z.maxLength(100)),
  "The six digits that your app shows, or one of your recovery codes. Each works once.",
);

export const StartTotpRequest = withExample(namedObject("StartTotpRequest", { password: OwnPassword }), {
  password: "correct horse",
});
export type StartTotpRequest = z.infer<typeof StartTotpRequest>;

export const StartedTotp = namedObject("StartedTotp", {
  enabled: z.literal(false),
  secret: about(z.string(), "For your app, in base32. Shown this once."),
  uri: about(z.string(), "The same for a QR code: an `otpauth:` address."),
});
export type StartedTotp = z.infer<typeof StartedTotp>;

export const ConfirmTotpRequest = withExample(
  namedObject("ConfirmTotpRequest", {
    code: about(z.string().check(z.maxLength(100)), "The six digits that your app shows."),
  }),
  { code: "123456" },
);
export type ConfirmTotpRequest = z.infer<typeof ConfirmTotpRequest>;

export const ConfirmedTotp = namedObject("ConfirmedTotp", {
  enabled: z.literal(true),
  recoveryCodes: about(
    z.array(z.string()),
    "For the day when the app is lost: each lets you in once. Shown this once.",
  ),
});
export type ConfirmedTotp = z.infer<typeof ConfirmedTotp>;

export const DeleteTotpRequest = withExample(
  namedObject("DeleteTotpRequest", { password: OwnPassword, code: SecondFactorCode }),
  { password: "correct horse", code: "K7QX-2MZD-A4TB-W3NE-5HJP-Q6YC" },
);
export type DeleteTotpRequest = z.infer<typeof DeleteTotpRequest>;

export const DeletedTotp = namedObject("DeletedTotp", { enabled: z.literal(false) });
export type DeletedTotp = z.infer<typeof DeletedTotp>;
