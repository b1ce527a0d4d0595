import { useSignal } from "@preact/signals";

import { everyRow, RequestError } from "../../../../shared/api/client/client.ts";
import type { Campaign } from "../../../../shared/api/contract/campaigns.ts";
import type { Message } from "../../../../shared/api/contract/sms.ts";
import { api } from "../api.ts";
import { ConfirmButton } from "./dialog.tsx";
import { Loaded, useLoad } from "./load.tsx";
import { countText } from "./money.tsx";
import { announce } from "./notice.tsx";
import { Section } from "./page.tsx";
import { Time } from "./time.tsx";

/** The most messages and campaigns that are listed. */
const maxListed = 10;

/** The number of messages that are cancelled in parallel. */
const cancelledAtOnce = 5;

function scheduledMessages(): AsyncGenerator<Message, void> {
  return everyRow(async (next) => api().listSms({ query: { limit: 100, scheduled: true, ...next } }));
}

async function* openCampaigns(): AsyncGenerator<Campaign, void> {
  const all = everyRow(async (next) => api().listCampaigns({ query: { limit: 100, ...next } }));
  for await (const each of all) if (each.status === "scheduled" || each.status === "sending") yield each;
}

async function firstOf<Row>(rows: AsyncGenerator<Row, void>): Promise<Row[]> {
  const first: Row[] = [];
  for await (const row of rows) if (first.push(row) > maxListed) break;
  return first;
}

/**
 * Lists messages and campaigns that are still to be sent after keys were disabled. All are listed: a campaign does not name
 * the key that launched it, and keys end with the key that made them.
 */
export function StillScheduled() {
  const load = useLoad(async () => {
    const [messages, campaigns, { meta }] = await Promise.all([
      firstOf(scheduledMessages()),
      firstOf(openCampaigns()),
      api().listWebhooks({ query: { limit: 1 } }),
    ]);
    return { messages, campaigns, webhooks: meta.total };
  }, []);
  return (
    <Section title="Still scheduled">
      <Loaded load={load}>
        {({ messages, campaigns, webhooks }) => (
          <>
            <p>
              {messages.length + campaigns.length === 0
                ? "No message is scheduled, and no campaign is scheduled or running."
                : "Disabling keys does not stop these messages and campaigns:"}
            </p>
            <ul>
              {campaigns.slice(0, maxListed).map(({ id, name, status }) => (
                <li key={id}>
                  <a href={`#/campaigns/${id}`}>
                    Campaign <bdi>{name}</bdi>
                  </a>
                  , {status}
                </li>
              ))}
              {messages.slice(0, maxListed).map(({ id, to, scheduledAt }) => (
                <li key={id}>
                  <a href={`#/messages/${id}`}>Message to {to}</a>, <Time at={scheduledAt ?? ""} />
                </li>
              ))}
              {Math.max(messages.length, campaigns.length) > maxListed ? <li>and more</li> : null}
            </ul>
            <div class="row">
              <CancelScheduled onDone={load.reload} />
            </div>
            <p>
              Events go to <a href="#/webhooks">{countText(webhooks, "webhook")}</a>. Delete those that you do
              not know.
            </p>
          </>
        )}
      </Loaded>
    </Section>
  );
}

/** Cancels all scheduled messages and open campaigns. It may be repeated after an error, and then continues. */
export function CancelScheduled({ onDone }: { onDone?: () => Promise<void> }) {
  const cancelled = useSignal(0);
  const cancel = async (act: () => Promise<unknown>): Promise<void> => {
    try {
      await act();
      cancelled.value += 1;
    } catch (error) {
      // It became due in the meantime.
      if (!(error instanceof RequestError && error.code === "CONFLICT")) throw error;
    }
  };
  const act = async (): Promise<void> => {
    cancelled.value = 0;
    for await (const { id } of openCampaigns()) {
      await cancel(async () => api().cancelCampaign({ params: { id } }));
    }
    const messages = scheduledMessages();
    const worker = async (): Promise<void> => {
      for await (const { id } of messages) await cancel(async () => api().cancelSms({ params: { id } }));
    };
    await Promise.all(Array.from({ length: cancelledAtOnce }, worker));
    announce(`${countText(cancelled.value, "message or campaign", "messages and campaigns")} cancelled.`);
    await onDone?.();
  };
  return (
    <ConfirmButton
      label="Cancel everything scheduled"
      question="Cancel everything scheduled?"
      consequence={
        <>
          All scheduled messages are cancelled and refunded. Scheduled and running campaigns accept no more
          messages. {cancelled.value === 0 ? null : `${countText(cancelled.value)} cancelled so far.`}
        </>
      }
      act={act}
    />
  );
}

/** Pauses all sending of the organization, or resumes it. */
export function SendingPause() {
  const load = useLoad(async () => api().getWallet(), []);
  const setPaused = async (sendingPaused: boolean): Promise<void> => {
    load.replace(await api().updateWallet({ body: { sendingPaused } }));
    announce(sendingPaused ? "Sending paused." : "Sending resumed.");
  };
  return (
    <Loaded load={load}>
      {({ sendingPausedAt }) =>
        sendingPausedAt === undefined ? (
          <ConfirmButton
            label="Pause sending"
            question="Pause all sending?"
            consequence="Until you resume it, new messages are rejected and campaigns stop. Messages that become due fail and are refunded. They are not sent later."
            act={async () => setPaused(true)}
          />
        ) : (
          <ConfirmButton
            label="Resume sending"
            question="Resume sending?"
            consequence="Messages are accepted and sent again, also scheduled ones. Messages that failed stay failed, and stopped campaigns can be launched again."
            act={async () => setPaused(false)}
          />
        )
      }
    </Loaded>
  );
}
