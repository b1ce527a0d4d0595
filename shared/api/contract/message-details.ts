import * as z from "zod/mini";

import { about } from "./about.ts";
import { EndpointUrl, text } from "./primitives.ts";

/*
 * The fields of a send that are the customer's own. A message returns them, and so do its events, its exports and its lists.
 */

const maxPairs = 20;
const maxValueLength = 200;
const nameOfPair = "[A-Za-z0-9_.-]{1,40}";

const Metadata = z
  .record(
    z
      .string()
      .check(
        z.regex(
          new RegExp(`^${nameOfPair}$`),
          "must be 1 to 40 letters, digits, underscores, dots and hyphens",
        ),
      ),
    text(maxValueLength),
  )
  .check(z.refine((pairs) => Object.keys(pairs).length <= maxPairs, `must have at most ${maxPairs} entries`))
  .register(z.globalRegistry, {
    maxProperties: maxPairs,
    description: "Your own values, at most 20 by their names.",
  });

const Reference = text(64).check(z.minLength(1, "must not be empty"));

/** The fields as a request has them: a send, and each message of several. */
export const messageDetails = {
  reference: about(
    z.optional(Reference),
    "Your own name for the message, such as an order number. It need not be unique.",
  ),
  metadata: z.optional(Metadata),
  callbackUrl: about(
    z.optional(EndpointUrl),
    "An https endpoint of yours that gets the events of this message, in addition to your webhooks.",
  ),
};

/** The fields as an item and a response have them: absent if the request had none, or an erasure removed them. */
export const storedDetails = {
  reference: z.optional(z.string()),
  metadata: z.optional(z.record(z.string(), z.string())),
  callbackUrl: z.optional(z.string()),
};

export type MessageDetails = z.infer<z.ZodMiniObject<typeof storedDetails>>;

/** The filters of a list of messages by these fields. */
export const detailFilters = {
  reference: about(z.optional(Reference), "Only messages with this reference."),
  metadata: about(
    z.optional(
      text(241).check(
        z.regex(new RegExp(`^${nameOfPair}:`), "must be a name and its value, such as order:1001"),
      ),
    ),
    "Only messages whose metadata has this name and value, such as `order:1001`.",
  ),
};

/** Returns these fields of a message, or of its request. */
export function detailsOf({ reference, metadata, callbackUrl }: MessageDetails): MessageDetails {
  return { reference, metadata, callbackUrl };
}
