import { useMemo } from "preact/hooks";

import type { Contact } from "../../../../shared/api/contract/contacts.ts";
import { MessageType } from "../../../../shared/api/contract/sms.ts";
import type { Template } from "../../../../shared/api/contract/templates.ts";
import { problemOf } from "../../../../shared/audience/templates/render.ts";
import { api } from "../api.ts";
import { AudienceCost, useAudienceData } from "../parts/audience-cost.tsx";
import { CheckField, ChoiceField, Form, SelectField, TextArea, TextField, useForm } from "../parts/form.tsx";
import { useLoad } from "../parts/load.tsx";
import { Preview, SegmentCount } from "../parts/message-text.tsx";
import { countText } from "../parts/money.tsx";
import { announce, Notice } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { isoOf } from "../parts/time.tsx";
import { messageOf } from "../problems.ts";
import { go } from "../router.ts";
import { approvedSenderIds } from "../sender-ids.ts";
import { expiryChoices, given, secondsOf } from "../typed.ts";

const kinds = [
  ["marketing", "Marketing"],
  ["transactional", "Transactional"],
  ["otp", "One-time code"],
] as const;

const initial = {
  name: "",
  message: "",
  senderId: "",
  messageType: "marketing",
  scheduledAt: "",
  expiresInSeconds: "",
  isToAll: false,
  isUnicode: false,
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The type of an empty list's items is not known.
  tags: [] as readonly string[],
};

/** A new campaign with a live estimate of its audience and cost. */
export function NewCampaign() {
  const senderIds = useLoad(approvedSenderIds, []);
  const templates = useLoad(async () => (await api().listTemplates({ query: { limit: 100 } })).rows, []);
  const source = useAudienceData();
  const create = async (values: typeof initial, attemptKey: string): Promise<void> => {
    const { id, status } = await api().createCampaign({
      body: {
        name: values.name.trim(),
        message: values.message,
        audience: values.isToAll ? { all: true } : { tags: [...values.tags] },
        senderId: given(values.senderId),
        language: values.isUnicode ? "Unicode" : "English",
        messageType: MessageType.parse(values.messageType),
        scheduledAt: isoOf(values.scheduledAt),
        expiresInSeconds: secondsOf(values.expiresInSeconds),
      },
      idempotencyKey: attemptKey,
    });
    go(`campaigns/${id}`);
    announce(
      status === "scheduled"
        ? "Campaign scheduled."
        : "Campaign saved as a draft. Launch it when you are ready.",
    );
  };
  const form = useForm(initial, create, { draft: "campaign" });
  const { message, senderId, scheduledAt, isToAll, isUnicode, tags } = form.values.value;
  const allTags = useMemo(() => tagsOf(source.data?.contacts ?? []), [source.data]);
  const problem = problemOf(message);
  const approved = senderIds.data ?? [];
  const isReady = isToAll || tags.length > 0;
  return (
    <Page title="New campaign" back={["#/campaigns", "Campaigns"]}>
      <div class="columns">
        <div class="panel">
          <Form form={form} action={scheduledAt === "" ? "Save draft" : "Schedule"}>
            <TextField field={form.field("name")} label="Name" hint="Recipients do not see this name." />
            <TemplatePicker templates={templates.data ?? []} onPick={(body) => form.set({ message: body })} />
            <TextArea
              field={form.field("message")}
              label="Message"
              rows={5}
              hint={
                <>
                  <SegmentCount text={message} isUnicode={isUnicode} /> before placeholders are replaced. Use{" "}
                  {"{{firstName}}"}, {"{{lastName}}"} or any contact attribute.
                </>
              }
            />
            <CheckField field={form.field("isToAll", "audience")} label="Send to all contacts" />
            {isToAll ? null : (
              <ChoiceField
                field={form.field("tags", "audience.tags")}
                label="Or send to contacts with any of these tags"
                options={allTags.map(([tag, count]) => [tag, `${tag} (${count})`] as const)}
                hint={hintOf(allTags, source)}
              />
            )}
            <TextField
              field={form.field("senderId")}
              label="From"
              suggestions={approved.map((each) => each.senderId)}
              hint="Up to 11 letters and digits. Leave empty to use your default sender ID."
            />
            <SelectField
              field={form.field("messageType")}
              label="Type"
              options={kinds}
              hint="Contacts who opted out are always skipped. Choose Transactional for messages that recipients expect, such as order updates."
            />
            <TextField
              field={form.field("scheduledAt")}
              label="Send later (optional)"
              type="datetime-local"
              hint="Your local time, up to 30 days ahead. Leave empty to save a draft and launch it yourself."
            />
            <SelectField
              field={form.field("expiresInSeconds")}
              label="Messages expire after"
              options={expiryChoices}
              hint="Messages not sent by then fail and are refunded."
            />
            <CheckField field={form.field("isUnicode", "language")} label="Always send as Unicode" />
          </Form>
        </div>
        <div>
          <Section title="Audience and cost">
            {isReady ? (
              <AudienceCost
                source={source}
                plan={{
                  message,
                  language: isUnicode ? "Unicode" : "English",
                  audience: isToAll ? { all: true } : { tags: [...tags] },
                }}
              />
            ) : (
              <p class="muted">Choose an audience to see the cost.</p>
            )}
          </Section>
          <Section title="Preview">
            <Preview sender={given(senderId) ?? approved[0]?.senderId ?? ""} text={message} />
            {problem === undefined ? null : <Notice tone="bad">The message {problem}</Notice>}
          </Section>
        </div>
      </div>
    </Page>
  );
}

function hintOf(
  tags: readonly (readonly [string, number])[],
  { data, error, progress }: ReturnType<typeof useAudienceData>,
): string | undefined {
  if (data === undefined) return error === undefined ? progress : messageOf(error);
  if (!data.isAll) return `Showing the tags of your newest ${countText(data.contacts.length)} contacts.`;
  return tags.length === 0 ? "None of your contacts have tags yet." : undefined;
}

function TemplatePicker({
  templates,
  onPick,
}: {
  templates: readonly Template[];
  onPick: (body: string) => void;
}) {
  if (templates.length === 0) return null;
  return (
    <label class="field">
      <span>Use a template (optional)</span>
      <select
        onChange={(event) => {
          const picked = templates.find(({ id }) => id === event.currentTarget.value);
          if (picked !== undefined) onPick(picked.body);
        }}
      >
        <option value="">None</option>
        {templates.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Tags with their contact counts, most used first. */
function tagsOf(contacts: readonly Contact[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const tag of contacts.flatMap((contact) => contact.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one);
}
