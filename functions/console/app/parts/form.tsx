import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";

import { minPasswordCharacters } from "../../../../shared/contract/accounts.ts";
import { fieldProblems, isOfField, problemOfField } from "../problems.ts";
import { FieldFrame, FieldNotes, useField, type FieldProps } from "./field.tsx";
import { createForm, type Act, type FormState, type Values } from "./form-state.ts";
import { Notice, Problem } from "./notice.tsx";

/**
 * A form that hands its values to `act`, whose errors it shows at the fields that they are about.
 * @param options `draft` names what is kept of it until `act` succeeds, also when the person goes to another view
 */
export function useForm<V extends Values>(
  initial: V,
  act: Act<V>,
  { draft }: { readonly draft?: string } = {},
): FormState<V> {
  // What it closes over is another with each drawing, the form is the same.
  const newestAct = useRef(act);
  newestAct.current = act;
  return useMemo(
    () => createForm(initial, async (values, attemptKey) => newestAct.current(values, attemptKey), draft),
    [],
  );
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
    // The first field that is wrong is where the person goes on, or else what says why the whole was refused.
    requestAnimationFrame(() => {
      const wrong = element.current?.querySelector<HTMLElement>("[aria-invalid=true]");
      (wrong ?? element.current?.querySelector<HTMLElement>(".form-problem"))?.focus();
    });
  };
  return (
    <form
      ref={element}
      noValidate
      class={isNarrow ? "form narrow" : "form"}
      onSubmit={(event) => void submit(event)}
    >
      {form.isRestored.value ? <RestoredNotice onDiscard={form.reset} /> : null}
      {children}
      <FormProblem form={form} />
      <div class="row">
        {/* A button that is disabled would lose the focus. */}
        <button type="submit" class="primary" aria-disabled={form.isBusy.value}>
          {form.isBusy.value ? "Please wait…" : action}
        </button>
        {extra}
      </div>
    </form>
  );
}

/** A form whose fields narrow the list below it. */
export function FilterForm<V extends Values>({
  form,
  children,
}: {
  form: FormState<V>;
  children: ComponentChildren;
}): JSX.Element {
  const submit = (event: Event): void => {
    event.preventDefault();
    void form.submit();
  };
  return (
    <form class="filters" role="search" noValidate onSubmit={submit}>
      {children}
      <button type="submit">Filter</button>
    </form>
  );
}

/** That the form shows what was typed before. */
function RestoredNotice({ onDiscard }: { onDiscard: () => void }): JSX.Element {
  return (
    <p class="restored">
      <span class="muted">Your earlier entries were restored.</span>{" "}
      <button type="button" class="small" onClick={onDiscard}>
        Start over
      </button>
    </p>
  );
}

/** What is wrong beside what the fields say themselves. */
function FormProblem<V extends Values>({ form }: { form: FormState<V> }): JSX.Element | null {
  const error = form.error.value;
  if (error === undefined) return null;
  const details = fieldProblems(error);
  const fields = [...form.fields];
  const elsewhere = details.filter(({ path }) => !fields.some((name) => isOfField(name, path)));
  return (
    <div class="form-problem" tabIndex={-1}>
      {details.length === 0 ? (
        <Problem error={error} />
      ) : (
        <Notice tone="bad">
          {elsewhere.length < details.length ? <p>Correct the highlighted fields above.</p> : null}
          {elsewhere.map(({ path }) => (
            <p key={path}>{problemOfField(path, elsewhere)}</p>
          ))}
        </Notice>
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

/** A phone number. */
export function PhoneField<V extends Values>({
  label = "Phone number",
  ...field
}: Omit<FieldProps<V, string>, "label"> & { label?: string; hasFocus?: boolean }): JSX.Element {
  return <TextField {...field} label={label} type="tel" placeholder="+1 500 555 0000" />;
}

/** A password: the one that there is, or one that is being chosen. */
export function PasswordField<V extends Values>({
  isNew = false,
  ...field
}: FieldProps<V, string> & { isNew?: boolean; hasFocus?: boolean }): JSX.Element {
  const hint = `Use at least ${minPasswordCharacters} characters. A full sentence is easy to remember and hard to guess.`;
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
      <FieldNotes id={id} problem={problem} hint={hint} />
    </div>
  );
}

/** Some of several values, as a set of check boxes. */
export function ChoiceField<V extends Values>(
  props: Omit<FieldProps<V, readonly string[]>, "label"> & {
    legend: string;
    options: readonly (readonly [value: string, words: string])[];
  },
): JSX.Element {
  const { form, name, legend, hint, options } = props;
  const { id, problem, attributes } = useField(props);
  const { name: _, ...described } = attributes;
  const value = form.values.value[name];
  const chosen: readonly string[] = Array.isArray(value) ? value : [];
  return (
    <fieldset {...described} tabIndex={-1}>
      <legend>{legend}</legend>
      <FieldNotes id={id} problem={problem} hint={hint} />
      <div class="choices">
        {options.map(([option, words]) => (
          <label key={option}>
            <input
              type="checkbox"
              checked={chosen.includes(option)}
              onChange={(event) => {
                const others = chosen.filter((each) => each !== option);
                form.set(change<V>(name, event.currentTarget.checked ? [...others, option] : others));
              }}
            />{" "}
            {words}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function change<V extends Values>(name: string, value: Values[string]): Partial<V> {
  // The name is one of V's and its value of the kind, which the props of each field say.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { [name]: value } as Partial<V>;
}
