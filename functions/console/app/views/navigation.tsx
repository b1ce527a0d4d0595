import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { logout } from "../api.ts";
import { has } from "../features.ts";
import { BrandLinks, BrandName } from "../parts/brand.tsx";
import { DocsLink } from "../parts/docs-link.tsx";
import { here } from "../router.ts";
import { session } from "../session.ts";

const groups: readonly (readonly [
  title: string,
  links: readonly (readonly [path: string, name: string])[],
])[] = [
  ["", [["", "Overview"]]],
  [
    "Messages",
    [
      ["send", "Send"],
      ["messages", "Messages"],
      ["held-messages", "Held messages"],
      ["inbound", "Inbound messages"],
      ["contacts", "Contacts"],
      ["templates", "Templates"],
      ["campaigns", "Campaigns"],
    ],
  ],
  [
    "Developers",
    [
      ["api-keys", "API keys"],
      ["webhooks", "Webhooks"],
    ],
  ],
  [
    "Organization",
    [
      ["wallet", "Wallet"],
      ...(has("payments") ? ([["payments", "Payments"]] as const) : []),
      ["usage", "Usage"],
      ["sender-ids", "Sender IDs"],
      ["kyc", "Business verification"],
      ["members", "Members"],
      ["audit-log", "Audit log"],
      ["security", "Security"],
    ],
  ],
];

/** The main menu, the account and the logout. */
export function Navigation() {
  const isOpen = useSignal(false);
  const [first = ""] = here.value.parts;
  // On a narrow screen the open menu would cover the chosen view.
  useEffect(() => {
    isOpen.value = false;
  }, [here.value]);
  const { user, organization } = session.value ?? {};
  return (
    <header class="navigation">
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <div class="brand">
        <a href="#/">
          <BrandName />
        </a>
        <button
          type="button"
          class="menu"
          aria-expanded={isOpen.value}
          aria-controls="menu"
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          ☰ Menu
        </button>
      </div>
      <div id="menu" class={isOpen.value ? "open" : undefined}>
        <nav aria-label="Main">
          {groups.map(([title, links]) => (
            <section key={title}>
              {title === "" ? null : <h2>{title}</h2>}
              <ul>
                {links.map(([path, name]) => (
                  <li key={path}>
                    <a href={`#/${path}`} aria-current={path === first ? "page" : undefined}>
                      {name}
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </nav>
        <div class="account">
          <DocsLink>Documentation</DocsLink>
          <BrandLinks />
          <p class="who" dir="auto">
            <strong class="clamp">{organization?.name}</strong>
            <span class="clamp muted">{user?.email}</span>
          </p>
          <button type="button" class="small" onClick={() => void logout()}>
            Log out
          </button>
        </div>
      </div>
    </header>
  );
}

/** A link to `#main` would change the view's address. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("main h1")?.focus();
}
