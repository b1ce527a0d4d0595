import * as z from "zod/mini";

import { about } from "./about.ts";
import { DisplayStatus } from "./display-status.ts";
import { detailFilters } from "./message-details.ts";
import { PhoneNumberInQuery } from "./phone-numbers.ts";
import { BooleanParameter, idSchema, PageQuery, SearchText } from "./primitives.ts";
import { MessageStatus, Moment } from "./sms.ts";

export const MessagesQuery = z.safeExtend(PageQuery, {
  status: about(
    z.optional(MessageStatus),
    "Only messages in this state. With a filter, each call reads the next 1,000 messages, about 150 read units. Only `to` " +
      "and the end of a number in `search` have an index. `total` counts the matches among the messages read. A page may be " +
      "short or empty although `nextCursor` shows that more follow. `searchedBackTo` is how far back the call has searched.",
  ),
  displayStatus: z.optional(DisplayStatus),
  to: about(
    z.optional(PhoneNumberInQuery),
    "Only messages to this number. A day (UTC) is in an index about two hours after its end. A call reads the index, and " +
      "up to 10,000 messages of days that are not in it: at most 750 read units for these.",
  ),
  search: about(
    z.optional(SearchText),
    "With four digits or more, with any spaces, signs and leading zeros: only messages to numbers that end with them, " +
      "found as with `to`. With another text: only messages whose text contains it, in upper or lower case. Three digits " +
      "also find numbers that contain them.",
  ),
  after: about(
    z.optional(Moment),
    "Only messages that were accepted at this time or later. No earlier message is read.",
  ),
  before: about(
    z.optional(Moment),
    "Only messages that were accepted before this time. No later message is read.",
  ),
  campaignId: about(z.optional(idSchema("cmp")), "Only messages of this campaign."),
  batchId: about(z.optional(idSchema("bat")), "Only messages of this batch."),
  senderId: about(
    z.optional(z.string().check(z.minLength(1), z.maxLength(20))),
    "Only messages from this sender.",
  ),
  scheduled: about(
    z.optional(BooleanParameter),
    "With `true`, only messages that wait for their `scheduledAt`.",
  ),
  apiKeyId: about(z.optional(idSchema("key")), "Only messages that were sent with this API key."),
  ...detailFilters,
  test: about(
    z.optional(BooleanParameter),
    "With `true`, the list has test messages instead of live ones. A test key always gets test messages, and `total` " +
      "then counts as with a filter.",
  ),
});
export type MessagesQuery = z.infer<typeof MessagesQuery>;
