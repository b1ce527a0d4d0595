import { batch, signal, type Signal } from "@preact/signals";

import { dropDraft, readDraft, saveDraft } from "../drafts.ts";

export type Values = Record<string, boolean | string | readonly string[]>;

/** The names of the values of one kind. */
export type NamesOf<V extends Values, Kind> = {
  [Name in keyof V]: V[Name] extends Kind ? Name : never;
}[keyof V] &
  string;

/**
 * The state of a form. Values survive a failed submit. Submits of the same values use the same idempotency key until
 * one
 * succeeds, so that a request whose response was lost is not repeated.
 */
export interface FormState<V extends Values> {
  readonly values: Signal<V>;
  readonly error: Signal<unknown>;
  readonly isBusy: Signal<boolean>;
  /** Whether the values come from a draft. */
  readonly isRestored: Signal<boolean>;
  /** The fields that show their own errors. */
  readonly fields: Set<string>;
  readonly set: (changes: Partial<V>) => void;
  readonly reset: () => void;
  readonly submit: () => Promise<void>;
}

/** Submits the values under an idempotency key. */
export type Act<V extends Values> = (values: V, attemptKey: string) => Promise<void>;

/** @param draft the name of the draft that keeps the values until `act` succeeds */
export function createForm<V extends Values>(initial: V, act: Act<V>, draft?: string): FormState<V> {
  const kept = draft === undefined ? undefined : readDraft(draft);
  const restored = kept === undefined ? undefined : restoredValues(initial, kept.values);
  const values = signal(restored ?? initial);
  const error = signal<unknown>(undefined);
  const isBusy = signal(false);
  const isRestored = signal(restored !== undefined);
  let attemptKey = kept?.attemptKey ?? crypto.randomUUID();
  const clearDraft = (): void => {
    isRestored.value = false;
    if (draft !== undefined) dropDraft(draft);
  };
  return {
    values,
    error,
    isBusy,
    isRestored,
    fields: new Set<string>(),
    set: (changes) => {
      attemptKey = crypto.randomUUID();
      values.value = { ...values.value, ...changes };
      if (draft !== undefined) saveDraft(draft, { values: values.value, attemptKey });
    },
    reset: () => {
      batch(() => {
        attemptKey = crypto.randomUUID();
        values.value = initial;
        error.value = undefined;
        clearDraft();
      });
    },
    submit: async () => {
      if (isBusy.value) return;
      isBusy.value = true;
      error.value = undefined;
      try {
        await act(values.value, attemptKey);
        attemptKey = crypto.randomUUID();
        clearDraft();
      } catch (problem) {
        error.value = problem;
      } finally {
        isBusy.value = false;
      }
    },
  };
}

/** The initial values with those of a draft; undefined when nothing differs. */
function restoredValues<V extends Values>(initial: V, kept: Record<string, unknown>): V | undefined {
  const fitting = Object.entries(initial).filter(
    ([name, value]) =>
      JSON.stringify(kept[name]) !== JSON.stringify(value) &&
      typeof kept[name] === typeof value &&
      Array.isArray(kept[name]) === Array.isArray(value),
  );
  if (fitting.length === 0) return undefined;
  return { ...initial, ...Object.fromEntries(fitting.map(([name]) => [name, kept[name]])) };
}
