import type { ComponentChildren } from "preact";

import type { Webhook } from "../../../../shared/api/contract/webhooks.ts";
import { api } from "../api.ts";
import { fundsLink } from "../features.ts";
import { DayChart } from "../parts/chart.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { amountText, countText, Money, shareText } from "../parts/money.tsx";
import { LinkButton, Page, Section } from "../parts/page.tsx";
import { Time } from "../parts/time.tsx";
import { Health, isFailing } from "../parts/webhook.tsx";
import { unreadCount } from "../unread.ts";

async function readFigures() {
  const [stats, wallet, webhooks, senderIds, kyc] = await Promise.all([
    api().getDashboardStats(),
    api().getWallet(),
    api().listWebhooks({ query: { limit: 100 } }),
    api().listSenderIds({ query: { limit: 100 } }),
    api().getKyc(),
  ]);
  return { stats, wallet, webhooks: webhooks.rows, senderIds: senderIds.rows, kyc };
}

type Figures = Awaited<ReturnType<typeof readFigures>>;

export function Overview() {
  const load = useLoad(readFigures, []);
  return (
    <Page
      title="Overview"
      actions={
        <>
          <LinkButton href="#/send" label="Send a message" look="primary" />
          <button
            type="button"
            aria-disabled={load.isLoading}
            onClick={() => {
              if (!load.isLoading) void load.reload();
            }}
          >
            Refresh
          </button>
        </>
      }
    >
      <Loaded load={load}>
        {(figures) => (
          <>
            <Attention {...figures} />
            <Tiles {...figures} />
            <Section title="Messages by day">
              <DayChart days={figures.stats.days} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Tiles({ stats, wallet }: Figures) {
  const { today } = stats;
  return (
    <div class="tiles">
      <Tile title="Balance" note={<a href="#/wallet">Wallet</a>}>
        <Money amount={wallet.balance} isShort />
      </Tile>
      <Tile title="Sent today" note={`${countText(today.queued)} queued, ${countText(today.failed)} failed`}>
        {countText(today.sent)}
      </Tile>
      <Tile
        title="Delivered today"
        note={
          today.receiptRate === null
            ? "No delivery receipts yet"
            : `${shareText(today.receiptRate)} of messages with a receipt`
        }
      >
        {countText(today.delivered)}
      </Tile>
      <Tile
        title="Spent today"
        note={
          wallet.dailySpendCap === undefined
            ? "No daily limit"
            : `of ${amountText(wallet.dailySpendCap)} daily limit`
        }
      >
        <Money amount={wallet.spentToday} isShort />
      </Tile>
    </div>
  );
}

function Tile({
  title,
  note,
  children,
}: {
  title: string;
  note: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="panel tile">
      <h2>{title}</h2>
      <p class="figure">{children}</p>
      <p class="muted">{note}</p>
    </section>
  );
}

/** Issues that need attention, most urgent first. */
function Attention(figures: Figures) {
  const points = attentionPoints(figures);
  if (points.length === 0) return null;
  return (
    <section class="panel attention">
      <h2>Needs attention</h2>
      <ul class="plain-list">
        {points.map((point) => (
          <li key={point.id ?? point.what} class="row apart">
            <div>
              <strong>{point.what}</strong> {point.detail}
            </div>
            <LinkButton href={point.href} label={point.action} look="small" />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Point {
  /** Distinguishes points with the same text. */
  readonly id?: string;
  readonly what: string;
  readonly detail?: ComponentChildren;
  readonly href: string;
  readonly action: string;
}

function attentionPoints({ stats, wallet, webhooks, senderIds, kyc }: Figures): Point[] {
  const { balance, lowBalanceThreshold = 0, spentToday, dailySpendCap, closedAt, sendingPausedAt } = wallet;
  const pending = senderIds.filter(({ status }) => status === "pending");
  const points: readonly (Point | false)[] = [
    closedAt !== undefined && {
      what: "Your wallet is closed.",
      detail: "You cannot send messages. Contact the gateway operator.",
      href: "#/wallet",
      action: "Wallet",
    },
    sendingPausedAt !== undefined && {
      what: "Sending is paused.",
      detail: "New messages are rejected. Messages that become due fail and are refunded.",
      href: "#/api-keys",
      action: "Resume sending",
    },
    balance <= 0 && {
      what: balance < 0 ? "Your balance is negative." : "Your wallet is empty.",
      detail: balance < 0 ? "A bank took back a payment. You cannot send messages." : "Messages are prepaid.",
      href: fundsLink[0],
      action: fundsLink[1],
    },
    balance > 0 &&
      balance < lowBalanceThreshold && {
        what: "Your balance is low.",
        detail: `It is below your warning level of ${amountText(lowBalanceThreshold)}.`,
        href: fundsLink[0],
        action: fundsLink[1],
      },
    dailySpendCap !== undefined &&
      spentToday >= dailySpendCap && {
        what: "You reached the daily spending limit.",
        detail: "Messages are rejected until midnight UTC.",
        href: "#/wallet",
        action: "Change limit",
      },
    (unreadCount.value ?? 0) > 0 && {
      what: `${countText(unreadCount.value ?? 0, "unread conversation")}.`,
      href: "#/conversations?unread=true",
      action: "Read",
    },
    ...webhooks.map(webhookPoint),
    pending.length > 0 && {
      what: `${countText(pending.length, "sender ID")} awaiting approval:`,
      detail: `${pending.map(({ senderId }) => senderId).join(", ")}.`,
      href: "#/sender-ids",
      action: "Sender IDs",
    },
    kyc?.status === "rejected" && {
      what: "Your business verification was rejected.",
      detail: kyc.rejectionReason,
      href: "#/kyc",
      action: "Submit again",
    },
    kyc?.status === "pending" && {
      what: "Your business verification is under review.",
      href: "#/kyc",
      action: "Details",
    },
    stats.last30Days.accepted === 0 && {
      what: "You have not sent any messages yet.",
      detail: "Send your first message here, or create an API key for your server.",
      href: "#/send",
      action: "Send a message",
    },
  ];
  return points.filter((point) => point !== false);
}

/** Reports a webhook that the gateway disabled or whose deliveries fail. */
function webhookPoint(webhook: Webhook): Point | false {
  const { id, url, disabledReason, disabledAt } = webhook;
  const isDisabled = disabledReason === "failing" || disabledReason === "gone";
  if (!isDisabled && !isFailing(webhook)) return false;
  return {
    id,
    what: isDisabled ? "A webhook was disabled:" : "A webhook is failing:",
    detail: (
      <>
        <span class="break">{url}</span>. <Health webhook={webhook} />
        {isDisabled && disabledAt !== undefined ? (
          <>
            {" "}
            (<Time at={disabledAt} />)
          </>
        ) : null}
      </>
    ),
    href: `#/webhooks/${id}`,
    action: "Details",
  };
}
