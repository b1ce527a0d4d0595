import { batch, signal, type Signal } from "@preact/signals";

import { dropDraft, readDraft, saveDraft } from "../drafts.ts";

/** What the fields of a form hold: texts, yes or no, or a choice of several. */
export type Values = Record<string, boolean | string | readonly string[]>;

/** The names of those values that are of a kind. */
export type NamesOf<V extends Values, Kind> = {
  [Name in keyof V]: V[Name] extends Kind ? Name : never;
}[keyof V] &
  string;

/**
 * A form: what was typed, which stays whatever becomes of a submit, and what is wrong with it. The key that `act` gets is
 * the same for each submit of the same values until one succeeds, so that a request whose answer was lost is not carried
 * out twice.
 */
export interface FormState<V extends Values> {
  readonly values: Signal<V>;
  readonly error: Signal<unknown>;
  readonly isBusy: Signal<boolean>;
  /** Whether it shows what was typed before the person went to another view. */
  readonly isRestored: Signal<boolean>;
  /** The fields that show their errors themselves. */
  readonly fields: Set<string>;
  readonly set: (changes: Partial<V>) => void;
  readonly reset: () => void;
  readonly submit: () => Promise<void>;
}

/** What a form does with its values, and under which key the request is carried out once. */
export type Act<V extends Values> = (values: V, attemptKey: string) => Promise<void>;

/** @param draft the name under which what is typed is kept until `act` succeeds; without it nothing is kept */
export function createForm<V extends Values>(initial: V, act: Act<V>, draft?: string): FormState<V> {
  const kept = draft === undefined ? undefined : readDraft(draft);
  const restored = kept === undefined ? undefined : restoredValues(initial, kept.values);
  const values = signal(restored ?? initial);
  const error = signal<unknown>(undefined);
  const isBusy = signal(false);
  const isRestored = signal(restored !== undefined);
  let attemptKey = kept?.attemptKey ?? crypto.randomUUID();
  const forget = (): void => {
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
        forget();
      });
    },
    submit: async () => {
      if (isBusy.value) return;
      isBusy.value = true;
      error.value = undefined;
      try {
        await act(values.value, attemptKey);
        attemptKey = crypto.randomUUID();
        forget();
      } catch (problem) {
        error.value = problem;
      } finally {
        isBusy.value = false;
      }
    },
  };
}

/** The values of a draft in the place of those that a form begins with; undefined when they are the same. */
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
