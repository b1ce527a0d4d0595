import { escapeHtml, htmlPage, type LocalPage } from "../pages.ts";
import type { StripeAccount } from "./account.ts";
import { money } from "./checkout-page.ts";
import type { PaymentIntent } from "./objects.ts";
import { style } from "./style.ts";

const shownPayments = 100;

/** Returns the page on which a developer acts for the bank and for the account's owner. */
export function dashboardPage(account: StripeAccount, problem?: string): LocalPage {
  const payments = account.objects.all("payment_intent").toReversed().slice(0, shownPayments);
  return htmlPage({
    title: "Payments",
    style,
    body: `<main>
<div>
<header><span class="badge">Sandbox</span> <span class="soft">No real money moves here.</span></header>
<h1>Payments</h1>
${problem === undefined ? "" : `<p class="alert" role="alert">${escapeHtml(problem)}</p>`}
${payments.length === 0 ? "<p>There are no payments.</p>" : ""}
<ul>${payments.map((payment) => item(account, payment)).join("\n")}</ul>
</div>
</main>`,
    formAction: "'self'",
  });
}

function item(account: StripeAccount, payment: PaymentIntent): string {
  const { id, amount, currency, status, created, latest_charge } = payment;
  const time = new Date(created * 1_000).toISOString();
  const charge = latest_charge === null ? undefined : account.objects.get("charge", latest_charge);
  const refunded = charge?.amount_refunded ?? 0;
  const disputes = account.objects.all("dispute").filter((each) => each.payment_intent === id);
  const facts = [
    status.replaceAll("_", " "),
    ...(refunded === 0 ? [] : [`refunded ${money(refunded, currency)}`]),
    ...disputes.map((dispute) => `dispute: ${dispute.status.replaceAll("_", " ")}`),
  ];
  const open = disputes.find((dispute) => dispute.status === "needs_response");
  const canRefund =
    charge?.paid === true && !charge.refunded && disputes.every((each) => each.status === "won");
  const buttons = [
    ...(open === undefined
      ? []
      : [button("won", open.id, "Win dispute"), button("lost", open.id, "Lose dispute")]),
    ...(canRefund ? [button("refund", id, "Refund payment")] : []),
  ];
  return `<li><strong>${escapeHtml(money(amount, currency))}</strong> ${escapeHtml(facts.join(", "))}
<div class="soft"><code>${id}</code> ${time} ${escapeHtml(Object.values(payment.metadata).join(" "))}</div>
<div class="actions">${buttons.join("\n")}</div></li>`;
}

function button(action: string, id: string, text: string): string {
  return `<form method="post"><input type="hidden" name="id" value="${id}">
<button class="second" name="action" value="${action}" aria-label="${text} ${id}">${text}</button></form>`;
}
