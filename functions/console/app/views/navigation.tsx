import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { logout } from "../api.ts";
import { has } from "../features.ts";
import { BrandLinks, BrandName } from "../parts/brand.tsx";
import { DocsLink } from "../parts/docs-link.tsx";
import { Icon } from "../parts/icon.tsx";
import { usePolling } from "../parts/load.tsx";
import { countText } from "../parts/money.tsx";
import { mayOpen } from "../rights.ts";
import { here } from "../router.ts";
import { session } from "../session.ts";
import { countWaiting, waiting } from "../waiting.ts";

const countMs = 60_000;

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
      ["verifications", "Verifications"],
      ["held-messages", "Held messages"],
      ["conversations", "Conversations"],
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
      ["hooks", "Login hooks"],
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
    void countWaiting();
  }, [here.value]);
  usePolling(true, countWaiting, countMs);
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
                {links.map(([path, name]) =>
                  mayOpen(path) ? (
                    <li key={path}>
                      <a href={`#/${path}`} aria-current={path === first ? "page" : undefined}>
                        <Icon of={path} />
                        {name}
                        <Count path={path} />
                      </a>
                    </li>
                  ) : null,
                )}
              </ul>
            </section>
          ))}
        </nav>
        <div class="account">
          <p class="who" dir="auto">
            <strong class="one-line">{organization?.name}</strong>
            <span class="one-line muted">{user?.email}</span>
          </p>
          <div class="row">
            <button type="button" class="small" onClick={() => void logout()}>
              Log out
            </button>
            <DocsLink>Documentation</DocsLink>
          </div>
          <BrandLinks />
        </div>
      </div>
    </header>
  );
}

/** The number of entries of a view that wait for a person. */
function Count({ path }: { path: string }) {
  if (path !== "conversations" && path !== "held-messages") return null;
  const count = waiting.value[path];
  if (count === 0) return null;
  return (
    <>
      {" "}
      <span class="count">
        {countText(count)} <span class="hidden">waiting</span>
      </span>
    </>
  );
}

/** A link to `#main` would change the view's address. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("main h1")?.focus();
}
