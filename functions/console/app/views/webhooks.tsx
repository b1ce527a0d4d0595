import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import { EventName, type CreatedWebhook } from "../../../../shared/contract/webhooks.ts";
import { api } from "../api.ts";
import { Secret } from "../parts/copy.tsx";
import { DocsLink } from "../parts/docs-link.tsx";
import { Empty } from "../parts/empty.tsx";
import { ChoiceField, Form, TextField, useForm } from "../parts/form.tsx";
import { usePages } from "../parts/load.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { PagedTable } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";

/** The events, as options to choose from. */
export const eventOptions = EventName.options.map((each) => [each, each] as const);

/** Why an endpoint is called no more. */
export const disabledReasons = {
  gone: "It answered that it is gone (410).",
  failing: "It failed for five days.",
  by_customer: "You disabled it.",
} as const;

/** Where the gateway calls when something happened. */
export function Webhooks(): JSX.Element {
  const webhooks = usePages(async (query) => api().listWebhooks({ query }), []);
  const created = useSignal<CreatedWebhook | undefined>(undefined);
  return (
    <Page title="Webhooks" lead="The gateway calls your server when a message has come to its end.">
      {created.value === undefined ? null : (
        <Section title="Your new webhook">
          <Secret
            key={created.value.id}
            label="Calls are signed with this secret."
            secret={created.value.secret}
          />
          <p>
            <a class="button" href={`#/webhooks/${created.value.id}`}>
              Try it out
            </a>
          </p>
        </Section>
      )}
      <Section title="New webhook">
        <NewWebhook
          onCreated={async (webhook) => {
            created.value = webhook;
            await webhooks.reload();
          }}
        />
      </Section>
      <Section title="Webhooks">
        <PagedTable
          caption="Webhooks"
          pages={webhooks}
          keyOf={({ id }) => id}
          columns={[
            {
              title: "Address",
              show: ({ id, url }) => (
                <a class="break" href={`#/webhooks/${id}`}>
                  {url}
                </a>
              ),
            },
            {
              title: "State",
              show: ({ status, disabledReason }) => (
                <>
                  <Status of={status} />{" "}
                  {disabledReason === undefined ? null : (
                    <span class="muted">{disabledReasons[disabledReason]}</span>
                  )}
                </>
              ),
            },
            { title: "Events", show: ({ events }) => events.join(", ") },
            { title: "Created", show: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
          empty={
            <Empty title="No webhooks yet">
              <p>Add one above. Without one, your server has to ask what became of each message.</p>
              <DocsLink>How calls look and are verified</DocsLink>
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}

function NewWebhook({ onCreated }: { onCreated: (webhook: CreatedWebhook) => Promise<void> }): JSX.Element {
  const events = useSignal<readonly string[]>(["message.sent", "message.failed"]);
  const form = useForm({ url: "" }, async ({ url }) => {
    const chosen = events.value.map((each) => EventName.parse(each));
    const webhook = await api().createWebhook({ body: { url: url.trim(), events: chosen } });
    form.reset();
    await onCreated(webhook);
  });
  return (
    <Form form={form} action="Add the webhook">
      <TextField
        form={form}
        name="url"
        label="Address of your endpoint"
        type="url"
        placeholder="https://shop.example/sms"
      />
      <ChoiceField legend="Events" options={eventOptions} chosen={events} />
    </Form>
  );
}
