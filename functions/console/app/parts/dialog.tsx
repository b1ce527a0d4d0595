import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

import { useMayAct } from "../rights.ts";
import { announce, Problem } from "./notice.tsx";

/** A modal dialog. Without `onClose`, only its content can end it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose?: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A layout effect, because a dialog that has left the page cannot return the focus when it closes.
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
      <header class="row apart">
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

/** Moves the focus to the heading if the button that had it no longer exists. */
function keepFocus(): void {
  if (document.activeElement === document.body) document.querySelector<HTMLElement>("main h1")?.focus();
}

/**
 * A button that opens a dialog, whose content calls `done` with its result.
 * @param onDone handles the result after the dialog is closed
 */
export function DialogButton<Result = void>({
  label,
  title = label,
  look = "primary",
  isOpenAtFirst = false,
  onDone,
  children,
}: {
  label: string;
  title?: string;
  look?: ButtonLook;
  isOpenAtFirst?: boolean;
  onDone: (result: Result) => Promise<void>;
  children: (done: (result: Result) => Promise<void>) => ComponentChildren;
}) {
  return (
    <OpenButton label={label} look={look} isOpenAtFirst={isOpenAtFirst}>
      {(close) => (
        <Dialog title={title} onClose={close}>
          {children(async (result) => {
            close();
            await onDone(result);
          })}
        </Dialog>
      )}
    </OpenButton>
  );
}

type ButtonLook = "plain" | "primary" | "small";

/** A button that opens a dialog, for those who may use it. */
function OpenButton({
  label,
  look,
  isOpenAtFirst = false,
  children,
}: {
  label: string;
  look: ButtonLook;
  isOpenAtFirst?: boolean;
  children: (close: () => void) => JSX.Element;
}) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  if (!useMayAct()) return null;
  return (
    <>
      <button type="button" class={look === "plain" ? undefined : look} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen ? children(() => setOpen(false)) : null}
    </>
  );
}

/** An action, and what follows when it has succeeded. */
export interface Action {
  readonly act: () => Promise<unknown>;
  /** The text that announces the success. */
  readonly success?: string;
  /** Reads the data again, or leaves the view. */
  readonly onDone?: (() => Promise<void>) | (() => void);
}

/** Runs an action, and reports its success. */
export async function perform({ act, success, onDone }: Action): Promise<void> {
  await act();
  const following = onDone?.();
  // An announcement belongs to the view that is open, and `onDone` may open another one.
  if (success !== undefined) announce(success);
  await following;
}

export interface Confirmation extends Action {
  readonly label: string;
  readonly question: string;
  readonly consequence: ComponentChildren;
}

/** Requests confirmation of an action that cannot be undone, and shows the error if it fails. */
export function ConfirmDialog({
  label,
  question,
  consequence,
  onClose,
  ...action
}: Confirmation & { onClose: () => void }) {
  const { run, isBusy, error } = useAction(async () => {
    await perform(action);
    onClose();
  });
  return (
    <Dialog title={question} onClose={onClose}>
      <div>{consequence}</div>
      {error === undefined ? null : <Problem error={error} />}
      <div class="row end">
        <button type="button" onClick={onClose}>
          Go back
        </button>
        <button type="button" class="danger" aria-disabled={isBusy} onClick={run}>
          {isBusy ? "Please wait…" : label}
        </button>
      </div>
    </Dialog>
  );
}

/** A button that requests confirmation first. */
export function ConfirmButton({ look = "small", ...confirmation }: Confirmation & { look?: ButtonLook }) {
  return (
    <OpenButton label={confirmation.label} look={look}>
      {(close) => <ConfirmDialog {...confirmation} onClose={close} />}
    </OpenButton>
  );
}

/** The state of an action: whether it is running, and its last error. */
export function useAction(act: () => Promise<unknown>) {
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

/** A button that runs an action immediately and shows its error, for those who may use it. */
export function ActionButton({
  label,
  busyLabel = "Please wait…",
  isPrimary = false,
  ...action
}: Action & {
  label: string;
  busyLabel?: string;
  isPrimary?: boolean;
}) {
  const { run, isBusy, error } = useAction(async () => {
    await perform(action);
    requestAnimationFrame(keepFocus);
  });
  if (!useMayAct()) return null;
  return (
    <>
      <button type="button" class={isPrimary ? "primary" : "small"} aria-disabled={isBusy} onClick={run}>
        {isBusy ? busyLabel : label}
      </button>
      {error === undefined ? null : <Problem error={error} />}
    </>
  );
}
