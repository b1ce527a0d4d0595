import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

import { fieldProblems, problemOfField } from "../problems.ts";
import type { FormState, NamesOf, Values } from "./form-state.ts";

/** The props of every form field. */
export interface FieldProps<V extends Values, Kind> {
  readonly form: FormState<V>;
  readonly name: NamesOf<V, Kind>;
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The API's name of the field, if it differs. */
  readonly apiName?: string;
}

/** Connects a field with its label, hint and error. */
export function useField<V extends Values, Kind>({
  form,
  name,
  hint,
  apiName = name,
}: Omit<FieldProps<V, Kind>, "label">) {
  const id = useId();
  form.fields.add(apiName);
  const problem = problemOfField(apiName, fieldProblems(form.error.value));
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

/** The error and hint below a field. */
export function FieldNotes({
  id,
  problem,
  hint,
}: {
  id: string;
  problem: string | undefined;
  hint: ComponentChildren;
}): JSX.Element {
  return (
    <>
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
    </>
  );
}

export function FieldFrame({
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
      <FieldNotes id={id} problem={problem} hint={hint} />
    </div>
  );
}
