import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import {
  WebhookDeliveryState,
  type Webhook as WebhookOf,
  type WebhookDelivery,
} from "../../../../shared/api/contract/webhooks.ts";
import { api } from "../api.ts";
import { JsonDetails, Secret } from "../parts/copy.tsx";
import { ActionButton, ConfirmButton } from "../parts/dialog.tsx";
import { Form, useForm } from "../parts/form.tsx";
import { List } from "../parts/list-view.tsx";
import { Loaded, useLoad, usePages, usePolling, type Load } from "../parts/load.tsx";
import { announce, Notice } from "../parts/notice.tsx";
import { Facts, Page, Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { optionalTime, Time } from "../parts/time.tsx";
import {
  Health,
  isFailing,
  WebhookFields,
  webhookOf,
  WebhookStatus,
  type WebhookValues,
} from "../parts/webhook.tsx";
import { capitalized } from "../problems.ts";
import { go, linkTo, type ViewProps } from "../router.ts";

/** One webhook: its settings, status and deliveries. */
export function Webhook({ id, query }: ViewProps) {
  const webhook = useLoad(async () => api().getWebhook({ params: { id } }), [id]);
  const state = WebhookDeliveryState.options.find((each) => each === query.get("state"));
  const deliveries = usePages(
    async (page) => api().listWebhookDeliveries({ params: { id }, query: { ...page, state } }),
    [id, state],
  );
  /** For each delivery that the person has repeated, by ID: the number of its attempts before that. */
  const repeated = useSignal<Readonly<Record<string, number>>>({});
  // The person waits for the outcome of a delivery.
  const isAnyUnderWay = deliveries.data?.rows.some((each) => isEndingSoon(each, repeated.value)) === true;
  usePolling(isAnyUnderWay, deliveries.reload);
  const secret = useSignal<string | undefined>(undefined);
  const test = useSignal<WebhookDelivery | undefined>(undefined);
  return (
    <Page
      title="Webhook"
      lead={<span class="break">{webhook.data?.url}</span>}
      back={["#/webhooks", "Webhooks"]}
      actions={
        <ActionButton
          label="Send test event"
          isPrimary
          act={async () => {
            test.value = undefined;
            test.value = await api().testWebhook({ params: { id } });
            await Promise.all([webhook.reload(), deliveries.reload()]);
          }}
        />
      }
    >
      {secret.value === undefined ? null : <Secret label="Your new signing secret." secret={secret.value} />}
      {test.value === undefined ? null : <TestResult key={test.value.id} delivery={test.value} />}
      <Loaded load={webhook}>
        {(shown) => (
          <div class="columns">
            <Section title="Settings">
              <Settings webhook={shown} load={webhook} />
            </Section>
            <Section title="Status">
              <State webhook={shown} load={webhook} onSecret={(made) => (secret.value = made)} />
            </Section>
          </div>
        )}
      </Loaded>
      <List
        heading="Deliveries"
        listActions={<StateFilter id={id} chosen={state ?? ""} />}
        pages={deliveries}
        columns={{
          Event: ({ payload }) => payload.event,
          Status: (delivery) => <Status of={delivery.state} />,
          Response: (delivery) => <ResponseCell delivery={delivery} />,
          Created: ({ createdAt }) => <Time at={createdAt} />,
          Payload: ({ payload, eventId }) => <JsonDetails value={payload} label={`Payload of ${eventId}`} />,
          Actions: (delivery) => (
            <ActionButton
              label="Redeliver"
              act={async () => {
                const of = { id, deliveryId: delivery.id };
                const { attempts } = await api().retryWebhookDelivery({ params: of });
                repeated.value = { ...repeated.value, [delivery.id]: attempts };
                announce("Redelivery requested.");
                await deliveries.reload();
              }}
            />
          ),
        }}
        empty={{
          title: state === undefined ? "No deliveries yet" : `No ${state} deliveries`,
          hint: "Send a test event to see how your server responds.",
        }}
      />
    </Page>
  );
}

/** The first retry comes sooner than this. The page does not wait for later ones. */
const soonMs = 30_000;

/** Whether a delivery may end within seconds, not hours. */
function isEndingSoon(delivery: WebhookDelivery, repeated: Readonly<Record<string, number>>): boolean {
  const { id, state, attempts, lastAttemptAt, nextAttemptAt } = delivery;
  if (state !== "pending") return false;
  if (repeated[id] === attempts || lastAttemptAt === undefined || nextAttemptAt === undefined) return true;
  // Both times come from the gateway's clock. During an attempt, `lastAttemptAt` is the later one.
  return Date.parse(nextAttemptAt) - Date.parse(lastAttemptAt) < soonMs;
}

/** The response to a test event. It receives the focus, so that screen readers announce it. */
function TestResult({ delivery }: { delivery: WebhookDelivery }) {
  const { state, lastStatus, lastError, lastDurationMs } = delivery;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => element.current?.focus(), []);
  const time = lastDurationMs === undefined ? "" : ` in ${durationText(lastDurationMs)}`;
  return (
    <div ref={element} tabIndex={-1}>
      {lastDurationMs === undefined ? (
        <Notice tone="info">The test event has no response yet. It appears in the deliveries below.</Notice>
      ) : state === "succeeded" ? (
        <Notice tone="good">
          <strong>The test event succeeded.</strong> Your endpoint responded with {lastStatus}
          {time}.
        </Notice>
      ) : (
        <Notice tone="bad">
          <strong>The test event failed.</strong>{" "}
          {lastStatus === undefined
            ? `Your endpoint did not respond${time}: ${lastError ?? "the request failed"}.`
            : `Your endpoint responded with ${lastStatus}${time}. Only responses from 200 to 299 count as success.`}
        </Notice>
      )}
    </div>
  );
}

