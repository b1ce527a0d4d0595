import * as z from "zod/mini";

/*
 * What was typed into a form and not yet accepted by the gateway. It is in the sessionStorage beside the session: it outlives
 * a way to another view and a reload, belongs to this tab alone, and logging out removes it.
 */

const Draft = z.object({ values: z.record(z.string(), z.unknown()), attemptKey: z.string() });

/** What a form held, and the key of its submit, which may have been carried out although its answer was lost. */
type Draft = z.infer<typeof Draft>;

function keyOf(form: string): string {
  return `draft ${form}`;
}

/** The draft of a form; undefined when there is none. */
export function readDraft(form: string): Draft | undefined {
  try {
    return Draft.parse(JSON.parse(sessionStorage.getItem(keyOf(form)) ?? "null"));
  } catch {
    return undefined;
  }
}

/** Keeps the draft of a form. */
export function saveDraft(form: string, draft: Draft): void {
  try {
    sessionStorage.setItem(keyOf(form), JSON.stringify(draft));
  } catch {
    // The storage is full: the form still has it for as long as it is open.
  }
}

/** Forgets the draft of a form. */
export function dropDraft(form: string): void {
  sessionStorage.removeItem(keyOf(form));
}
