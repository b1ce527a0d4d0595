import * as z from "zod/mini";

import { about, namedEnum, namedObject } from "./about.ts";
import { Tag } from "./contacts.ts";
import {
  Currency,
  idSchema,
  integerParameter,
  PageQuery,
  text,
  Timestamp,
  maxVersion,
  Version,
} from "./primitives.ts";
import { ExpiresInSeconds, Language, MessageType, SendSmsRequest } from "./sms.ts";
import { notNull } from "./validation.ts";

const audienceRule =
  'must be an object such as {"all": true}, {"tags": ["customers"]} or {"contactIds": ["con_…"]}';

const Audience = z
  .strictObject(
    {
      contactIds: about(
        z.optional(z.array(idSchema("con")).check(z.minLength(1), z.maxLength(1_000))),
        "These contacts, each once.",
      ),
      tags: about(
        z.optional(z.array(Tag).check(z.minLength(1), z.maxLength(20))),
        "The contacts that have at least one of these tags.",
      ),
      all: about(z.optional(z.literal(true)), "`true`: all contacts."),
    },
    { error: ({ code }) => (code === "invalid_type" ? audienceRule : undefined) },
  )
  .check(
    z.refine(
      ({ contactIds, tags, all }) =>
        [contactIds, tags, all].filter((each) => each !== undefined).length === 1,
      "must have exactly one of contactIds, tags and all",
    ),
  )
  .register(z.globalRegistry, {
    description:
      "The recipients, selected in exactly one way. Contacts that have opted out are always left out.",
    minProperties: 1,
    maxProperties: 1,
  });
export type Audience = z.infer<typeof Audience>;

export const CreateCampaignRequest = z
  .strictObject({
    name: text(100).check(z.minLength(1, "must not be empty")),
    message: about(
      z.optional(SendSmsRequest.shape.message),
      "The text, up to 1,600 characters, which may have placeholders like a template. Either this or `templateId`.",
    ),
    templateId: about(z.optional(idSchema("tpl")), "A template whose text is taken as it is now."),
    audience: Audience,
    senderId: SendSmsRequest.shape.senderId,
    from: SendSmsRequest.shape.from,
    language: z._default(Language, "English"),
    messageType: about(
      z._default(MessageType, "marketing"),
      "The type of the messages. A campaign is handled as marketing whatever its type.",
    ),
    scheduledAt: about(
      SendSmsRequest.shape.scheduledAt.clone(),
      "When to begin to send, up to 30 days ahead. Without it the campaign is a draft until it is launched.",
    ),
    expiresInSeconds: about(
      notNull(z.optional(ExpiresInSeconds)),
      "How long each message is valid: from 60 seconds to 72 hours after the campaign accepted it. After that it is " +
        "not submitted to a carrier; it fails with `MESSAGE_EXPIRED` and is refunded.",
    ),
  })
  .check(
    z.refine(({ message, templateId }) => (message === undefined) !== (templateId === undefined), {
      path: ["message"],
      error: "must be given, or else templateId, and not both",
    }),
  )
  .register(z.globalRegistry, {
    id: "CreateCampaignRequest",
    examples: [
      {
        name: "Autumn sale",
        message: "Hello {{firstName}}, the sale begins tomorrow.",
        audience: { tags: ["customers"] },
        senderId: "ADASHOP",
      },
    ],
  });
export type CreateCampaignRequest = z.infer<typeof CreateCampaignRequest>;

const created = CreateCampaignRequest.shape;

export const UpdateCampaignRequest = z
  .strictObject({
    name: z.optional(created.name),
    message: created.message,
    templateId: created.templateId,
    audience: z.optional(Audience),
    senderId: created.senderId,
    from: created.from,
    language: z.optional(Language),
    messageType: z.optional(MessageType),
    expiresInSeconds: z.optional(z.nullable(ExpiresInSeconds)),
    version: z.optional(Version),
  })
  .check(
    z.refine(({ message, templateId }) => message === undefined || templateId === undefined, {
      path: ["message"],
      error: "must not be given together with templateId",
    }),
  )
  .register(z.globalRegistry, {
    id: "UpdateCampaignRequest",
    description: "Fields that are not there stay as they are. `null` clears `expiresInSeconds`.",
    examples: [{ name: "Winter sale", audience: { tags: ["customers", "friends"] } }],
  });
export type UpdateCampaignRequest = z.infer<typeof UpdateCampaignRequest>;

export const CampaignStatus = about(
  namedEnum("CampaignStatus", [
    "draft",
    "scheduled",
    "sending",
    "paused",
    "completed",
    "cancelled",
    "failed",
  ]),
  "`draft` until it is launched, `scheduled` until its time, `sending` until all its messages are final, then " +
    "`completed`. `paused`, `cancelled` and `failed` campaigns accept no more messages; messages that were already " +
    "accepted are still sent. `paused` and `failed` campaigns can continue.",
);

export const CampaignErrorCode = about(
  namedEnum("CampaignErrorCode", [
    "INSUFFICIENT_BALANCE",
    "WALLET_MISSING",
    "ORGANIZATION_SUSPENDED",
    "SENDING_PAUSED",
    "EMAIL_NOT_VERIFIED",
    "KYC_REQUIRED",
    "SENDER_ID_NOT_APPROVED",
  ]),
  "Why a campaign failed. When it is launched again, it continues after the last contact that it reached.",
);
export type CampaignErrorCode = z.infer<typeof CampaignErrorCode>;

