import { batch, signal, type Signal } from "@preact/signals";

import { dropDraft, readDraft, saveDraft } from "../drafts.ts";
import { fieldProblems, problemOfField } from "../problems.ts";

export type Values = Record<string, boolean | string | readonly string[]>;

/** A value of a form, with its error. */
export interface Field<Value> {
  readonly name: string;
  readonly value: Value;
  readonly problem: string | undefined;
  readonly set: (value: Value) => void;
}

/** A field whose value is a signal of its own. */
export function fieldOf<Value>(name: string, value: Signal<Value>): Field<Value> {
  return { name, value: value.value, problem: undefined, set: (changed) => void (value.value = changed) };
}

/**
 * The state of a form. Values survive a failed submit. Submits of the same values use the same idempotency key until one
 * succeeds, so that a request whose response was lost is not repeated.
 */
export interface FormState<V extends Values> {
  readonly values: Signal<V>;
  readonly error: Signal<unknown>;
  readonly isBusy: Signal<boolean>;
  /** Whether the values come from a draft. */
  readonly isRestored: Signal<boolean>;
  /** The API's names of the fields that show their own errors. */
  readonly shownFields: ReadonlySet<string>;
  /** @param apiName the API's name of the field, if it differs */
  readonly field: <Name extends keyof V & string>(name: Name, apiName?: string) => Field<V[Name]>;
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
  const shownFields = new Set<string>();
  let attemptKey = kept?.attemptKey ?? crypto.randomUUID();
  const clearDraft = (): void => {
    isRestored.value = false;
    if (draft !== undefined) dropDraft(draft);
  };
  const change = (changed: V): void => {
    attemptKey = crypto.randomUUID();
    values.value = changed;
    if (draft !== undefined) saveDraft(draft, { values: changed, attemptKey });
  };
  return {
    values,
    error,
    isBusy,
    isRestored,
    shownFields,
    field: (name, apiName = name) => {
      shownFields.add(apiName);
      return {
        name,
        get value() {
          return values.value[name];
        },
        get problem() {
          return problemOfField(apiName, fieldProblems(error.value));
        },
        set: (value) => change({ ...values.value, [name]: value }),
      };
    },
    set: (changes) => change({ ...values.value, ...changes }),
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
