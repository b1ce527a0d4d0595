import type { ComponentChildren } from "preact";

import type { Webhook } from "../../../../shared/api/contract/webhooks.ts";
import { api } from "../api.ts";
import { fundsLink, has } from "../features.ts";
import { firstSteps, type Step } from "../first-steps.ts";
import { DayChart } from "../parts/chart.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { amountText, countText, Money, shareText } from "../parts/money.tsx";
import { LinkButton, Page, Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { Health, isFailing } from "../parts/webhook.tsx";
import { may } from "../rights.ts";
import { waiting } from "../waiting.ts";

async function readFigures() {
  const [stats, wallet, webhooks, senderIds, kyc] = await Promise.all([
    api().getDashboardStats(),
    api().getWallet(),
    api().listWebhooks({ query: { limit: 100 } }),
    api().listSenderIds({ query: { limit: 100 } }),
    may("personal") ? api().getKyc() : null,
  ]);
  // A customer may have sent nothing for a month, and much before.
  const hasSentLive =
    stats.last30Days.accepted > 0 || (await api().listSms({ query: { limit: 1 } })).meta.total > 0;
  const [account, tests] = await Promise.all([
    has("verified-email") ? api().getMe() : undefined,
    hasSentLive ? undefined : api().listSms({ query: { test: true, limit: 1 } }),
  ]);
  const standing = {
    isEmailVerified: account?.user.emailVerified === true,
    kyc,
    senderIds: senderIds.rows,
    balance: wallet.balance,
    hasSentTest: (tests?.rows.length ?? 0) > 0,
    hasSentLive,
  };
  // Without the right to see the submission, its step would stay open for ever.
  const steps = firstSteps(
    standing,
    (feature) => has(feature) && (feature !== "kyc" || may("personal")),
    fundsLink,
  );
  return { stats, wallet, webhooks: webhooks.rows, senderIds: senderIds.rows, kyc, steps };
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
            <FirstSteps steps={figures.steps} />
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
            : `${amountText(wallet.spentToday)} of ${amountText(wallet.dailySpendCap)} daily limit, before refunds`
        }
      >
        <Money amount={today.spend} />
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

const stateNames = { done: "done", todo: "to do", waiting: "waiting for the operator" } as const;

/** The way to the first live message, until all of it is done. */
function FirstSteps({ steps }: { steps: readonly Step[] }) {
  if (steps.every(({ state }) => state === "done")) return null;
  return (
    <section class="panel steps">
      <h2>First steps</h2>
      <ol class="plain-list">
        {steps.map(({ id, name, state, advice, link }) => (
          <li key={id} class="row apart">
            <div>
              <strong>{name}</strong> <Status of={stateNames[state]} />
              {state === "todo" ? <div class="muted">{advice}</div> : null}
            </div>
            {state === "done" || link === undefined ? null : (
              <LinkButton href={link[0]} label={link[1]} look="small" />
            )}
          </li>
        ))}
      </ol>
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
  /** The step that shows the same while it is not done. */
  readonly step?: Step["id"];
  readonly what: string;
  readonly detail?: ComponentChildren;
  readonly href: string;
  readonly action: string;
}

function attentionPoints({ wallet, webhooks, senderIds, kyc, steps }: Figures): Point[] {
  const { balance, lowBalanceThreshold = 0, spentToday, dailySpendCap, closedAt, sendingPausedAt } = wallet;
  const { conversations: unread, "held-messages": held } = waiting.value;
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
      ...(balance === 0 ? { step: "funds" } : {}),
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
    unread > 0 && {
      what: `${countText(unread, "unread conversation")}.`,
      href: "#/conversations?unread=true",
      action: "Read",
    },
    held > 0 && {
      what: `${countText(held, "message")} of API keys waiting for approval.`,
      href: "#/held-messages",
      action: "Held messages",
    },
    ...webhooks.map(webhookPoint),
    pending.length > 0 && {
      step: "sender",
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
      step: "kyc",
      what: "Your business verification is under review.",
      href: "#/kyc",
      action: "Details",
    },
  ];
  const open = new Set(steps.filter(({ state }) => state !== "done").map(({ id }) => id));
  return points
    .filter((point) => point !== false)
    .filter(({ step }) => step === undefined || !open.has(step));
}

/** Reports a webhook that the gateway disabled or whose deliveries fail. */
function webhookPoint(webhook: Webhook): Point | false {
  const { id, url, disabledReason, disabledAt } = webhook;
  const isDisabled = disabledReason !== undefined && disabledReason !== "by_customer";
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