const CampaignProgress = namedObject("CampaignProgress", {
  accepted: about(
    z.int(),
    "Messages that were accepted and paid so far; the other counts of messages are of these.",
  ),
  queued: z.int(),
  sent: z.int(),
  failed: z.int(),
  delivered: about(z.int(), "Those that their phones got, as receipts say."),
  undelivered: about(z.int(), "Those that were sent and that their phones did not get."),
  receiptRate: about(
    z.nullable(z.number().check(z.gte(0), z.lte(1))),
    "The share of the delivered among those that were delivered or not; null while there are none.",
  ),
  skipped: about(
    z.object({
      optedOut: z.int(),
      unrenderable: about(
        z.int(),
        "A placeholder of the text has no value for them, or their text became too long.",
      ),
      unknown: about(z.int(), "Contacts of `contactIds` that do not exist."),
      destinationNotAllowed: about(
        z.optional(z.int()),
        "No messages are sent to numbers like theirs from here. Absent where there are none.",
      ),
      destinationNotPriced: about(
        z.optional(z.int()),
        "There is no price for numbers like theirs. Absent where there are none.",
      ),
      recipientRateExceeded: about(
        z.optional(z.int()),
        "Their numbers have got as much marketing of yours as they may get in a day. Absent where there are none.",
      ),
      senderNotAllowed: about(
        z.optional(z.int()),
        "Networks of their countries accept no letters as the sender. Absent where there are none.",
      ),
    }),
    "Contacts that got no message.",
  ),
  charged: about(
    z.number(),
    "The total price of the accepted messages. Refunds for failed messages are not subtracted.",
  ),
  currency: Currency,
});

export const CampaignParams = z.object({ id: idSchema("cmp") });

export const LaunchQuery = z.strictObject({
  version: about(
    z.optional(integerParameter(0, maxVersion)),
    "The `version` of the draft as you saw it. Another one is rejected with `CONFLICT`.",
  ),
});

export const Campaign = namedObject("Campaign", {
  id: idSchema("cmp"),
  name: z.string(),
  status: CampaignStatus,
  errorCode: z.optional(CampaignErrorCode),
  message: z.string(),
  templateId: z.optional(idSchema("tpl")),
  audience: z.object({
    contactIds: z.optional(z.array(idSchema("con"))),
    tags: z.optional(z.array(z.string())),
    all: z.optional(z.literal(true)),
  }),
  senderId: z.string(),
  from: z.optional(z.string()),
  language: Language,
  messageType: MessageType,
  expiresInSeconds: z.optional(ExpiresInSeconds),
  progress: CampaignProgress,
  version: Version,
  createdAt: Timestamp,
  scheduledAt: z.optional(Timestamp),
  startedAt: z.optional(Timestamp),
  waitsUntil: about(
    z.optional(Timestamp),
    "Present while the daily spend cap, or the operator's daily limit for a destination, pauses the campaign. It " +
      "continues by itself at this time, or within 15 minutes after the limit is raised.",
  ),
  endedAt: z.optional(Timestamp),
});
export type Campaign = z.infer<typeof Campaign>;

export const DeletedCampaign = namedObject("DeletedCampaign", {
  id: idSchema("cmp"),
  deleted: z.literal(true),
});

const RecipientStatus = about(
  namedEnum("RecipientStatus", ["pending", "delivered", "undelivered", "failed", "skipped"]),
  "`pending` while the message is queued, and once it was sent until a delivery receipt arrives.",
);

export const RecipientOutcome = about(
  namedEnum("RecipientOutcome", [...RecipientStatus.options, "replied", "opted_out"]),
  "`replied` and `opted_out` are of inbound messages within 7 days after the message: any but STOP, and STOP without a " +
    "later START. The first 5,000 inbound messages after the start of the campaign are examined.",
);
export type RecipientOutcome = z.infer<typeof RecipientOutcome>;

export const RecipientsQuery = z.safeExtend(PageQuery, {
  outcome: about(
    z.optional(RecipientOutcome),
    "Only people with this outcome. Without it, the list has all people who have a message of the campaign. Except for " +
      "`skipped`, each call reads the next 1,000 messages since the start of the campaign, and `total` counts the matches " +
      "among them. A page may be short or empty although `nextCursor` shows that more follow.",
  ),
});
export type RecipientsQuery = z.infer<typeof RecipientsQuery>;

export const CampaignRecipient = about(
  namedObject("CampaignRecipient", {
    number: z.optional(z.string()),
    name: z.optional(z.string()),
    contactId: z.optional(idSchema("con")),
    status: RecipientStatus,
    reason: about(
      z.optional(z.string()),
      "The `errorCode` of a failed message, or of the delivery of an undelivered one. For a skipped contact, the name of " +
        "its count in `progress.skipped`.",
    ),
    messageId: z.optional(idSchema("msg")),
    reply: z.optional(z.string()),
  }),
  "`name` and `contactId` are of the contact that has the number now. The `number` is `[removed]` once it was erased, " +
    "and absent if a skipped contact was deleted. `reply` is the newest text of a person who replied or opted out.",
);
export type CampaignRecipient = z.infer<typeof CampaignRecipient>;
