import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** Connects a control with its error and hint, which are shown below it. */
export function useNotes(hint: ComponentChildren, problem: string | undefined) {
  const id = useId();
  const described = [hint === undefined ? "" : `${id}-hint`, problem === undefined ? "" : `${id}-problem`];
  return {
    attributes: {
      id,
      "aria-invalid": problem !== undefined,
      "aria-describedby": described.join(" ").trim() || undefined,
    },
    notes: (
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
    ),
  };
}

interface LabeledProps {
  readonly label: string;
  readonly hint: ComponentChildren;
  readonly problem?: string | undefined;
  readonly children: (attributes: ReturnType<typeof useNotes>["attributes"]) => ComponentChildren;
}

/** A control below its label, with its error and hint. */
export function Labeled({ label, hint, problem, children }: LabeledProps) {
  const { attributes, notes } = useNotes(hint, problem);
  return (
    <div class="field">
      <label for={attributes.id}>{label}</label>
      {children(attributes)}
      {notes}
    </div>
  );
}
