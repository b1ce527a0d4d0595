import { minPasswordCharacters } from "../../api/contract/accounts.ts";
import { filled } from "../../notices/brand/brand.ts";
import { inlinePage } from "../../platform/http/inline-page.ts";
import type { RawResponse } from "../../platform/http/pipeline.ts";

/*
 * The page that links in emails open. The purpose of the link and its token follow the #, so that no server and no
 * Referer gets them. Nothing happens until a person presses the button, because mail scanners open links too. Paths are
 * relative, so that the page also works behind a proxy that adds a path prefix.
 */

const script = `
const purposes = {
  verify: {
    path: "v1/auth/verify-email",
    title: "Verify your email",
    button: "Verify the email",
    about: "Your password shows that you registered this account.",
    done: "Your email is verified. Your sessions, API keys and webhooks stay as they are.",
    fields: ["currentPassword"],
    again: ["console#/security", "Log in to get a new link"],
  },
  reset: {
    path: "v1/auth/password-reset",
    title: "Set a new password",
    button: "Set the password",
    done: "Your password is set, and all sessions have ended. Log in with the new password.",
    fields: ["password"],
    again: ["console#/forgot-password", "Get a new link"],
  },
  invitation: {
    path: "v1/auth/accept-invitation",
    title: "Accept the invitation",
    button: "Accept",
    done: "You are now a member of {organization}. Log in with your email and the password.",
    fields: ["firstName", "lastName", "password"],
    invalid: "Ask the person who invited you for a new link.",
  },
};

// Fields that have another name in the API.
const apiNames = { currentPassword: "password" };

const form = document.querySelector("form");
const button = document.querySelector("button");
const message = document.querySelector("#message");
// Programs that pass emails on encode links, and append parameters to them.
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
const link = /^#(\\w+)=([\\w.-]+)(?:~([^\\s&]*))?/.exec(decoded(location.hash));
const [, name = "", token = "", email = ""] = link ?? [];
const purpose = Object.hasOwn(purposes, name) ? purposes[name] : undefined;
// The token is neither in the history nor in a copied address.
history.replaceState(null, "", location.pathname + location.search);

// Another link in the same tab changes only the part after the #.
addEventListener("hashchange", () => location.reload());

const say = (text) => {
  message.textContent = text;
};

const lead = ([href, label]) => {
  const link = document.querySelector("#next a");
  link.href = href;
  link.textContent = label;
  link.parentElement.hidden = false;
};

const logIn = async (email, headers) => {
  const body = JSON.stringify({ email, password: document.querySelector("#password").value });
  const init = { method: "POST", headers: { ...headers, "X-Console": "new" }, body };
  const begun = await fetch("v1/auth/console-session", init).catch(() => undefined);
  if (begun?.ok) location.replace("console");
};

const problemOf = ({ error }, { again, invalid }) => {
  const details = (error?.details ?? []).map((detail) => detail.message);
  const isInvalid = error?.code === "INVALID_EMAIL_TOKEN";
  form.hidden = isInvalid;
  if (isInvalid && again !== undefined) lead(again);
  if (isInvalid && invalid !== undefined) details.push(invalid);
  return [error?.message ?? "The request failed. Try again.", ...details].join(" ");
};

if (purpose === undefined) {
  say("This page is for links in emails. Open the complete link again.");
  lead(["console", "Log in"]);
} else {
  const fields = purpose.fields ?? [];
  document.title = purpose.title;
  document.querySelector("h1").textContent = purpose.title;
  button.textContent = purpose.button;
  for (const field of fields) {
    document.querySelector("#of-" + field).hidden = false;
    document.querySelector("#" + field).disabled = false;
  }
  document.querySelector("#about").textContent = purpose.about ?? "";
  // A password manager keeps the password with it.
  document.querySelector("#email").value = email;
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    say("");
    const given = fields.map((field) => [apiNames[field] ?? field, document.querySelector("#" + field).value]);
    const body = JSON.stringify({ token, ...Object.fromEntries(given.filter(([, value]) => value !== "")) });
    const headers = { "Content-Type": "application/json" };
    try {
      const response = await fetch(purpose.path, { method: "POST", headers, body });
      const received = await response.json().catch(() => ({}));
      // A member has just set this password, so it need not be entered again.
      if (response.ok && name === "invitation") await logIn(received.data.user.email, headers);
      form.hidden = response.ok;
      if (response.ok) lead(["console", "Log in"]);
      const organization = received.data?.organization?.name ?? "the organization";
      say(response.ok ? purpose.done.replace("{organization}", () => organization) : problemOf(received, purpose));
    } catch {
      say("The gateway could not be reached. Try again.");
    }
    button.disabled = false;
  });
}
`;

const style = `
:root { color-scheme: light dark; --text: light-dark(#16211c, #e8efeb); --ground: light-dark(#ffffff, #0e1412);
  --field-line: light-dark(#77857e, #7d8d85); --accent-ink: light-dark(#ffffff, #06180f); }
body { background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; margin: 3em auto; max-width: 26em;
  padding: 0 1em; }
header a { color: var(--text); font-weight: 700; text-decoration: none; }
header img { display: block; height: 2rem; max-width: 14rem; }
h1 { font-size: 1.6rem; margin: 1.5rem 0 1rem; }
label { display: block; }
input { background: var(--ground); border: 1px solid var(--field-line); border-radius: 8px; box-sizing: border-box;
  color: var(--text); font: inherit; padding: 0.5em 0.7em; width: 100%; }
button, #next a { background: var(--accent); border: 0; border-radius: 8px; color: var(--accent-ink); cursor: pointer;
  display: inline-block; font: inherit; font-weight: 600; padding: 0.6em 1.2em; text-decoration: none; }
button:disabled { opacity: 0.6; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;

const body = `<header><a href="./">{{brand.logo}}</a></header>
<h1>Account</h1>
<form hidden>
<p id="about"></p>
<input id="email" type="email" autocomplete="username" hidden readonly>
<p id="of-firstName" hidden><label for="firstName">First name</label>
<input id="firstName" autocomplete="given-name" maxlength="100" disabled></p>
<p id="of-lastName" hidden><label for="lastName">Last name</label>
<input id="lastName" autocomplete="family-name" maxlength="100" disabled></p>
<p id="of-currentPassword" hidden><label for="currentPassword">Password</label>
<input id="currentPassword" type="password" autocomplete="current-password" required disabled></p>
<p id="of-password" hidden><label for="password">New password</label>
<input id="password" type="password" autocomplete="new-password" minlength="${minPasswordCharacters}" required disabled></p>
<p><button></button></p>
</form>
<p id="message" role="status"></p>
<p id="next" hidden><a></a></p>
<noscript>This page needs JavaScript.</noscript>`;

const page = inlinePage({ title: "Account · {{brand.name}}", style, script, body });

export function accountPage(): RawResponse {
  return {
    headers: { ...page.headers, "Cache-Control": "public, max-age=300" },
    body: filled(page.body),
  };
}
