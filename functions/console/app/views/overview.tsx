import type { ComponentChildren, JSX } from "preact";

import type { DashboardStats } from "../../../../shared/contract/dashboard.ts";
import type { KycSubmission } from "../../../../shared/contract/kyc.ts";
import type { SenderIdRequest } from "../../../../shared/contract/sender-ids.ts";
import type { Wallet } from "../../../../shared/contract/wallet.ts";
import type { Webhook } from "../../../../shared/contract/webhooks.ts";
import { api } from "../api.ts";
import { has } from "../features.ts";
import { DayChart } from "../parts/chart.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { amountText, countText, Money, shareText } from "../parts/money.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Time } from "../parts/time.tsx";

interface Figures {
  readonly stats: DashboardStats;
  readonly wallet: Wallet;
  readonly webhooks: readonly Webhook[];
  readonly senderIds: readonly SenderIdRequest[];
  readonly kyc: KycSubmission | null;
}

async function readFigures(): Promise<Figures> {
  const [stats, wallet, webhooks, senderIds, kyc] = await Promise.all([
    api().getDashboardStats(),
    api().getWallet(),
    api().listWebhooks({ query: { limit: 100 } }),
    api().listSenderIds({ query: { limit: 100 } }),
    api().getKyc(),
  ]);
  return { stats, wallet, webhooks: webhooks.rows, senderIds: senderIds.rows, kyc };
}

export function Overview(): JSX.Element {
  const load = useLoad(readFigures, []);
  return (
    <Page
      title="Overview"
      actions={
        <>
          <button type="button" disabled={load.isLoading} onClick={() => void load.reload()}>
            Refresh
          </button>
          <a class="button primary" href="#/send">
            Send a message
          </a>
        </>
      }
    >
      <Loaded load={load}>
        {(figures) => (
          <>
            <Attention {...figures} />
            <Tiles {...figures} />
            <Section title="The last 30 days">
              <p class="muted">
                {countText(figures.stats.last30Days.accepted, "message")},{" "}
                {amountText(figures.stats.last30Days.spend)} spent
              </p>
              <DayChart days={figures.stats.days} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Tiles({ stats, wallet }: Figures): JSX.Element {
  const { today } = stats;
  return (
    <div class="tiles">
      <Tile title="Balance" note={<a href="#/wallet">Wallet</a>}>
        <Money amount={wallet.balance} />
      </Tile>
      <Tile
        title="Sent today"
        note={`${countText(today.queued)} on the way, ${countText(today.failed)} failed`}
      >
        {countText(today.sent)}
      </Tile>
      <Tile
        title="Delivered today"
        note={
          today.receiptRate === null
            ? "No receipts yet"
            : `${shareText(today.receiptRate)} of those with a receipt`
        }
      >
        {countText(today.delivered)}
      </Tile>
      <Tile
        title="Spent today"
        note={
          wallet.dailySpendCap === undefined
            ? "No cap for a day"
            : `of ${amountText(wallet.dailySpendCap)} a day`
        }
      >
        <Money amount={wallet.spentToday} />
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
}): JSX.Element {
  return (
    <section class="panel tile">
      <h2>{title}</h2>
      <p class="figure">{children}</p>
      <p class="muted">{note}</p>
    </section>
  );
}

/** What a person should do something about, most pressing first. */
function Attention(figures: Figures): JSX.Element | null {
  const points = attentionPoints(figures);
  if (points.length === 0) return null;
  return (
    <section class="panel attention">
      <h2>What needs attention</h2>
      <ul>
        {points.map((point) => (
          <li key={point.what}>
            <div>
              <strong>{point.what}</strong> {point.detail}
            </div>
            <a class="button small" href={point.href}>
              {point.action}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Where customers add no money themselves, they see in the wallet who does. */
const topUpWords = has("top-up") ? "Top up" : "Look at the wallet";

interface Point {
  readonly what: string;
  readonly detail?: ComponentChildren;
  readonly href: string;
  readonly action: string;
}

function attentionPoints({ stats, wallet, webhooks, senderIds, kyc }: Figures): Point[] {
  const points: Point[] = [];
  if (wallet.closedAt !== undefined) {
    points.push({
      what: "The wallet is closed.",
      detail: "Nothing can be sent. Ask the operator of the gateway why.",
      href: "#/wallet",
      action: "Look at the wallet",
    });
  }
  if (wallet.balance <= 0) {
    points.push({
      what: "There is no money in the wallet.",
      detail: "Messages are paid for in advance.",
      href: "#/wallet",
      action: topUpWords,
    });
  } else if (wallet.lowBalanceThreshold !== undefined && wallet.balance < wallet.lowBalanceThreshold) {
    points.push({
      what: "The balance is low.",
      detail: `It is below the ${amountText(wallet.lowBalanceThreshold)} that you set.`,
      href: "#/wallet",
      action: topUpWords,
    });
  }
  if (wallet.dailySpendCap !== undefined && wallet.spentToday >= wallet.dailySpendCap) {
    points.push({
      what: "The daily spend cap is reached.",
      detail: "Messages are refused until midnight UTC.",
      href: "#/wallet",
      action: "Look at the cap",
    });
  }
  for (const webhook of webhooks.filter(
    ({ disabledReason }) => disabledReason === "failing" || disabledReason === "gone",
  )) {
    points.push({
      what: "A webhook is called no more.",
      detail: (
        <>
          <span class="break">{webhook.url}</span>{" "}
          {webhook.disabledReason === "gone" ? "answered that it is gone" : "failed for five days"}
          {webhook.disabledAt === undefined ? null : (
            <>
              {" "}
              (<Time at={webhook.disabledAt} />)
            </>
          )}
        </>
      ),
      href: `#/webhooks/${webhook.id}`,
      action: "Look at it",
    });
  }
  const pending = senderIds.filter(({ status }) => status === "pending");
  if (pending.length > 0) {
    points.push({
      what: `${countText(pending.length, "sender ID")} wait${pending.length === 1 ? "s" : ""} for approval:`,
      detail: `${pending.map(({ senderId }) => senderId).join(", ")}.`,
      href: "#/sender-ids",
      action: "Sender IDs",
    });
  }
  if (kyc?.status === "rejected") {
    points.push({
      what: "Your KYC submission was rejected.",
      detail: kyc.rejectionReason,
      href: "#/kyc",
      action: "Submit again",
    });
  } else if (kyc?.status === "pending") {
    points.push({
      what: "Your KYC submission waits for the operator.",
      href: "#/kyc",
      action: "Look at it",
    });
  }
  if (stats.last30Days.accepted === 0) {
    points.push({
      what: "Nothing was sent yet.",
      detail: "Send the first message here, or make an API key for your server.",
      href: "#/send",
      action: "Send a message",
    });
  }
  return points;
}
