import { useSignal } from "@preact/signals";
import * as z from "zod/mini";

import { MessageType, type AcceptedMessage } from "../../../../shared/api/contract/sms.ts";
import type { Template as TemplateRecord } from "../../../../shared/api/contract/templates.ts";
import { placeholdersOf, problemOf, renderTemplate } from "../../../../shared/audience/templates/render.ts";
import { api } from "../api.ts";
import { ConfirmButton } from "../parts/dialog.tsx";
import type { FormState } from "../parts/form-state.ts";
import { Form, TextArea, TextField, useForm } from "../parts/form.tsx";
import { Loaded, useLoad, type Load } from "../parts/load.tsx";
import { MessageTypeField, Preview, SegmentCount } from "../parts/message-text.tsx";
import { announce, Notice } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { numberText, PhoneField } from "../parts/phone.tsx";
import { go, type ViewProps } from "../router.ts";
import { given, numberIn, senderIn } from "../typed.ts";

export function NewTemplate() {
  const create = async (values: { name: string; body: string }): Promise<void> => {
    const { id } = await api().createTemplate({ body: values });
    go(`templates/${id}`);
    announce("Template created.");
  };
  const form = useForm({ name: "", body: "" }, create, { draft: "template" });
  return (
    <Page title="New template" back={["#/templates", "Templates"]}>
      <Editor form={form} action="Create template" />
    </Page>
  );
}

/** One template: edit, preview and send. */
export function Template({ id }: ViewProps) {
  const load = useLoad(async () => api().getTemplate({ params: { id } }), [id]);
  return (
    <Page
      title={load.data === undefined ? "Template" : `Template ${load.data.name}`}
      back={["#/templates", "Templates"]}
      actions={
        <ConfirmButton
          look="plain"
          label="Delete"
          question="Delete this template?"
          consequence="Campaigns created from this template keep their text."
          act={async () => api().deleteTemplate({ params: { id } })}
          success="Template deleted."
          onDone={() => go("templates")}
        />
      }
    >
      <Loaded load={load}>
        {(template) => (
          <>
            <Edit template={template} load={load} />
            <Section title="Send this template">
              <Send key={template.placeholders.join(" ")} template={template} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Edit({ template, load }: { template: TemplateRecord; load: Load<TemplateRecord> }) {
  const form = useForm({ name: template.name, body: template.body }, async (values) => {
    const { id, version } = template;
    load.replace(await api().updateTemplate({ params: { id }, body: { ...values, version } }));
    announce("Template saved.");
  });
  return <Editor form={form} action="Save" />;
}

function Editor({ form, action }: { form: FormState<{ name: string; body: string }>; action: string }) {
  const { body } = form.values.value;
  const hint = (
    <>
      <SegmentCount text={body} /> before placeholders are replaced. Use {"{{name}}"} as a placeholder.
    </>
  );
  return (
    <div class="columns">
      <Section title="Text">
        <Form form={form} action={action}>
          <TextField field={form.field("name")} label="Name" />
          <TextArea field={form.field("body")} label="Text" rows={6} hint={hint} />
        </Form>
      </Section>
      <Section title="Preview">
        <TemplatePreview body={body} />
      </Section>
    </div>
  );
}

/** A live preview with named placeholders, and the error of the text. */
function TemplatePreview({ body }: { body: string }) {
  const problem = problemOf(body);
  return (
    <>
      <Preview sender="" text={textOf(body, namesIn(placeholdersOf(body)))} />
      {problem === undefined ? null : <Notice tone="bad">The text {problem}</Notice>}
    </>
  );
}

/** Placeholder names as their values. */
function namesIn(placeholders: readonly string[]): Record<string, string> {
  return Object.fromEntries(placeholders.map((name) => [name, `‹${name}›`]));
}

function textOf(body: string, values: Readonly<Record<string, string>>): string {
  const rendered = renderTemplate(body, values);
  return "text" in rendered ? rendered.text : body;
}

function Send({ template }: { template: TemplateRecord }) {
  const { placeholders } = template;
  const sent = useSignal<AcceptedMessage | undefined>(undefined);
  // The prefix keeps placeholders apart from the fields `to` and `senderId`.
  const initial: Record<string, string> = { to: "", senderId: "", messageType: "" };
  for (const name of placeholders) initial[`values.${name}`] = "";
  const valuesIn = (all: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(placeholders.map((name) => [name, all[`values.${name}`] ?? ""]));
  const send = async (all: typeof initial, attemptKey: string): Promise<void> => {
    sent.value = await api().sendTemplate({
      params: { id: template.id },
      body: {
        to: await numberIn(all["to"] ?? ""),
        ...senderIn(all["senderId"] ?? ""),
        messageType: z.optional(MessageType).parse(given(all["messageType"] ?? "")),
        values: valuesIn(all),
      },
      idempotencyKey: attemptKey,
    });
    announce("Message accepted.");
  };
  const form = useForm(initial, send, { draft: `message of ${template.id}` });
  const values = valuesIn(form.values.value);
  const missing = placeholders.filter((name) => values[name] === "");
  return (
    <div class="columns">
      <Form form={form} action="Send">
        <PhoneField field={form.field("to")} label="To" />
        <TextField
          field={form.field("senderId")}
          label="From"
          hint="Leave empty to use your default sender ID."
        />
        <MessageTypeField field={form.field("messageType")} />
        {placeholders.map((name) => (
          <TextField key={name} field={form.field(`values.${name}`)} label={`{{${name}}}`} />
        ))}
      </Form>
      <div>
        <Preview
          sender={form.values.value["senderId"] ?? ""}
          text={textOf(template.body, { ...values, ...namesIn(missing) })}
        />
        <SegmentCount text={textOf(template.body, values)} />
        {sent.value === undefined ? null : (
          <Notice tone="good">
            Accepted: <a href={`#/messages/${sent.value.id}`}>message to {numberText(sent.value.to)}</a>
          </Notice>
        )}
      </div>
    </div>
  );
}
