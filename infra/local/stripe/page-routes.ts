import type { LocalPage } from "../pages.ts";
import type { StripeAccount } from "./account.ts";
import { authenticationPage, CardForm, checkoutPage, closedPage } from "./checkout-page.ts";
import { dashboardPage } from "./dashboard.ts";
import { readForm } from "./form.ts";
import { StripeApiError } from "./object-store.ts";
import type { Session } from "./objects.ts";

export interface PageResponse extends LocalPage {
  readonly status: number;
}

/** Responds to a browser: the checkout page and the dashboard. */
export function respondToPage(
  account: StripeAccount,
  method: string,
  url: string,
  body: string,
): PageResponse {
  account.advance();
  const [, page, id = "", step] = /^\/(checkout|dashboard)(?:\/(\w+))?(?:\/(authenticate))?$/.exec(url) ?? [];
  const form = method === "POST" ? readForm(body) : undefined;
  if (page === "dashboard") return form === undefined ? shown(dashboardPage(account)) : act(account, form);
  const session = account.objects.find(id);
  if (page === undefined || session?.object !== "checkout.session") {
    return { status: 404, headers: { "content-type": "text/plain" }, body: "There is no such page.\n" };
  }
  if (form === undefined) return shown(pageOf(account, session, step));
  if (session.status === "open" && step !== undefined) {
    if (account.intentOf(session)?.status === "requires_action") {
      account.authenticate(session.id, form["outcome"] === "complete");
    }
  } else if (session.status === "open") {
    const problem = enterCard(account, session, form);
    if (problem !== undefined) return shown(checkoutPage(session, undefined, form, problem));
    const intent = account.intentOf(session);
    if (intent?.status === "requires_payment_method") return shown(checkoutPage(session, intent, form));
  }
  return redirect(nextOf(account, session));
}

function pageOf(account: StripeAccount, session: Session, step: string | undefined): LocalPage {
  if (session.status !== "open") return closedPage(session);
  const intent = account.intentOf(session);
  const isAuthenticating = step !== undefined && intent?.status === "requires_action";
  return isAuthenticating ? authenticationPage(session) : checkoutPage(session, intent);
}

/** @returns what is wrong with the form */
function enterCard(account: StripeAccount, session: Session, form: object): string | undefined {
  const { data, error } = CardForm.safeParse(form);
  if (data === undefined) return error?.issues.map(({ message }) => message).join(" ");
  const { number, name, country, email } = data;
  const [month = 0, year = 0] = data.expiry.split("/").map(Number);
  const exp_year = 2_000 + year;
  // The card is valid until the end of its month.
  if (Date.UTC(exp_year, month) / 1_000 <= account.objects.seconds()) return "The card has expired.";
  const expiry = { exp_month: month, exp_year };
  account.enterCard(session.id, number, expiry, {
    name,
    email: email === "" ? null : email,
    address: { country },
  });
  return undefined;
}

/** Returns where the browser goes after a form. */
function nextOf(account: StripeAccount, session: Session): string {
  if (session.status === "complete") return session.success_url.replace("{CHECKOUT_SESSION_ID}", session.id);
  const isAuthenticating = account.intentOf(session)?.status === "requires_action";
  return `/checkout/${session.id}${isAuthenticating ? "/authenticate" : ""}`;
}

function act(account: StripeAccount, { action, id }: Record<string, unknown>): PageResponse {
  try {
    if (action === "refund") account.createRefund({ payment_intent: String(id), metadata: {} });
    else account.closeDispute(String(id), action === "won" ? "won" : "lost");
    return redirect("/dashboard");
  } catch (error) {
    if (!(error instanceof StripeApiError)) throw error;
    return shown(dashboardPage(account, error.message));
  }
}

function shown(page: LocalPage): PageResponse {
  return { status: 200, ...page };
}

function redirect(location: string): PageResponse {
  return { status: 303, headers: { location }, body: "" };
}
