import * as z from "zod/mini";

import type { CarrierSettings } from "./settings.ts";

/** A text without line breaks, so that it cannot end a header and begin another. */
const SecretText = z
  .string()
  .check(
    z.minLength(1),
    z.maxLength(2_000),
    z.regex(/^[\x20-\x7e]+$/, "must be printable ASCII characters in one line"),
  );

/** The facts about a kind of carrier, besides its settings and its calls. */
interface CarrierKind {
  readonly credentials: z.ZodMiniType<Record<string, string>>;
  /** The receipts that it sends over HTTP for a segment, with intermediate states. 0: it makes no calls, and has no credentials. */
  readonly receiptsPerSegment: number;
  /** Whether it signs its calls, with the credential `authToken`. */
  readonly signsCalls: boolean;
}

export const carrierKinds = {
  sandbox: { credentials: z.strictObject({}), receiptsPerSegment: 0, signsCalls: false },
  aws: { credentials: z.strictObject({}), receiptsPerSegment: 0, signsCalls: false },
  kannel: {
    credentials: z.strictObject({ username: SecretText, password: SecretText }),
    receiptsPerSegment: 1,
    signsCalls: false,
  },
  twilio: {
    credentials: z.strictObject({
      accountSid: SecretText.check(z.regex(/^[A-Za-z0-9]+$/, "must be letters and digits")),
      authToken: SecretText,
    }),
    receiptsPerSegment: 2,
    signsCalls: true,
  },
  http: {
    credentials: z.record(z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/)), SecretText),
    receiptsPerSegment: 2,
    signsCalls: false,
  },
} as const satisfies Record<CarrierSettings["kind"], CarrierKind>;
