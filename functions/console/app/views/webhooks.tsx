import type { CreatedWebhook } from "../../../../shared/api/contract/webhooks.ts";
import { api } from "../api.ts";
import { Secret } from "../parts/copy.tsx";
import { DialogButton } from "../parts/dialog.tsx";
import { DocsLink } from "../parts/docs-link.tsx";
import { Form, useForm } from "../parts/form.tsx";
import { ListView, useCreated } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { LinkButton, Section } from "../parts/page.tsx";
import { Time } from "../parts/time.tsx";
import { Health, WebhookFields, webhookOf, WebhookStatus, type WebhookValues } from "../parts/webhook.tsx";

export function Webhooks() {
  const webhooks = usePages(async (query) => api().listWebhooks({ query }), []);
  const [created, onCreated] = useCreated<CreatedWebhook>(webhooks);
  return (
    <ListView
      title="Webhooks"
      lead="Receive events on your server, for example when a message is sent."
      actions={
        <DialogButton label="New webhook" onDone={onCreated}>
          {(done) => <NewWebhook onCreated={done} />}
        </DialogButton>
      }
      above={created && <Created webhook={created} />}
      caption="Webhooks"
      pages={webhooks}
      columns={{
        URL: ({ id, url }) => (
          <a class="break" href={`#/webhooks/${id}`}>
            {url}
          </a>
        ),
        Status: (webhook) => (
          <>
            <WebhookStatus webhook={webhook} />{" "}
            <span class="muted">
              <Health webhook={webhook} />
            </span>
          </>
        ),
        Events: ({ events }) => events.join(", "),
        Created: ({ createdAt }) => <Time at={createdAt} />,
      }}
      empty={{
        title: "No webhooks yet",
        hint: "Without a webhook, your server must poll for the status of each message.",
        action: <DocsLink page="guides/webhooks">Guide to webhooks</DocsLink>,
      }}
    />
  );
}

function Created({ webhook: { id, secret } }: { webhook: CreatedWebhook }) {
  return (
    <Section title="Webhook created">
      <Secret key={id} label="Your signing secret." secret={secret} />
      <p>
        <LinkButton href={`#/webhooks/${id}`} label="Test webhook" />
      </p>
    </Section>
  );
}

function NewWebhook({ onCreated }: { onCreated: (webhook: CreatedWebhook) => Promise<void> }) {
  const initial: WebhookValues = { url: "", events: ["message.sent", "message.failed"] };
  const form = useForm(initial, async (values) =>
    onCreated(await api().createWebhook({ body: webhookOf(values) })),
  );
  return (
    <Form form={form} action="Add webhook">
      <WebhookFields form={form} />
    </Form>
  );
}
