import { batch, signal, type Signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";

import { RequestError } from "../../../../shared/client.ts";
import { minPasswordCharacters } from "../../../../shared/contract/accounts.ts";
import type { ErrorDetail } from "../../../../shared/contract/errors.ts";
import { messageOf } from "../api.ts";
import { Notice, Problem } from "./notice.tsx";

type Values = Record<string, boolean | string>;

/** The names of those values that are texts, or that are yes or no. */
type NamesOf<V extends Values, Kind> = { [Name in keyof V]: V[Name] extends Kind ? Name : never }[keyof V] &
  string;

/**
 * A form: what was typed, which stays whatever becomes of a submit, and what is wrong with it. `attemptKey` is the same
 * for each submit of the same values until one succeeds, so that a request whose answer was lost is not done twice.
 */
export interface FormState<V extends Values> {
  readonly values: Signal<V>;
  readonly error: Signal<unknown>;
  readonly isBusy: Signal<boolean>;
  /** The fields that show their errors themselves. */
  readonly fields: Set<string>;
  readonly set: (changes: Partial<V>) => void;
  readonly reset: () => void;
  readonly submit: () => Promise<void>;
}

/** A form that hands its values to `act`, whose errors it shows at the fields that they are about. */
export function useForm<V extends Values>(
  initial: V,
  act: (values: V, attemptKey: string) => Promise<void>,
): FormState<V> {
  // What it closes over is another with each drawing, the form is the same.
  const newestAct = useRef(act);
  newestAct.current = act;
  return useMemo(() => {
    const values = signal(initial);
    const error = signal<unknown>(undefined);
    const isBusy = signal(false);
    let attemptKey = crypto.randomUUID();
    return {
      values,
      error,
      isBusy,
      fields: new Set<string>(),
      set: (changes) => {
        attemptKey = crypto.randomUUID();
        values.value = { ...values.value, ...changes };
      },
      reset: () => {
        batch(() => {
          values.value = initial;
          error.value = undefined;
        });
      },
      submit: async () => {
        if (isBusy.value) return;
        isBusy.value = true;
        error.value = undefined;
        try {
          await newestAct.current(values.value, attemptKey);
          attemptKey = crypto.randomUUID();
        } catch (problem) {
          error.value = problem;
        } finally {
          isBusy.value = false;
        }
      },
    };
  }, []);
}

/** What the console itself finds wrong with a field, in the form that the API's findings have. */
export class FieldProblem extends Error {
  override readonly name = "FieldProblem";
  readonly details: readonly ErrorDetail[];

  constructor(path: string, message: string) {
    super("Something is not right yet.");
    this.details = [{ path, message }];
  }
}

function detailsOf(error: unknown): readonly ErrorDetail[] {
  return error instanceof RequestError || error instanceof FieldProblem ? error.details : [];
}

/** The parts of an error that fields show, by the field; an error inside a field is the field's. */
function problemOf(form: FormState<never>, name: string): string | undefined {
  const own = detailsOf(form.error.value).filter(({ path }) => path === name || path.startsWith(`${name}.`));
  return own.length === 0 ? undefined : own.map(({ message }) => message).join("; ");
}

/** A form on the page, with its fields, what is wrong with the whole, and its button. */
export function Form<V extends Values>({
  form,
  action,
  children,
  extra,
  isNarrow = false,
}: {
  form: FormState<V>;
  /** What the button says. */
  action: string;
  children: ComponentChildren;
  /** What stands beside the button. */
  extra?: ComponentChildren;
  isNarrow?: boolean;
}): JSX.Element {
  const element = useRef<HTMLFormElement>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    await form.submit();
    if (form.error.value === undefined) return;
    // The first field that is wrong is where the person goes on.
    requestAnimationFrame(() => element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
  };
  return (
    <form
      ref={element}
      noValidate
      class={isNarrow ? "form narrow" : "form"}
      onSubmit={(event) => void submit(event)}
    >
      {children}
      <FormProblem form={form} />
      <div class="row">
        <button type="submit" class="primary" disabled={form.isBusy.value}>
          {form.isBusy.value ? "One moment…" : action}
        </button>
        {extra}
      </div>
    </form>
  );
}

/** What is wrong beside what the fields say themselves. */
function FormProblem<V extends Values>({ form }: { form: FormState<V> }): JSX.Element | null {
  const error = form.error.value;
  if (error === undefined) return null;
  const details = detailsOf(error);
  if (details.length === 0) return <Problem error={error} />;
  const isShown = (path: string): boolean =>
    [...form.fields].some((name) => `${path}.`.startsWith(`${name}.`));
  const others = details.filter(({ path }) => !isShown(path));
  return (
    <Notice tone="bad">
      <p>
        <strong>{messageOf(error)}</strong> Look at what is marked above.
      </p>
      {others.length === 0 ? null : (
        <ul>
          {others.map(({ path, message }) => (
            <li key={path}>{path === "" ? message : `${path}: ${message}`}</li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

interface FieldProps<V extends Values, Kind> {
  readonly form: FormState<V>;
  readonly name: NamesOf<V, Kind>;
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What the API calls the field, where that is not its name here. */
  readonly apiName?: string;
}

/** What ties a field to its label, its hint and its error. */
function useField<V extends Values, Kind>({ form, name, hint, apiName = name }: FieldProps<V, Kind>) {
  const id = useId();
  form.fields.add(apiName);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The fields of any form have errors of the same form.
  const problem = problemOf(form as unknown as FormState<never>, apiName);
  const described = [hint === undefined ? "" : `${id}-hint`, problem === undefined ? "" : `${id}-problem`];
  return {
    id,
    problem,
    attributes: {
      id,
      name,
      "aria-invalid": problem !== undefined,
      "aria-describedby": described.join(" ").trim() || undefined,
    },
  };
}

function FieldFrame({
  id,
  label,
  hint,
  problem,
  children,
}: {
  id: string;
  label: string;
  hint: ComponentChildren;
  problem: string | undefined;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {problem === undefined ? null : (
        <p id={`${id}-problem`} class="problem">
          <span aria-hidden="true">✕ </span>
          {problem}
        </p>
      )}
      {hint === undefined ? null : (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** A line of text. */
export function TextField<V extends Values>(
  props: FieldProps<V, string> & {
    type?: "date" | "datetime-local" | "email" | "password" | "search" | "tel" | "text" | "url";
    autocomplete?: string;
    inputMode?: "decimal" | "numeric";
    placeholder?: string;
    /** Values to choose from; others can be typed. */
    suggestions?: readonly string[];
    hasFocus?: boolean;
  },
): JSX.Element {
  const { form, name, label, hint, type = "text", autocomplete = "off", suggestions } = props;
  const { id, problem, attributes } = useField(props);
  const element = useRef<HTMLInputElement>(null);
  // The attribute alone counts where a page or a dialog begins.
  useEffect(() => {
    if (props.hasFocus === true) element.current?.focus();
  }, []);
  return (
    <FieldFrame id={id} label={label} hint={hint} problem={problem}>
      <input
        {...attributes}
        {...typeOf(type, suggestions === undefined ? undefined : `${id}-list`)}
        autocomplete={autocomplete}
        inputMode={props.inputMode}
        placeholder={props.placeholder}
        ref={element}
        autofocus={props.hasFocus}
        value={String(form.values.value[name])}
        onInput={(event) => form.set(change<V>(name, event.currentTarget.value))}
      />
      {suggestions === undefined ? null : (
        <datalist id={`${id}-list`}>
          {suggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </FieldFrame>
  );
}

/** A password: the one that there is, or one that is being chosen. */
export function PasswordField<V extends Values>({
  isNew = false,
  ...field
}: FieldProps<V, string> & { isNew?: boolean; hasFocus?: boolean }): JSX.Element {
  const hint = `At least ${minPasswordCharacters} characters. A sentence is easy to keep and hard to guess.`;
  return (
    <TextField
      {...field}
      type="password"
      autocomplete={isNew ? "new-password" : "current-password"}
      hint={isNew ? hint : field.hint}
    />
  );
}

/** The type of an input and the id of its list, which the types of JSX would have apart for each type. */
function typeOf(type: string, list: string | undefined): { type: "text"; list?: string } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { type, ...(list === undefined ? {} : { list }) } as { type: "text"; list?: string };
}

/** A text of several lines. */
export function TextArea<V extends Values>(props: FieldProps<V, string> & { rows?: number }): JSX.Element {
  const { form, name, label, hint, rows = 4 } = props;
  const { id, problem, attributes } = useField(props);
  return (
    <FieldFrame id={id} label={label} hint={hint} problem={problem}>
      <textarea
        {...attributes}
        rows={rows}
        value={String(form.values.value[name])}
        onInput={(event) => form.set(change<V>(name, event.currentTarget.value))}
      />
    </FieldFrame>
  );
}

/** One of several values, each with the words that stand for it. */
export function SelectField<V extends Values>(
  props: FieldProps<V, string> & { options: readonly (readonly [value: string, words: string])[] },
): JSX.Element {
  const { form, name, label, hint, options } = props;
  const { id, problem, attributes } = useField(props);
  return (
    <FieldFrame id={id} label={label} hint={hint} problem={problem}>
      <select
        {...attributes}
        value={String(form.values.value[name])}
        onChange={(event) => form.set(change<V>(name, event.currentTarget.value))}
      >
        {options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </FieldFrame>
  );
}

/** Yes or no. */
export function CheckField<V extends Values>(props: FieldProps<V, boolean>): JSX.Element {
  const { form, name, label, hint } = props;
  const { id, problem, attributes } = useField(props);
  return (
    <div class="field check">
      <input
        {...attributes}
        type="checkbox"
        checked={form.values.value[name] === true}
        onChange={(event) => form.set(change<V>(name, event.currentTarget.checked))}
      />
      <label for={id}>{label}</label>
      {problem === undefined ? null : (
        <p id={`${id}-problem`} class="problem">
          {problem}
        </p>
      )}
      {hint === undefined ? null : (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** Some of several values, as a set of check boxes; `chosen` has the values. */
export function ChoiceField({
  legend,
  options,
  chosen,
  hint,
}: {
  legend: string;
  options: readonly (readonly [value: string, words: string])[];
  chosen: Signal<readonly string[]>;
  hint?: ComponentChildren;
}): JSX.Element {
  return (
    <fieldset>
      <legend>{legend}</legend>
      {hint === undefined ? null : <p class="hint">{hint}</p>}
      <div class="choices">
        {options.map(([value, words]) => (
          <label key={value}>
            <input
              type="checkbox"
              checked={chosen.value.includes(value)}
              onChange={(event) => {
                const others = chosen.value.filter((each) => each !== value);
                chosen.value = event.currentTarget.checked ? [...others, value] : others;
              }}
            />{" "}
            {words}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function change<V extends Values>(name: string, value: boolean | string): Partial<V> {
  // The name is one of V's and its value of the kind, which the props of each field say.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { [name]: value } as Partial<V>;
}
