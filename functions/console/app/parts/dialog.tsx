import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

import { Problem } from "./notice.tsx";

/** A dialog over the page, which keeps the focus until it is closed; without `onClose` only its content ends it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose?: () => void;
  children: ComponentChildren;
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the browser paints: once the dialog is out of the page, closing it gives the focus back to nobody.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => {
      element?.close();
      requestAnimationFrame(keepFocus);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <header class="section-header">
        <h2 id={id}>{title}</h2>
        {onClose === undefined ? null : (
          <button type="button" class="plain" aria-label="Close" onClick={onClose}>
            ✕
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}

/** Where the button that opened a dialog has gone with what it was for, those who use the keyboard go on at the heading. */
function keepFocus(): void {
  if (document.activeElement === document.body) document.querySelector<HTMLElement>("main h1")?.focus();
}

/** A button for what cannot be taken back: it asks first, and says what went wrong where it was asked. */
export function ConfirmButton({
  label,
  question,
  consequence,
  act,
  look = "small",
}: {
  label: string;
  question: string;
  consequence: ComponentChildren;
  act: () => Promise<unknown>;
  look?: "plain" | "primary" | "small";
}): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { run, isBusy, error } = useAction(async () => {
    await act();
    setOpen(false);
  });
  return (
    <>
      <button type="button" class={look === "plain" ? undefined : look} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen ? (
        <Dialog title={question} onClose={() => setOpen(false)}>
          <p>{consequence}</p>
          {error === undefined ? null : <Problem error={error} />}
          <div class="row end">
            <button type="button" onClick={() => setOpen(false)}>
              Go back
            </button>
            <button type="button" class="danger" disabled={isBusy} onClick={run}>
              {isBusy ? "One moment…" : label}
            </button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}

/** Something that a button does: whether it is under way, and what went wrong the last time. */
export function useAction(act: () => Promise<unknown>): {
  run: () => void;
  isBusy: boolean;
  error: unknown;
} {
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({
    isBusy: false,
    error: undefined,
  });
  const run = async (): Promise<void> => {
    if (state.isBusy) return;
    setState({ isBusy: true, error: undefined });
    try {
      await act();
      setState({ isBusy: false, error: undefined });
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  return { run: () => void run(), ...state };
}

/** A button that does something at once, with what went wrong beside it. */
export function ActionButton({
  label,
  act,
  isPrimary = false,
}: {
  label: string;
  act: () => Promise<unknown>;
  isPrimary?: boolean;
}): JSX.Element {
  const { run, isBusy, error } = useAction(act);
  return (
    <>
      <button type="button" class={isPrimary ? "primary" : "small"} disabled={isBusy} onClick={run}>
        {isBusy ? "One moment…" : label}
      </button>
      {error === undefined ? null : <Problem error={error} />}
    </>
  );
}
