import * as z from "zod/mini";

import { Country } from "../../../shared/api/contract/countries.ts";
import { escapeHtml, htmlPage, type LocalPage } from "../pages.ts";
import { testCards } from "./cards.ts";
import type { PaymentIntent, Session, SetupIntent } from "./objects.ts";
import { style } from "./style.ts";

/** The fields of the page's form. */
export const CardForm = z.object({
  number: z.pipe(
    z.string(),
    z.pipe(
      z.transform((text: string) => text.replaceAll(/[ -]/g, "")),
      z.string().check(z.regex(/^\d{16}$/, "The card number must have 16 digits.")),
    ),
  ),
  expiry: z.string().check(z.regex(/^(0[1-9]|1[0-2]) ?\/ ?\d\d$/, "The expiry must be a month and a year.")),
  cvc: z.string().check(z.regex(/^\d{3,4}$/, "The CVC must have 3 or 4 digits.")),
  name: z.string().check(z.minLength(1, "The name on the card is required."), z.maxLength(200)),
  country: Country,
  email: z._default(z.string().check(z.maxLength(200)), ""),
});

/** Formats an amount in minor units. */
export function money(amount: number, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

const countryNames = new Intl.DisplayNames("en", { type: "region" });
const countries = Country.options
  .map((code) => ({ code, name: countryNames.of(code) ?? code }))
  .toSorted((a, b) => a.name.localeCompare(b.name));

/**
 * Returns the page on which a customer pays, or saves a card.
 * @param entered what they sent before, of which secret parts are not shown
 * @param problem what was wrong with it
 */
export function checkoutPage(
  session: Session,
  intent: PaymentIntent | SetupIntent | undefined,
  entered: Readonly<Record<string, unknown>> = {},
  problem: string | undefined = problemOf(intent),
): LocalPage {
  const { currency, amount_total, params } = session;
  const total = currency === null ? "" : money(amount_total ?? 0, currency);
  const value = (name: string): string => {
    const text = entered[name];
    return typeof text === "string" ? escapeHtml(text) : "";
  };
  const options = countries.map(({ code, name }) => {
    const selected = code === (entered["country"] ?? "US") ? " selected" : "";
    return `<option value="${code}"${selected}>${escapeHtml(name)}</option>`;
  });
  const lines = params.line_items.map(({ quantity, price_data }) => {
    const name = `${price_data.product_data.name}${quantity === 1 ? "" : ` × ${quantity}`}`;
    return line(name, money(quantity * price_data.unit_amount, price_data.currency));
  });
  const cards = testCards.map(({ number, effect }) => {
    return `<li><code>${number.replaceAll(/(.{4})(?=.)/g, "$1 ")}</code><br>${effect}</li>`;
  });
  return page(
    session,
    `<div>
<h1>${total === "" ? "Save a card" : `Pay ${total}`}</h1>
${total === "" ? "" : `<dl>${lines.join("\n")}\n${line("Total", total, "total")}</dl>`}
</div>
<form method="post">
${problem === undefined ? "" : `<p class="alert" role="alert">${escapeHtml(problem)}</p>`}
<label>Email (optional) <input type="email" name="email" autocomplete="email" maxlength="200" value="${value("email")}"></label>
<label>Card number <input name="number" autocomplete="cc-number" inputmode="numeric" maxlength="23" required></label>
<div class="pair">
<label>Expiry (MM/YY) <input name="expiry" autocomplete="cc-exp" inputmode="numeric" maxlength="7" required></label>
<label>CVC <input name="cvc" autocomplete="cc-csc" inputmode="numeric" maxlength="4" required></label>
</div>
<label>Name on card <input name="name" autocomplete="cc-name" maxlength="200" required value="${value("name")}"></label>
<label>Country <select name="country" autocomplete="country">${options.join("")}</select></label>
<button>${total === "" ? "Save card" : `Pay ${total}`}</button>
${backLink(session, "Cancel")}
</form>
<section>
<h2>Cards for tests</h2>
<p class="soft">Use any expiry in the future and any CVC.</p>
<ul>${cards.join("\n")}</ul>
</section>`,
  );
}

/** Returns the page on which a customer proves to their bank that they are the cardholder. */
export function authenticationPage(session: Session): LocalPage {
  return page(
    session,
    `<div>
<h1>Your bank requires an authentication</h1>
<p>A real bank would request a code or a confirmation in its app.</p>
</div>
<form method="post" action="/checkout/${session.id}/authenticate">
<button name="outcome" value="complete">Complete authentication</button>
<button class="second" name="outcome" value="fail">Fail authentication</button>
</form>`,
  );
}

/** Returns the page of a checkout that cannot be paid any more. */
export function closedPage(session: Session): LocalPage {
  const heading = session.status === "complete" ? "This checkout is complete" : "This checkout has expired";
  return page(session, `<div><h1>${heading}</h1>${backLink(session, "Return")}</div>`);
}

function page(session: Session, content: string): LocalPage {
  return htmlPage({
    title: session.mode === "setup" ? "Save a card" : "Checkout",
    style,
    body: `<header><span class="badge">Sandbox</span> <span class="soft">No real money moves here.</span></header>
<main class="columns">
${content}
</main>`,
    // Browsers apply it to the redirect after the form too.
    formAction: `'self' ${new URL(session.success_url).origin}`,
  });
}

function backLink({ cancel_url, success_url }: Session, text: string): string {
  return `<p><a href="${escapeHtml(cancel_url ?? success_url)}">${text}</a></p>`;
}

function line(name: string, amount: string, className = ""): string {
  return `<div class="${className}"><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(amount)}</dd></div>`;
}

function problemOf(intent: PaymentIntent | SetupIntent | undefined): string | undefined {
  if (intent === undefined) return undefined;
  const problem = intent.object === "setup_intent" ? intent.last_setup_error : intent.last_payment_error;
  return problem?.message;
}
