import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { MessageType, type AcceptedMessage, type Estimate } from "../../../../shared/contract/sms.ts";
import { api, messageOf } from "../api.ts";
import { has } from "../features.ts";
import { CheckField, Form, SelectField, TextArea, TextField, useForm } from "../parts/form.tsx";
import { useLoad, usePolling } from "../parts/load.tsx";
import { Preview, SegmentCount } from "../parts/message-text.tsx";
import { amountText, Money } from "../parts/money.tsx";
import { announce, Notice } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { isoOf, Time } from "../parts/time.tsx";
import { approvedSenderIds } from "../sender-ids.ts";
import { expiryChoices, given, phoneNumberOf, secondsOf } from "../typed.ts";

const messageTypes = [
  ["", "Not said"],
  ["transactional", "Transactional: an order, an appointment"],
  ["otp", "One-time code"],
  ["marketing", "Marketing: not sent to those who opted out"],
] as const;

const initial = {
  to: "",
  senderId: "",
  message: "",
  messageType: "",
  scheduledAt: "",
  expiresInSeconds: "",
  isUnicode: false,
};

export function Send(): JSX.Element {
  const senderIds = useLoad(approvedSenderIds, []);
  const accepted = useSignal<readonly AcceptedMessage[]>([]);
  const form = useForm(initial, async (values, attemptKey) => {
    const message = await api().sendSms({
      body: {
        to: phoneNumberOf(values.to),
        message: values.message,
        senderId: given(values.senderId),
        language: values.isUnicode ? "Unicode" : "English",
        messageType: MessageType.optional().parse(given(values.messageType)),
        scheduledAt: isoOf(values.scheduledAt),
        expiresInSeconds: secondsOf(values.expiresInSeconds),
      },
      idempotencyKey: attemptKey,
    });
    accepted.value = [message, ...accepted.value];
    // Who sends to several people changes little between them.
    form.set({ to: "", scheduledAt: "" });
    announce("The message was accepted.");
  });
  const { to, senderId, message, isUnicode, scheduledAt } = form.values.value;
  const approved = senderIds.data ?? [];
  return (
    <Page title="Send a message" lead="To one number. For many at once, there are campaigns.">
      <div class="columns">
        <div class="panel">
          <Form form={form} action={scheduledAt === "" ? "Send" : "Schedule"}>
            <TextField
              form={form}
              name="to"
              label="To"
              type="tel"
              autocomplete="off"
              placeholder="+1 500 555 0000"
              hint={`With the country code.${has("sandbox") ? " To try the sandbox: 15005550007 is sent, and delivered." : ""}`}
            />
            <TextField
              form={form}
              name="senderId"
              label="From"
              suggestions={approved.map((each) => each.senderId)}
              placeholder={approved[0]?.senderId ?? ""}
              hint={
                approved.length > 0
                  ? "Left empty, it comes from your default sender ID."
                  : "Up to 11 letters and digits. Have one approved under Sender IDs, and it may be left empty."
              }
            />
            <TextArea
              form={form}
              name="message"
              label="Message"
              rows={5}
              hint={<SegmentCount text={message} isUnicode={isUnicode} />}
            />
            <SelectField form={form} name="messageType" label="Kind" options={messageTypes} />
            <TextField
              form={form}
              name="scheduledAt"
              label="When (optional)"
              type="datetime-local"
              hint="In your time zone, up to 30 days ahead. Empty is now. It is paid for at once."
            />
            <SelectField
              form={form}
              name="expiresInSeconds"
              label="Expires after"
              options={expiryChoices}
              hint="A message that is not sent by then fails and is refunded. One-time codes expire by themselves."
            />
            <CheckField
              form={form}
              name="isUnicode"
              label="Send as Unicode in any case"
              apiName="language"
              hint="By itself that happens only where a character needs it, for it takes more segments."
            />
          </Form>
        </div>
        <div>
          <Section title="How it looks and what it costs">
            <Preview sender={given(senderId) ?? approved[0]?.senderId ?? ""} text={message} />
            <Price to={phoneNumberOf(to)} message={message} isUnicode={isUnicode} />
          </Section>
          {accepted.value.length === 0 ? null : (
            <Section title="Accepted just now">
              <ul class="plain-list">
                {accepted.value.map((each) => (
                  <li key={each.id}>
                    <Sent message={each} />
                  </li>
                ))}
              </ul>
            </Section>
          )}
        </div>
      </div>
    </Page>
  );
}

const estimateDelayMs = 300;

/** What a message costs, asked of the gateway when the person stops typing. */
function Price({ to, message, isUnicode }: { to: string; message: string; isUnicode: boolean }): JSX.Element {
  const estimate = useSignal<Estimate | string | undefined>(undefined);
  useEffect(() => {
    estimate.value = undefined;
    if (!/^\d{7,15}$/.test(to) || message === "") return undefined;
    let isWanted = true;
    const timer = setTimeout(() => {
      const language = isUnicode ? "Unicode" : "English";
      api()
        .estimateSms({ body: { to, message, language } })
        .then(
          (answer) => isWanted && (estimate.value = answer),
          (error: unknown) => isWanted && (estimate.value = messageOf(error)),
        );
    }, estimateDelayMs);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [to, message, isUnicode]);
  const { value } = estimate;
  if (value === undefined) return <p class="muted">The price appears when there is a number and a text.</p>;
  if (typeof value === "string") return <Notice tone="bad">{value}</Notice>;
  const { pricing, balance, isCovered } = value;
  return (
    <div class="price" aria-live="polite">
      <p>
        <strong>
          <Money amount={pricing.total} />
        </strong>{" "}
        <span class="muted">
          ({pricing.segments} × {amountText(pricing.unitPrice)})
        </span>
      </p>
      {isCovered ? (
        <p class="muted">Balance: {amountText(balance)}</p>
      ) : (
        <Notice tone="bad">
          The balance of {amountText(balance)} does not cover it.{" "}
          <a href="#/wallet">{has("top-up") ? "Top up the wallet" : "Look at the wallet"}</a>
        </Notice>
      )}
    </div>
  );
}

/** A message that was accepted, watched until it comes to its end. */
function Sent({ message }: { message: AcceptedMessage }): JSX.Element {
  const load = useLoad(async () => api().getSms({ params: { id: message.id } }), [message.id]);
  const status = load.data?.status ?? message.status;
  usePolling(status === "queued" && message.scheduledAt === undefined, load.reload, 1_000);
  return (
    <>
      <a href={`#/messages/${message.id}`}>+{message.to}</a>{" "}
      <Status of={message.scheduledAt !== undefined && status === "queued" ? "scheduled" : status} />{" "}
      {message.scheduledAt === undefined ? null : <Time at={message.scheduledAt} />}{" "}
      <Money amount={message.pricing.total} />
    </>
  );
}
