import { sharedCodes } from "../../api/contract/countries.ts";
import { currentRateCard } from "../../money/prices/current.ts";
import type { PriceRow, RateCard } from "../../money/prices/rate-card.ts";
import { amountOf } from "../../money/wallet/money.ts";
import { brand, filled } from "../../notices/brand/brand.ts";
import { minuteMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { escapeHtml } from "../../platform/html.ts";
import { inlinePage } from "../../platform/http/inline-page.ts";
import type { RawResponse } from "../../platform/http/pipeline.ts";
import { log } from "../../platform/log.ts";

/*
 * The start page. It shows what the gateway offers and what it costs, and leads to the registration and the documentation.
 * Its paths are relative, so that it also works under a path prefix.
 */

const style = `
:root { color-scheme: light dark; --text: light-dark(#16211c, #e8efeb); --muted: light-dark(#505d57, #a7b5ae);
  --ground: light-dark(#ffffff, #0e1412); --raised: light-dark(#f0f4f2, #1e2924); --line: light-dark(#ccd6d1, #314039); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1.05rem/1.6 system-ui, sans-serif; }
header, main, footer { max-width: 62rem; margin: 0 auto; padding: 1.25rem; }
header, footer { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; align-items: center; }
header a:first-child { margin-right: auto; font-weight: 700; font-size: 1.15rem; text-decoration: none; color: var(--text); }
header img { display: block; height: 2rem; max-width: min(14rem, 38vw); }
a { color: var(--accent); text-underline-offset: 0.15em; }
h1 { font-size: clamp(2rem, 6vw, 3.2rem); line-height: 1.15; margin: 3rem 0 1rem; max-width: 16em; text-wrap: balance; }
h2 { font-size: 1.5rem; margin: 3.5rem 0 1rem; }
h3 { font-size: 1.05rem; margin: 0 0 0.25rem; }
p { margin: 0 0 1rem; max-width: 42rem; }
.lead { font-size: 1.2rem; color: var(--muted); }
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 2rem 0; }
.actions a { padding: 0.7rem 1.4rem; border: 1px solid var(--accent); border-radius: 10px; font-weight: 600; text-decoration: none; }
.actions a:first-child { background: var(--accent); color: light-dark(#ffffff, #06180f); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
pre { background: var(--raised); border-radius: 10px; padding: 1rem; overflow-x: auto; font: 0.9rem/1.5 ui-monospace, monospace; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1.5rem; padding: 0; margin: 0; list-style: none; }
.grid p { margin: 0; color: var(--muted); }
.prices { columns: 18rem; column-gap: 2.5rem; padding: 0; margin: 0; list-style: none; }
.prices li { display: flex; justify-content: space-between; gap: 1rem; break-inside: avoid; padding: 0.35rem 0; border-bottom: 1px solid var(--line); }
.prices span:last-child { font-variant-numeric: tabular-nums; white-space: nowrap; }
footer { margin-top: 4rem; border-top: 1px solid var(--line); color: var(--muted); font-size: 0.95rem; }
`;

const features = [
  [
    "Pay as you go",
    "There are no monthly fees. Messages that fail are refunded, and each amount is in your ledger.",
  ],
  [
    "Signed webhooks",
    "Your server learns of each result and reply. Calls are signed and repeated until your server accepts them.",
  ],
  [
    "Safe to repeat",
    "A request with an Idempotency-Key sends and charges once, however often your code repeats it.",
  ],
  [
    "Campaigns and contacts",
    "Import a spreadsheet, write a text with placeholders, and see the price before you launch.",
  ],
  [
    "Opt-outs included",
    "A reply with STOP blocks further marketing to that number, in more than twenty languages.",
  ],
  ["Teams and roles", "Members with roles, a second factor, API keys with scopes, and a log of all changes."],
] as const;

/** Returns the start page with the present prices. Without them, the page has everything else. */
export async function landingPage(): Promise<RawResponse> {
  const prices = await currentRateCard()
    .then(pricesOf)
    .catch((error: unknown) => {
      log.warn("landing.no_prices", { error });
      return "";
    });
  const { headers, body } = inlinePage({
    title: "{{brand.name}}: SMS from your code or your browser",
    style,
    head: socialCard(),
    body: contentWith(prices),
  });
  return { headers: { ...headers, "Cache-Control": "public, max-age=300" }, body: filled(body) };
}

/** Returns what other sites show with a link to this page. */
function socialCard(): string {
  const description =
    "Send SMS from your code or your browser. Pay as you go, follow each message, and get signed webhooks.";
  const properties = {
    "og:type": "website",
    "og:title": "{{brand.name}}",
    "og:description": description,
    "og:url": `${config.apiUrl()}/`,
    ...(brand().images.includes("card.png") ? { "og:image": `${config.apiUrl()}/brand/card.png` } : {}),
  };
  const metas = Object.entries(properties).map(
    ([name, value]) => `<meta property="${name}" content="${value}">\n`,
  );
  return [`<meta name="description" content="${description}">\n`, ...metas].join("");
}

function contentWith(prices: string): string {
  const docs = config.docsEnabled() ? '<a href="docs">Documentation</a>' : "";
  const items = features.map(([title, text]) => `<li><h3>${title}</h3><p>${text}</p></li>`).join("\n");
  return `<header>
<a href="./">{{brand.logo}}</a>
${docs}
<a href="console">Log in</a>
</header>
<main>
<h1>Send SMS from your code or your browser</h1>
<p class="lead">Create an account, try it with a test number, and see each message go from queued to sent. You pay only for
messages that are sent.</p>
<p class="actions"><a href="console#/sign-up">Create an account</a>${docs}</p>
<pre tabindex="0"><code>curl ${config.apiUrl()}/v1/sms/send \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"to":"15005550007","message":"Your code is 123456","senderId":"ACME"}'</code></pre>
<h2>What you get</h2>
<ul class="grid">
${items}
</ul>
${prices}</main>
<footer>
<span>{{brand.name}}</span>
{{brand.links}}
</footer>`;
}

/** The prices that were shown last. A card can have a hundred thousand rows. */
let shown: { readonly card: RateCard; readonly until: Date; readonly html: string } | undefined;

function pricesOf(card: RateCard): string {
  const at = now();
  if (shown?.card !== card || shown.until < at) {
    shown = { card, until: new Date(at.getTime() + 5 * minuteMs), html: priceList(card.rowsAt(at)) };
  }
  return shown.html;
}

/** Returns the lowest and highest price of each country as HTML; an empty text without prices. */
function priceList(rows: readonly PriceRow[]): string {
  const allowed = config.allowedCountries();
  // A row of several countries may have one that the stage does not allow.
  const offered = rows.filter(({ country }) => allowed?.has(country ?? "") ?? true);
  if (offered.length === 0) return "";
  const items = [...Map.groupBy(offered, ({ country, prefix }) => country ?? prefix)]
    .map(([place, ofPlace]) => ({ ...namePlace(place), price: priceRange(ofPlace) }))
    .toSorted(
      (one, other) =>
        Number(other.isCountry) - Number(one.isCountry) || one.name.localeCompare(other.name, "en"),
    )
    .map(({ name, price }) => `<li><span>${escapeHtml(name)}</span><span>${escapeHtml(price)}</span></li>`);
  return `<h2 id="prices">Prices per message segment</h2>
<p>A segment has 160 characters, or 70 if the text has characters such as emoji. The console shows the prices of
all numbers. Taxes may be added to payments.</p>
<ul class="prices">
${items.join("\n")}
</ul>
`;
}

const countryNames = new Intl.DisplayNames("en", { type: "region" });

/** @param place a country code, or the prefix of numbers that have no single country */
function namePlace(place: string): { name: string; isCountry: boolean } {
  const isCountry = /^[A-Z]/.test(place);
  if (isCountry) return { name: countryNames.of(place) ?? place, isCountry };
  const ofSeveral = sharedCodes[place];
  if (ofSeveral !== undefined) return { name: `${ofSeveral} (+${place})`, isCountry: true };
  return { name: place === "" ? "Other numbers" : `Numbers with +${place}`, isCountry };
}

function priceRange(rows: readonly PriceRow[]): string {
  const prices = rows.map(({ priceMicros }) => priceMicros).toSorted((one, other) => one - other);
  const format = new Intl.NumberFormat("en", {
    style: "currency",
    currency: config.currency(),
    maximumFractionDigits: 6,
  });
  const [lowest, highest] = [amountOf(prices.at(0) ?? 0), amountOf(prices.at(-1) ?? 0)];
  return lowest === highest ? format.format(lowest) : format.formatRange(lowest, highest);
}
