import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { brand } from "../features.ts";
import { mayOpen } from "../rights.ts";

export interface PageProps {
  readonly title: string;
  readonly lead?: ComponentChildren;
  /** The address and name of the list that the view belongs to. */
  readonly back?: readonly [href: string, name: string] | undefined;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame of a view. Its heading receives the focus, so that screen readers announce the view. */
export function Page({ title, lead, back, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${brand.name}`;
  }, [title]);
  useEffect(() => {
    // A field with autofocus has the focus already.
    if (!(document.activeElement instanceof HTMLInputElement))
      heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, []);
  return (
    <>
      {back === undefined ? null : (
        <p class="back">
          <a href={back[0]}>← {back[1]}</a>
        </p>
      )}
      <header class="row apart page-header">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead === undefined ? null : <p class="lead">{lead}</p>}
        </div>
        {actions === undefined ? null : <div class="row">{actions}</div>}
      </header>
      {children}
    </>
  );
}

export function Section({ title, actions, children }: Pick<PageProps, "actions" | "children" | "title">) {
  return (
    <section class="panel">
      <header class="row apart">
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}

/** A link that looks like a button, for those who may open the view. */
export function LinkButton({ href, label, look = "" }: { href: string; label: string; look?: string }) {
  if (!mayOpen(href)) return null;
  return (
    <a class={`button ${look}`} href={href}>
      {label}
    </a>
  );
}

/** A list of names and values. Empty values are left out. */
export function Facts({ of }: { of: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class="facts">
      {Object.entries(of)
        .filter(([, value]) => value !== undefined && value !== null && value !== "")
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
