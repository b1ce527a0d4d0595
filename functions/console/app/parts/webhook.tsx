import { EventName } from "../../../../shared/api/contract/events.ts";
import type { Webhook } from "../../../../shared/api/contract/webhooks.ts";
import type { FormState } from "./form-state.ts";
import { ChoiceField, TextField } from "./form.tsx";
import { Status } from "./status.tsx";
import { Time } from "./time.tsx";

const eventOptions = EventName.options.map((each) => [each, each] as const);

/** Why a webhook was disabled. */
const disabledReasons = {
  gone: "The endpoint responded with 410 Gone.",
  failing: "All deliveries failed for five days.",
  by_customer: "Disabled by you.",
  by_operator: "Disabled by the operator. Contact them for the reason.",
} as const;

/** The status of a webhook, with `failing` for failed deliveries. */
export function WebhookStatus({ webhook }: { webhook: Webhook }) {
  return <Status of={isFailing(webhook) ? "failing" : webhook.status} isTest={webhook.test} />;
}

/** Whether a webhook is enabled and its last delivery failed. */
export function isFailing({ status, failingSince }: Webhook): boolean {
  return status === "enabled" && failingSince !== undefined;
}

/** Why a webhook is disabled or failing; nothing when it is healthy. */
export function Health({ webhook }: { webhook: Webhook }) {
  const { disabledReason, failingSince, lastFailure } = webhook;
  if (disabledReason !== undefined) return <>{disabledReasons[disabledReason]}</>;
  if (failingSince === undefined || lastFailure === undefined) return null;
  return (
    <>
      Deliveries have failed since <Time at={failingSince} />. Last failure on <Time at={lastFailure.at} />:{" "}
      {lastFailure.error}.
    </>
  );
}

export type WebhookValues = Record<"url", string> & Record<"events", readonly string[]>;

/** Converts form values into the API's fields. */
export function webhookOf({ url, events }: WebhookValues): { url: string; events: EventName[] } {
  return { url: url.trim(), events: events.map((each) => EventName.parse(each)) };
}

export function WebhookFields({ form }: { form: FormState<WebhookValues> }) {
  return (
    <>
      <TextField
        field={form.field("url")}
        label="Endpoint URL"
        type="url"
        placeholder="https://shop.example/sms"
      />
      <ChoiceField field={form.field("events")} label="Events" options={eventOptions} />
    </>
  );
}
