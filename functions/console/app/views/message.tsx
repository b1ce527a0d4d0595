import type { ComponentChildren } from "preact";

import {
  attemptNames,
  deliveryFailures,
  failureAdvice,
  failureOf,
  failureReasons,
  stateTexts,
  waitingText,
} from "../../../../shared/api/contract/failures.ts";
import type { Message as MessageOf } from "../../../../shared/api/contract/sms.ts";
import { api } from "../api.ts";
import { otherActions, repeated } from "../failures.ts";
import { JsonDetails } from "../parts/copy.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Loaded, useLoad, usePolling } from "../parts/load.tsx";
import { Preview } from "../parts/message-text.tsx";
import { amountText, Money } from "../parts/money.tsx";
import { Notice } from "../parts/notice.tsx";
import { Facts, LinkButton, Page, Section } from "../parts/page.tsx";
import { numberText } from "../parts/phone.tsx";
import { isScheduled, MessageState } from "../parts/status.tsx";
import { Clamped } from "../parts/table.tsx";
import { optionalTime, Time } from "../parts/time.tsx";
import { linkBack, linkTo, type ViewProps } from "../router.ts";

/** One message: its timeline, price and text. */
export function Message({ id }: ViewProps) {
  const load = useLoad(async () => api().getSms({ params: { id } }), [id]);
  const message = load.data;
  const isUnderWay = message?.status === "queued" || message?.delivery?.status === "pending";
  usePolling(isUnderWay, load.reload, message?.status === "queued" ? 2_000 : 5_000);
  return (
    <Page
      title={message === undefined ? "Message" : `Message to ${numberText(message.to)}`}
      back={[linkBack("messages"), "Messages"]}
      actions={
        message !== undefined && isScheduled(message) ? (
          <ConfirmButton
            look="plain"
            label="Cancel message"
            question="Cancel this message?"
            consequence={
              message.test === true
                ? "The test message is not sent."
                : `The message is not sent, and ${amountText(message.pricing.total)} is refunded to your wallet.`
            }
            act={async () => load.replace(await api().cancelSms({ params: { id } }))}
            success="Message cancelled."
          />
        ) : null
      }
    >
      <Loaded load={load}>{(shown) => <Details message={shown} />}</Loaded>
    </Page>
  );
}

function Details({ message }: { message: MessageOf }) {
  const { status, pricing, campaignId, messageType, test } = message;
  return (
    <div class="columns">
      <div>
        <Section title="Status">
          <MessageState message={message} />
          <Failure message={message} />
          <ol class="timeline">
            {stepsOf(message).map(({ name, at = "", note }) => (
              <li key={`${name} ${at}`}>
                <strong>{name}</strong> {at === "" ? null : <Time at={at} />}
                {note === undefined ? null : <div class="muted">{note}</div>}
              </li>
            ))}
          </ol>
        </Section>
        {test === true ? null : (
          <Section title="Price">
            <Facts
              of={{
                Price: <Money amount={pricing.total} />,
                Segments: `${pricing.segments} × ${amountText(pricing.unitPrice)}`,
                Refunded:
                  status === "failed" || status === "cancelled" ? (
                    <Money amount={pricing.total} />
                  ) : undefined,
              }}
            />
            <p>
              <a href="#/wallet">View ledger</a>
            </p>
          </Section>
        )}
      </div>
      <Section title="Message">
        <Preview sender={message.senderId} text={message.message} />
        <Facts
          of={{
            To: message.to,
            From: message.senderId,
            Type: messageType,
            Encoding: message.encoding,
            Expires: optionalTime(message.expiresAt),
            Campaign: campaignId === undefined ? undefined : <CampaignLink id={campaignId} />,
            Reference: message.reference,
            Metadata: message.metadata && <JsonDetails value={message.metadata} label="Metadata" />,
            "Callback URL": message.callbackUrl,
            ID: <code>{message.id}</code>,
          }}
        />
      </Section>
    </div>
  );
}

function CampaignLink({ id }: { id: string }) {
  const { data } = useLoad(async () => api().getCampaign({ params: { id } }), [id]);
  return <Clamped href={`#/campaigns/${id}`}>{data?.name ?? id}</Clamped>;
}

/** Why a message did not arrive, and the way on. */
function Failure({ message }: { message: MessageOf }) {
  const code = failureOf(message);
  if (code === undefined) return null;
  const again = [linkTo("send", { again: message.id }), "Send again"] as const;
  const links = (otherActions[code] ?? ["again"]).map((action) => (action === "again" ? again : action));
  return (
    <>
      <Notice tone="bad">
        <strong>{failureReasons[code]}</strong> <code>{code}</code>
        <p>{failureAdvice[code]}</p>
      </Notice>
      <div class="row">
        {links
          .filter((link) => link !== again || repeated(message).to !== "")
          .map(([href, label]) => (
            <LinkButton key={href} href={href} label={label} />
          ))}
      </div>
    </>
  );
}

interface Step {
  readonly name: string;
  readonly at?: string | undefined;
  readonly note?: ComponentChildren;
}

function stepsOf(message: MessageOf): Step[] {
  const { status, pricing, queuedAt, scheduledAt, attempts = [], sentAt, delivery } = message;
  const { failedAt, cancelledAt } = message;
  const price = amountText(pricing.total);
  const charged = message.test === true ? "Free test message" : `${price} charged`;
  const refunded = message.test === true ? undefined : `${price} refunded to the wallet`;
  const steps: readonly (Step | false)[] = [
    { name: "Accepted", at: queuedAt, note: charged },
    scheduledAt !== undefined && {
      name: isScheduled(message) ? stateTexts.scheduled : "Due",
      at: scheduledAt,
    },
    ...attempts.map(({ outcome, at }) => outcome !== "accepted" && { name: attemptNames[outcome], at }),
    sentAt !== undefined && { name: "Sent", at: sentAt, note: "Submitted to the carrier" },
    delivery !== undefined && deliveryStep(delivery),
    failedAt !== undefined && { name: "Failed", at: failedAt, note: refunded },
    cancelledAt !== undefined && { name: stateTexts.cancelled, at: cancelledAt, note: refunded },
    status === "queued" && !isScheduled(message) && { name: waitingText(message) },
  ];
  return steps.filter((step) => step !== false);
}

function deliveryStep({ status, at, errorCode }: NonNullable<MessageOf["delivery"]>): Step {
  if (status === "delivered") return { name: "Delivered", at, note: stateTexts.delivered };
  if (status === "pending") return { name: stateTexts.pending };
  if (status === "unknown") return { name: "No receipt", at, note: stateTexts.unknown };
  return {
    name: "Not delivered",
    at,
    note: errorCode === undefined ? undefined : deliveryFailures[errorCode],
  };
}
