import type { JSX } from "preact";

import { EventName } from "../../../../shared/contract/events.ts";
import type { Webhook } from "../../../../shared/contract/webhooks.ts";
import type { FormState } from "./form-state.ts";
import { ChoiceField, TextField } from "./form.tsx";
import { Status } from "./status.tsx";
import { Time } from "./time.tsx";

/** The events, as options to choose from. */
const eventOptions = EventName.options.map((each) => [each, each] as const);

/** Why the gateway no longer calls an endpoint. */
const disabledReasons = {
  gone: "The endpoint responded with 410 Gone.",
  failing: "All deliveries failed for five days.",
  by_customer: "Disabled by you.",
} as const;

/** Whether an endpoint is called, and whether its calls succeed. */
export function WebhookStatus({ webhook }: { webhook: Webhook }): JSX.Element {
  return <Status of={isFailing(webhook) ? "failing" : webhook.status} />;
}

/** Whether an endpoint is called, and its last call failed. */
export function isFailing({ status, failingSince }: Webhook): boolean {
  return status === "enabled" && failingSince !== undefined;
}

/** Why an endpoint is no longer called, or what is wrong with its calls; nothing while all is well. */
export function Health({ webhook }: { webhook: Webhook }): JSX.Element | null {
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

/** The values of a webhook form. */
export type WebhookValues = Record<"url", string> & Record<"events", readonly string[]>;

/** What the API takes for the values of a form. */
export function webhookOf({ url, events }: WebhookValues): { url: string; events: EventName[] } {
  return { url: url.trim(), events: events.map((each) => EventName.parse(each)) };
}

/** The fields of a webhook. */
export function WebhookFields({ form }: { form: FormState<WebhookValues> }): JSX.Element {
  return (
    <>
      <TextField
        form={form}
        name="url"
        label="Endpoint URL"
        type="url"
        placeholder="https://shop.example/sms"
      />
      <ChoiceField form={form} name="events" legend="Events" options={eventOptions} />
    </>
  );
}
