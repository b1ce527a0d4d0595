import type { ComponentChildren } from "preact";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";

import { minPasswordCharacters } from "../../../../shared/api/contract/accounts.ts";
import { fieldProblems, isOfField, notAllowed, problemOfField } from "../problems.ts";
import { useMayAct } from "../rights.ts";
import { Labeled, useNotes } from "./field.tsx";
import { createForm, type Act, type Field, type FormState, type Values } from "./form-state.ts";
import { Notice, Problem } from "./notice.tsx";

/**
 * A form that submits its values to `act` and shows errors at the fields they refer to.
 * @param options `draft` names the draft that keeps the values until `act` succeeds
 */
export function useForm<V extends Values>(
  initial: V,
  act: Act<V>,
  { draft }: { readonly draft?: string } = {},
): FormState<V> {
  // The callback changes on every render; keep the latest in a ref.
  const newestAct = useRef(act);
  newestAct.current = act;
  return useMemo(
    () => createForm(initial, async (values, attemptKey) => newestAct.current(values, attemptKey), draft),
    [],
  );
}

/** A form with its fields, its error and its submit button. Those who may not submit it see only the values. */
export function Form<V extends Values>({
  form,
  action,
  children,
  extra,
  isNarrow = false,
}: {
  form: FormState<V>;
  action: string;
  children: ComponentChildren;
  /** Shown beside the submit button. */
  extra?: ComponentChildren;
  isNarrow?: boolean;
}) {
  const element = useRef<HTMLFormElement>(null);
  const mayAct = useMayAct();
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    await form.submit();
    if (form.error.value === undefined) return;
    // Moves the focus to the first invalid field, or else to the error of the form.
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
      <fieldset class="form-fields" disabled={!mayAct}>
        {children}
      </fieldset>
      <FormProblem form={form} />
      {mayAct ? null : <p class="muted">{notAllowed.message}</p>}
      <div class="row" hidden={!mayAct}>
        {/* A disabled button would lose the focus. */}
        <button type="submit" class="primary" aria-disabled={form.isBusy.value}>
          {form.isBusy.value ? "Please wait…" : action}
        </button>
        {extra}
      </div>
    </form>
  );
}

function RestoredNotice({ onDiscard }: { onDiscard: () => void }) {
  return (
    <p class="row">
      <span class="muted">Your earlier entries were restored.</span>{" "}
      <button type="button" class="small" onClick={onDiscard}>
        Start over
      </button>
    </p>
  );
}

/** The errors that no field shows. */
function FormProblem<V extends Values>({ form }: { form: FormState<V> }) {
  const error = form.error.value;
  if (error === undefined) return null;
  const details = fieldProblems(error);
  const fields = [...form.shownFields];
  const unshown = details.filter(({ path }) => !fields.some((name) => isOfField(name, path)));
  return (
    <div class="form-problem" tabIndex={-1}>
      {details.length === 0 ? (
        <Problem error={error} />
      ) : (
        <Notice tone="bad">
          {unshown.length < details.length ? <p>Correct the highlighted fields above.</p> : null}
          {unshown.map(({ path }) => (
            <p key={path}>{problemOfField(path, unshown)}</p>
          ))}
        </Notice>
      )}
    </div>
  );
}

/** The props of every form field. */
interface FieldProps<Value> {
  readonly field: Field<Value>;
  readonly label: string;
  readonly hint?: ComponentChildren;
}

/** Suggested values, and the words beside them; others are allowed. */
type Suggestions = readonly (readonly [value: string, words?: string])[];

export function TextField({
  field,
  label,
  hint,
  type = "text",
  autocomplete = "off",
  suggestions,
  hasFocus = false,
  ...props
}: FieldProps<string> & {
  type?: "date" | "datetime-local" | "email" | "password" | "search" | "tel" | "text" | "time" | "url";
  autocomplete?: string;
  inputMode?: "decimal" | "numeric";
  placeholder?: string;
  suggestions?: Suggestions;
  hasFocus?: boolean;
}) {
  const element = useRef<HTMLInputElement>(null);
  const listId = useId();
  // The attribute alone has an effect only when a page or dialog opens.
  useEffect(() => {
    if (hasFocus) element.current?.focus();
  }, []);
  return (
    <Labeled label={label} hint={hint} problem={field.problem}>
      {(attributes) => (
        <>
          <input
            {...attributes}
            {...props}
            {...typeOf(type, suggestions && listId)}
            name={field.name}
            autocomplete={autocomplete}
            ref={element}
            autofocus={hasFocus}
            value={field.value}
            onInput={(event) => field.set(event.currentTarget.value)}
          />
          {suggestions === undefined ? null : (
            <datalist id={listId}>
              {suggestions.map(([value, words]) => (
                <option key={value} value={value} label={words} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Labeled>
  );
}

/** The current password, or a new one. */
export function PasswordField({
  isNew = false,
  ...field
}: FieldProps<string> & { isNew?: boolean; hasFocus?: boolean }) {
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

/** The type and list of an input. JSX has a separate type for each. */
function typeOf(type: string, list: string | undefined): { type: "text"; list?: string } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { type, ...(list === undefined ? {} : { list }) } as { type: "text"; list?: string };
}

export function TextArea({ field, label, hint, rows = 4 }: FieldProps<string> & { rows?: number }) {
  return (
    <Labeled label={label} hint={hint} problem={field.problem}>
      {(attributes) => (
        <textarea
          {...attributes}
          name={field.name}
          rows={rows}
          value={field.value}
          onInput={(event) => field.set(event.currentTarget.value)}
        />
      )}
    </Labeled>
  );
}

type Options = readonly (readonly [value: string, words: string])[];

export function SelectField({ field, label, hint, options }: FieldProps<string> & { options: Options }) {
  return (
    <Labeled label={label} hint={hint} problem={field.problem}>
      {(attributes) => (
        <select
          {...attributes}
          name={field.name}
          value={field.value}
          onChange={(event) => field.set(event.currentTarget.value)}
        >
          {options.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Labeled>
  );
}

export function CheckField({ field, label, hint }: FieldProps<boolean>) {
  const { attributes, notes } = useNotes(hint, field.problem);
  return (
    <div class="field check">
      <input
        {...attributes}
        name={field.name}
        type="checkbox"
        checked={field.value}
        onChange={(event) => field.set(event.currentTarget.checked)}
      />
      <label for={attributes.id}>{label}</label>
      {notes}
    </div>
  );
}

/** Multiple values, as a set of checkboxes. */
export function ChoiceField({
  field,
  label,
  hint,
  options,
}: FieldProps<readonly string[]> & { options: Options }) {
  const { attributes, notes } = useNotes(hint, field.problem);
  return (
    <fieldset {...attributes} tabIndex={-1}>
      <legend>{label}</legend>
      {notes}
      <div class="choices">
        {options.map(([option, words]) => (
          <label key={option}>
            <input
              type="checkbox"
              checked={field.value.includes(option)}
              onChange={(event) => {
                const others = field.value.filter((each) => each !== option);
                field.set(event.currentTarget.checked ? [...others, option] : others);
              }}
            />{" "}
            {words}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
