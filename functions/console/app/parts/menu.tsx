import { useSignal } from "@preact/signals";
import type { JSX, TargetedKeyboardEvent } from "preact";
import { useId, useRef } from "preact/hooks";

import { useMayAct } from "../rights.ts";
import { ConfirmDialog, Dialog, perform, type Action, type Confirmation } from "./dialog.tsx";
import { Problem } from "./notice.tsx";

/** A menu item: it opens a dialog or runs an action. */
export type MenuItem = { readonly label: string } & (
  | { readonly dialog: (close: () => void) => JSX.Element }
  | Action
);

/** A menu item that requests confirmation first. */
export function confirmItem(confirmation: Confirmation): MenuItem {
  return {
    label: confirmation.label,
    dialog: (close) => <ConfirmDialog {...confirmation} onClose={close} />,
  };
}

/** A menu item that opens a dialog, whose content calls `done`. @param onDone is called after the dialog is closed */
export function dialogItem(
  label: string,
  onDone: () => Promise<void>,
  content: (done: () => Promise<void>) => JSX.Element,
): MenuItem {
  return {
    label,
    dialog: (close) => (
      <Dialog title={label} onClose={close}>
        {content(async () => {
          close();
          await onDone();
        })}
      </Dialog>
    ),
  };
}

const gapPx = 4;

/**
 * The actions of a table row, for those who may use them. The list is a popover: the browser closes it on Escape and on a
 * click outside, and returns the focus to the button.
 */
export function Menu({ label, items }: { label: string; items: readonly MenuItem[] }) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const isOpen = useSignal(false);
  const dialog = useSignal<((close: () => void) => JSX.Element) | undefined>(undefined);
  const close = (): void => {
    dialog.value = undefined;
  };
  if (!useMayAct() || items.length === 0) return null;

  const choose = (item: MenuItem): void => {
    list.current?.hidePopover();
    button.current?.focus();
    if ("dialog" in item) {
      dialog.value = item.dialog;
      return;
    }
    perform(item).catch((error: unknown) => {
      dialog.value = (closeProblem) => (
        <Dialog title={item.label} onClose={closeProblem}>
          <Problem error={error} />
        </Dialog>
      );
    });
  };
  const onToggle = (event: { readonly newState: string }): void => {
    isOpen.value = event.newState === "open";
    if (!isOpen.value) return;
    place(list.current, button.current);
    list.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="small menu-button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        aria-controls={id}
        onClick={() => list.current?.togglePopover()}
      >
        <span aria-hidden="true">•••</span>
      </button>
      <div
        ref={list}
        id={id}
        class="menu-list"
        role="menu"
        aria-label={label}
        popover="auto"
        onToggle={onToggle}
        onKeyDown={moveFocus}
      >
        {items.map((item) => (
          <button
            key={item.label}
            type="button"
            class="plain"
            role="menuitem"
            tabIndex={-1}
            onClick={() => choose(item)}
          >
            {item.label}
          </button>
        ))}
      </div>
      {dialog.value?.(close)}
    </>
  );
}

/** Places the list below its button, or above if there is no space. */
function place(list: HTMLElement | null, button: HTMLElement | null): void {
  if (list === null || button === null) return;
  const anchor = button.getBoundingClientRect();
  const { offsetHeight: height, offsetWidth: width } = list;
  const below = anchor.bottom + gapPx;
  const top = below + height <= innerHeight ? below : Math.max(gapPx, anchor.top - gapPx - height);
  list.style.top = `${top}px`;
  list.style.left = `${Math.max(gapPx, anchor.right - width)}px`;
}

/** Arrow keys, Home and End move the focus; Tab closes the menu. */
function moveFocus(event: TargetedKeyboardEvent<HTMLDivElement>): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=menuitem]")];
  const at = items.findIndex((item) => item === document.activeElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (event.key === "Tab") event.currentTarget.hidePopover();
  if (next === undefined) return;
  event.preventDefault();
  items.at(next % items.length)?.focus();
}
