import { useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import * as z from "zod/mini";

import type { Estimate } from "../../../../shared/api/contract/estimates.ts";
import { MessageType, type AcceptedMessage } from "../../../../shared/api/contract/sms.ts";
import { placeholdersOf } from "../../../../shared/audience/templates/render.ts";
import { api } from "../api.ts";
import { repeated } from "../failures.ts";
import { fundsLink, has } from "../features.ts";
import { contactsNamed, nameOf } from "../parts/contact-fields.tsx";
import { DocsLink } from "../parts/docs-link.tsx";
import { CheckField, Form, SelectField, TextArea, TextField, useForm } from "../parts/form.tsx";
import { useLoad, usePolling } from "../parts/load.tsx";
import { MessageTypeField, Preview, SegmentCount } from "../parts/message-text.tsx";
import { amountText, Money } from "../parts/money.tsx";
import { announce, Notice, Problem } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { numberText, PhoneField } from "../parts/phone.tsx";
import { Status } from "../parts/status.tsx";
import { TemplatePicker } from "../parts/template-picker.tsx";
import { isoOf, Time } from "../parts/time.tsx";
import { fieldProblems, messageOf } from "../problems.ts";
import type { ViewProps } from "../router.ts";
import { expiryChoices, given, numberIn, phoneCountry, secondsOf, senderIn, typedForm } from "../typed.ts";
import { usableSenders } from "../usable-senders.ts";

const initial = {
  to: "",
  senderId: "",
  message: "",
  messageType: "",
  scheduledAt: "",
  expiresInSeconds: "",
  isUnicode: false,
  isTest: false,
};

/** The test number whose messages are delivered. */
const deliveredNumber = "15005550007";

export function Send({ query }: ViewProps) {
  const senders = useLoad(usableSenders, []);
  const accepted = useSignal<readonly AcceptedMessage[]>([]);
  const results = useRef<HTMLUListElement>(null);
  const send = async (values: typeof initial, attemptKey: string): Promise<void> => {
    const message = await api().sendSms({
      body: {
        to: await numberIn(values.to),
        message: values.message,
        ...senderIn(values.senderId),
        language: values.isUnicode ? "Unicode" : "English",
        messageType: z.optional(MessageType).parse(given(values.messageType)),
        scheduledAt: isoOf(values.scheduledAt),
        expiresInSeconds: secondsOf(values.expiresInSeconds),
        ...(values.isTest ? { test: true } : {}),
      },
      idempotencyKey: attemptKey,
    });
    accepted.value = [message, ...accepted.value];
    // The next message to another person is often similar.
    form.set({ to: "", scheduledAt: "" });
    announce(message.test === true ? "Test message accepted." : "Message accepted.");
  };
  const form = useForm(initial, send, { draft: "message" });
  const recipient = query.get("to");
  useEffect(() => {
    if (recipient !== null) form.set({ to: typedForm(recipient) });
  }, [recipient]);
  const [text, sender] = [query.get("message"), query.get("from") ?? ""];
  useEffect(() => {
    if (text !== null) form.set({ message: text, senderId: sender });
  }, [text, sender]);
  const again = query.get("again") ?? "";
  const original = useLoad(
    async () => (again === "" ? undefined : api().getSms({ params: { id: again } })),
    [again],
  );
  useEffect(() => {
    if (original.data !== undefined) form.set(repeated(original.data));
  }, [original.data]);
  const wantsTest = query.get("test") === "true";
  useEffect(() => {
    if (wantsTest) form.set({ isTest: true, to: form.values.peek().to || typedForm(deliveredNumber) });
  }, [wantsTest]);
  const newest = accepted.value[0]?.id;
  useEffect(() => {
    if (newest !== undefined) results.current?.querySelector("a")?.focus();
  }, [newest]);
  const { to, senderId, message, isUnicode, isTest, scheduledAt } = form.values.value;
  const usable = senders.data ?? [];
  const contacts = useContactsLike(to);
  return (
    <Page
      title="Send a message"
      lead={
        <>
          Send to one number. To reach many people, create a <a href="#/campaigns/new">campaign</a>.
        </>
      }
    >
      {original.error === undefined ? null : <Problem error={original.error} />}
      <div class="columns">
        <div class="panel">
          <Form
            form={form}
            action={`${scheduledAt === "" ? "Send" : "Schedule"}${isTest ? " test message" : ""}`}
          >
            <CheckField
              field={form.field("isTest", "test")}
              label="Test message (free)"
              hint={
                <>
                  No phone receives it. It needs no funds and no approval.{" "}
                  <DocsLink page="guides/test-numbers">Test numbers</DocsLink>
                </>
              }
            />
            <PhoneField
              field={form.field("to")}
              label="To"
              suggestions={contacts}
              hint={`A phone number, or a contact’s name.${isTest || has("sandbox") ? ` The test number ${numberText(deliveredNumber)} is always delivered.` : ""}`}
            />
            <TextField
              field={form.field("senderId")}
              label="From"
              suggestions={usable.map((each) => [each])}
              placeholder={usable[0] ?? ""}
              hint={
                usable.length > 0 || isTest
                  ? `Leave empty to use ${usable.length > 0 ? "your default sender ID, or enter a number of yours" : "TEST"}.`
                  : "Up to 11 letters and digits, for example your business name."
              }
            />
            <TemplatePicker onPick={(body) => form.set({ message: body })} />
            <TextArea
              field={form.field("message")}
              label="Message"
              rows={5}
              hint={<SegmentCount text={message} isUnicode={isUnicode} />}
            />
            {placeholdersOf(message).length === 0 ? null : (
              <Notice tone="info">
                Placeholders are sent as they are. Replace them, or send the text from{" "}
                <a href="#/templates">Templates</a>.
              </Notice>
            )}
            <MessageTypeField field={form.field("messageType")} />
            <TextField
              field={form.field("scheduledAt")}
              label="Send later (optional)"
              type="datetime-local"
              hint={`Your local time, up to 30 days ahead.${isTest ? "" : " You are charged when you schedule the message."}`}
            />
            <SelectField
              field={form.field("expiresInSeconds")}
              label="Expires after"
              options={expiryChoices}
              hint="A message not sent by then fails and is refunded. The default depends on the message type."
            />
            <CheckField
              field={form.field("isUnicode", "language")}
              label="Always send as Unicode"
              hint="By default, Unicode is used only when needed, because it takes more segments."
            />
          </Form>
        </div>
        <div>
          <Section title="Preview and price">
            <Preview sender={given(senderId) ?? usable[0] ?? ""} text={message} />
            {isTest ? (
              <p>A test message is free.</p>
            ) : (
              <Price number={to} sender={senderId} message={message} isUnicode={isUnicode} />
            )}
          </Section>
          {accepted.value.length === 0 ? null : (
            <Section title="Just sent">
              <ul class="plain-list" ref={results}>
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

const typingDelayMs = 300;

/** The contacts whose name has what a person types, requested when the person stops typing. */
function useContactsLike(typed: string) {
  const [search, setSearch] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed.trim()), typingDelayMs);
    return () => clearTimeout(timer);
  }, [typed]);
  const { data } = useLoad(async () => contactsNamed(search), [search]);
  return data?.map((contact) => [typedForm(contact.phoneNumber), nameOf(contact)] as const) ?? [];
}

/** The price of the message, requested when the person stops typing. */
function Price({
  number,
  sender,
  message,
  isUnicode,
}: Record<"message" | "number" | "sender", string> & { isUnicode: boolean }) {
  const estimate = useSignal<Estimate | string | undefined>(undefined);
  useEffect(() => {
    estimate.value = undefined;
    if (number === "" || message === "") return undefined;
    let isWanted = true;
    const timer = setTimeout(() => {
      const language = isUnicode ? "Unicode" : "English";
      numberIn(number)
        .then(async (to) => api().estimateSms({ body: { to, message, language, ...senderIn(sender) } }))
        .then(
          (answer) => isWanted && (estimate.value = answer),
          // The fields show their own errors on submit.
          (error: unknown) =>
            isWanted && fieldProblems(error).length === 0 && (estimate.value = messageOf(error)),
        );
    }, typingDelayMs);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [number, phoneCountry.value, sender, message, isUnicode]);
  const { value } = estimate;
  if (value === undefined) return <p class="muted">Enter a number and a message to see the price.</p>;
  if (typeof value === "string") return <Notice tone="bad">{value}</Notice>;
  const { pricing, balance, isCovered, senderRule } = value;
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
          Your balance of {amountText(balance)} is too low for this message.{" "}
          <a href={fundsLink[0]}>{fundsLink[1]}</a>
        </Notice>
      )}
      {senderRule === undefined || senderRule.alpha === "yes" ? null : (
        <Notice tone={senderRule.alpha === "never" ? "bad" : "info"}>{senderRule.rule}</Notice>
      )}
    </div>
  );
}

/** An accepted message, polled until it is sent or failed. */
function Sent({ message }: { message: AcceptedMessage }) {
  const load = useLoad(async () => api().getSms({ params: { id: message.id } }), [message.id]);
  const status = load.data?.status ?? message.status;
  usePolling(status === "queued" && message.scheduledAt === undefined, load.reload, 1_000);
  return (
    <>
      <a href={`#/messages/${message.id}`}>{numberText(message.to)}</a>{" "}
      <Status of={message.scheduledAt !== undefined && status === "queued" ? "scheduled" : status} />{" "}
      {message.scheduledAt === undefined ? null : <Time at={message.scheduledAt} />}{" "}
      {message.test === true ? "Free test message" : <Money amount={message.pricing.total} />}
    </>
  );
}
