import type { Response as Result } from "@sms-gateway/operator/desk/protocol.ts";
import { useState } from "preact/hooks";

import { Dialog } from "../parts/dialog.tsx";
import { CheckField, Form, TextField, useForm } from "../parts/form.tsx";
import { Menu } from "../parts/menu.tsx";
import { Facts } from "../parts/page.tsx";
import { FieldProblem } from "../problems.ts";
import { changes, isFlag, prepared, run, wordsOf, type Input, type Prepared } from "./desk.ts";
import { Output } from "./output.tsx";

export type Values = Readonly<Record<string, unknown>>;

/** A menu of commands; nothing if there are none. */
export function CommandMenu({
  label,
  lines,
  values,
}: {
  label: string;
  lines: readonly string[];
  values: Values;
}) {
  const items = prepared(lines, values).map((action) => ({
    label: action.label,
    dialog: (close: () => void) => <CommandDialog action={action} onClose={close} />,
  }));
  return <Menu label={label} items={items} />;
}

/** The dialog of a command: its input, then its question, then its outcome. */
function CommandDialog({ action, onClose }: { action: Prepared; onClose: () => void }) {
  const { label, command, input: fixed } = action;
  const [input, setInput] = useState(fixed);
  const [result, setResult] = useState<Result>();
  const [question, setQuestion] = useState<Extract<Result, { state: "question" }>>();
  const proceed = async (wanted: Input, typed?: string): Promise<void> => {
    const consent = question && typed !== undefined ? { ticket: question.ticket, typed } : undefined;
    const response = await run(command.name, wanted, consent);
    setResult(response);
    if (response.state === "failed") throw new FieldProblem(response.part ?? "", response.problem);
    setInput(wanted);
    if (response.state === "question") setQuestion(response);
  };
  const confirm = async ({ confirmation }: Input): Promise<void> => {
    if (String(confirmation).trim() !== question?.typed)
      throw new FieldProblem("confirmation", `must be ${question?.typed}`);
    await proceed(input, question.typed);
  };
  const close = (): void => {
    onClose();
    // Only now, because a row whose menu opened the dialog may disappear.
    if (question !== undefined) changes.value += 1;
  };
  const given = Object.entries(fixed).map(([name, value]) => [wordsOf(name), String(value)]);
  const wanted = { name: "confirmation", title: "<text>", help: `Type ${question?.typed} to continue` };
  return (
    <Dialog title={label} onClose={close}>
      <p class="muted">
        {question === undefined ? `${command.summary}. ${command.details}` : command.summary}
      </p>
      <Facts of={Object.fromEntries(given)} />
      {result === undefined || result.output.length === 0 ? null : <Output pieces={result.output} />}
      {result?.state === "done" ? (
        <button type="button" class="primary" onClick={close}>
          Done
        </button>
      ) : question === undefined ? (
        <PartsForm of={action} label="Continue" act={proceed} />
      ) : (
        <>
          <pre class="question">{question.question}</pre>
          <PartsForm
            key={question.ticket}
            of={{ command: { parts: [wanted] }, input: {} }}
            label="Confirm"
            act={confirm}
          />
        </>
      )}
    </Dialog>
  );
}

/** A form for the parts of a command's input that are open. */
export function PartsForm({
  of: { command, input },
  label,
  act,
}: {
  of: { readonly command: Pick<Prepared["command"], "parts">; readonly input: Input };
  label: string;
  act: (input: Input) => Promise<void>;
}) {
  const open = command.parts.filter(({ name }) => (input[name] ?? "") === "");
  const empty = open.map((part): [string, boolean | string] => [part.name, isFlag(part) ? false : ""]);
  const form = useForm<Input>(Object.fromEntries(empty), async (values) => act({ ...input, ...values }));
  return (
    <Form form={form} action={label}>
      {open.map((part) => {
        const { value, set, ...field } = form.field(part.name);
        const props = { key: part.name, label: wordsOf(part.name), hint: part.help };
        if (isFlag(part)) return <CheckField {...props} field={{ ...field, value: value === true, set }} />;
        return <TextField {...props} field={{ ...field, value: String(value), set }} />;
      })}
    </Form>
  );
}