function durationText(durationMs: number): string {
  return durationMs < 1_000 ? `${durationMs} ms` : `${(durationMs / 1_000).toFixed(1)} s`;
}

function ResponseCell({ delivery }: { delivery: WebhookDelivery }) {
  const { lastStatus, lastError, lastDurationMs, attempts, nextAttemptAt } = delivery;
  return (
    <span>
      {lastStatus === undefined ? null : <strong>{lastStatus} </strong>}
      {lastError === undefined || lastStatus !== undefined ? null : `${lastError}, `}
      <span class="muted">
        {lastDurationMs === undefined ? null : `${durationText(lastDurationMs)}, `}
        {attempts === 1 ? "1 attempt" : `${attempts} attempts`}
        {nextAttemptAt === undefined || attempts === 0 ? null : (
          <>
            , next <Time at={nextAttemptAt} />
          </>
        )}
      </span>
    </span>
  );
}

function StateFilter({ id, chosen }: { id: string; chosen: string }) {
  return (
    <label class="row">
      Show{" "}
      <select
        value={chosen}
        onChange={(event) => {
          location.hash = linkTo(`webhooks/${id}`, { state: event.currentTarget.value });
        }}
      >
        <option value="">All</option>
        {WebhookDeliveryState.options.map((each) => (
          <option key={each} value={each}>
            {capitalized(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Settings({ webhook, load }: { webhook: WebhookOf; load: Load<WebhookOf> }) {
  const { url, events } = webhook;
  const initial: WebhookValues = { url, events };
  const form = useForm(initial, async (values) => {
    load.replace(await api().updateWebhook({ params: { id: webhook.id }, body: webhookOf(values) }));
    announce("Webhook saved.");
  });
  return (
    <Form form={form} action="Save">
      <WebhookFields form={form} />
    </Form>
  );
}

function State({
  webhook,
  load,
  onSecret,
}: {
  webhook: WebhookOf;
  load: Load<WebhookOf>;
  onSecret: (secret: string) => void;
}) {
  const { id, status, disabledReason, disabledAt, createdAt } = webhook;
  const params = { id };
  const isEnabled = status === "enabled";
  return (
    <>
      <Facts
        of={{
          Status: <WebhookStatus webhook={webhook} />,
          Disabled: optionalTime(disabledAt),
          Created: <Time at={createdAt} />,
          ID: <code>{id}</code>,
        }}
      />
      {disabledReason === undefined && !isFailing(webhook) ? null : (
        <Notice tone={disabledReason === "by_customer" ? "info" : "bad"}>
          <Health webhook={webhook} />
        </Notice>
      )}
      <div class="row">
        <ActionButton
          label={isEnabled ? "Disable" : "Enable"}
          act={async () => load.replace(await api().updateWebhook({ params, body: { enabled: !isEnabled } }))}
        />
        <ConfirmButton
          label="Rotate secret"
          question="Rotate the signing secret?"
          consequence="Requests are signed with the new secret immediately. Update your server to accept them."
          act={async () => onSecret((await api().rotateWebhookSecret({ params })).secret)}
        />
        <ConfirmButton
          label="Delete"
          question="Delete this webhook?"
          consequence="The endpoint receives no more events, and its delivery history is deleted."
          act={async () => api().deleteWebhook({ params })}
          success="Webhook deleted."
          onDone={() => go("webhooks")}
        />
      </div>
    </>
  );
}
