import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import { EventName } from "../../../../shared/contract/events.ts";
import type { CreatedWebhook, Webhook } from "../../../../shared/contract/webhooks.ts";
import { api } from "../api.ts";
import { Secret } from "../parts/copy.tsx";
import { DialogButton } from "../parts/dialog.tsx";
import { DocsLink } from "../parts/docs-link.tsx";
import { Empty } from "../parts/empty.tsx";
import type { FormState } from "../parts/form-state.ts";
import { ChoiceField, Form, TextField, useForm } from "../parts/form.tsx";
import { usePages } from "../parts/load.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { PagedTable } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";

/** The events, as options to choose from. */
const eventOptions = EventName.options.map((each) => [each, each] as const);

/** Why the gateway no longer calls an endpoint. */
const disabledReasons = {
  gone: "The endpoint responded with 410 Gone.",
  failing: "All deliveries failed for five days.",
  by_customer: "Disabled by you.",
} as const;

/** Where the gateway calls when something happened. */
export function Webhooks(): JSX.Element {
  const webhooks = usePages(async (query) => api().listWebhooks({ query }), []);
  const created = useSignal<CreatedWebhook | undefined>(undefined);
  const add = (
    <DialogButton label="New webhook" look="primary">
      {(close) => (
        <NewWebhook
          onCreated={async (webhook) => {
            close();
            created.value = webhook;
            await webhooks.reload();
          }}
        />
      )}
    </DialogButton>
  );
  return (
    <Page
      title="Webhooks"
      lead="Receive events on your server, for example when a message is sent."
      actions={add}
    >
      {created.value === undefined ? null : (
        <Section title="Webhook created">
          <Secret key={created.value.id} label="Your signing secret." secret={created.value.secret} />
          <p>
            <a class="button" href={`#/webhooks/${created.value.id}`}>
              Test webhook
            </a>
          </p>
        </Section>
      )}
      <Section title="Webhooks">
        <PagedTable
          caption="Webhooks"
          pages={webhooks}
          keyOf={({ id }) => id}
          columns={[
            {
              title: "URL",
              show: ({ id, url }) => (
                <a class="break" href={`#/webhooks/${id}`}>
                  {url}
                </a>
              ),
            },
            {
              title: "Status",
              show: (webhook) => (
                <>
                  <WebhookStatus webhook={webhook} />{" "}
                  <span class="muted">
                    <Health webhook={webhook} />
                  </span>
                </>
              ),
            },
            { title: "Events", show: ({ events }) => events.join(", ") },
            { title: "Created", show: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
          empty={
            <Empty title="No webhooks yet">
              <p>Without a webhook, your server must poll for the status of each message.</p>
              <DocsLink>API reference</DocsLink>
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}

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

function NewWebhook({ onCreated }: { onCreated: (webhook: CreatedWebhook) => Promise<void> }): JSX.Element {
  const form = useForm(
    webhookValues({ url: "", events: ["message.sent", "message.failed"] }),
    async (values) => onCreated(await api().createWebhook({ body: webhookOf(values) })),
  );
  return (
    <Form form={form} action="Add webhook">
      <WebhookFields form={form} />
    </Form>
  );
}

/** What a form of a webhook begins with. */
export function webhookValues({ url, events }: { url: string; events: readonly string[] }) {
  return { url, events };
}

type WebhookValues = ReturnType<typeof webhookValues>;

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
