import { useEffect, useMemo } from "preact/hooks";

import type { Audience, Campaign } from "../../../../shared/api/contract/campaigns.ts";
import type { Contact } from "../../../../shared/api/contract/contacts.ts";
import { MessageType } from "../../../../shared/api/contract/sms.ts";
import { problemOf } from "../../../../shared/audience/templates/render.ts";
import { api } from "../api.ts";
import { isOfAudience } from "../audience.ts";
import { AudienceCost, useAudienceData } from "../parts/audience-cost.tsx";
import { CheckField, ChoiceField, Form, SelectField, TextArea, TextField, useForm } from "../parts/form.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { SegmentCount } from "../parts/message-text.tsx";
import { countText } from "../parts/money.tsx";
import { announce, Notice } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Sample } from "../parts/sample.tsx";
import { TemplatePicker } from "../parts/template-picker.tsx";
import { isoOf } from "../parts/time.tsx";
import { fieldsOf, singleBraces, unknownPlaceholder, withFieldNames } from "../placeholders.ts";
import { messageOf, FieldProblem } from "../problems.ts";
import { go, type ViewProps } from "../router.ts";
import { expiryChoices, given, secondsOf, senderIn } from "../typed.ts";
import { usableSenders } from "../usable-senders.ts";

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

type CampaignValues = typeof initial;

/** The values of the form for a campaign. Its contacts that were chosen one by one are not among them. */
function valuesOf(campaign: Campaign): CampaignValues {
  const { name, message, senderId, messageType, language, expiresInSeconds, audience } = campaign;
  return {
    name,
    message,
    senderId,
    messageType,
    scheduledAt: "",
    expiresInSeconds: String(expiresInSeconds ?? ""),
    isToAll: audience.all === true,
    isUnicode: language === "Unicode",
    tags: audience.tags ?? [],
  };
}

/** A new campaign, empty or with the values of another one. */
export function NewCampaign({ query }: ViewProps) {
  const copied = query.get("copy");
  const tag = query.get("tag") ?? "";
  return copied === null ? <CampaignForm values={initial} tag={tag} /> : <LoadedForm id={copied} isCopy />;
}

/** A draft that is changed. */
export function EditCampaign({ id }: ViewProps) {
  return <LoadedForm id={id} />;
}

function LoadedForm({ id, isCopy = false }: { id: string; isCopy?: boolean }) {
  const load = useLoad(async () => api().getCampaign({ params: { id } }), [id]);
  return (
    <Loaded load={load}>
      {(campaign) =>
        isCopy ? (
          <CampaignForm values={{ ...valuesOf(campaign), name: `${campaign.name} (copy)`.slice(0, 100) }} />
        ) : (
          <CampaignForm values={valuesOf(campaign)} edited={campaign} />
        )
      }
    </Loaded>
  );
}

/**
 * The form of a campaign, with a live estimate of its audience and cost.
 * @param tag the audience of a new campaign, if it is not empty
 */
function CampaignForm({
  values: start,
  edited,
  tag = "",
}: {
  values: CampaignValues;
  edited?: Campaign;
  tag?: string;
}) {
  const senders = useLoad(usableSenders, []);
  const source = useAudienceData();
  const chosen = edited?.audience.contactIds;
  // A draft for chosen contacts keeps them, unless tags replace them.
  const audienceOf = ({ isToAll: toAll, tags: any }: CampaignValues): Audience =>
    toAll
      ? { all: true }
      : chosen !== undefined && any.length === 0
        ? { contactIds: chosen }
        : { tags: [...any] };
  const save = async (values: CampaignValues, attemptKey: string): Promise<void> => {
    if (unknownProblem !== undefined) throw new FieldProblem("message", unknownProblem);
    const common = {
      name: values.name.trim(),
      message: withFieldNames(values.message, fields),
      audience: audienceOf(values),
      ...senderIn(values.senderId),
      language: values.isUnicode ? "Unicode" : "English",
      messageType: MessageType.parse(values.messageType),
    } as const;
    const expiresInSeconds = secondsOf(values.expiresInSeconds);
    if (edited !== undefined) {
      const { version } = edited;
      const body = { ...common, expiresInSeconds: expiresInSeconds ?? null, version };
      await api().updateCampaign({ params: { id: edited.id }, body });
      go(`campaigns/${edited.id}`);
      announce("Draft saved.");
      return;
    }
    const { id, status } = await api().createCampaign({
      body: { ...common, expiresInSeconds, scheduledAt: isoOf(values.scheduledAt) },
      idempotencyKey: attemptKey,
    });
    go(`campaigns/${id}`);
    announce(
      status === "scheduled"
        ? "Campaign scheduled."
        : "Campaign saved as a draft. Launch it when you are ready.",
    );
  };
  const form = useForm(start, save, start === initial ? { draft: "campaign" } : {});
  useEffect(() => {
    if (tag !== "") form.set({ isToAll: false, tags: [tag] });
  }, [tag]);
  const { message, senderId, scheduledAt, isToAll, isUnicode, tags } = form.values.value;
  const allTags = useMemo(() => tagsOf(source.data?.contacts ?? []), [source.data]);
  const people = useMemo(
    () => source.data?.contacts.filter((contact) => isOfAudience(audienceOf(form.values.value), contact)),
    [source.data, isToAll, tags],
  );
  const fields = useMemo(() => fieldsOf(people ?? []), [people]);
  // With placeholders as the contacts have them.
  const text = withFieldNames(message, fields);
  const hasAll = source.data?.isAll === true && people?.length !== 0;
  const unknownProblem = hasAll ? unknownPlaceholder(message, fields) : undefined;
  const problem = problemOf(text);
  const plan = {
    message: text,
    language: isUnicode ? "Unicode" : "English",
    audience: audienceOf(form.values.value),
  } as const;
  const usable = senders.data ?? [];
  const isReady = isToAll || tags.length > 0 || chosen !== undefined;
  return (
    <Page
      title={edited === undefined ? "New campaign" : "Edit campaign"}
      back={edited === undefined ? ["#/campaigns", "Campaigns"] : [`#/campaigns/${edited.id}`, edited.name]}
    >
      <div class="columns">
        <div class="panel">
          <Form form={form} action={scheduledAt === "" ? "Save draft" : "Schedule"}>
            <TextField field={form.field("name")} label="Name" hint="Recipients do not see this name." />
            <TemplatePicker onPick={(body) => form.set({ message: body })} />
            <TextArea
              field={form.field("message")}
              label="Message"
              rows={5}
              hint={
                <>
                  <SegmentCount text={message} isUnicode={isUnicode} /> before placeholders are replaced.
                </>
              }
            />
            <FieldChips fields={fields} onPick={(field) => form.set({ message: inserted(message, field) })} />
            <CheckField field={form.field("isToAll", "audience")} label="Send to all contacts" />
            {isToAll ? null : (
              <ChoiceField
                field={form.field("tags", "audience.tags")}
                label="Or send to contacts with any of these tags"
                options={allTags.map(([each, count]) => [each, `${each} (${countText(count)})`] as const)}
                hint={
                  chosen === undefined
                    ? hintOf(allTags, source)
                    : `Without a tag, the campaign keeps its ${countText(chosen.length, "contact")}.`
                }
              />
            )}
            <TextField
              field={form.field("senderId")}
              label="From"
              suggestions={usable.map((each) => [each])}
              hint="A sender ID or a number of yours. Leave empty to use your default sender ID."
            />
            <SelectField
              field={form.field("messageType")}
              label="Type"
              options={kinds}
              hint="Contacts who opted out are always skipped. Choose Transactional for messages that recipients expect, such as order updates."
            />
            {edited === undefined ? (
              <TextField
                field={form.field("scheduledAt")}
                label="Send later (optional)"
                type="datetime-local"
                hint="Your local time, up to 30 days ahead. Leave empty to save a draft and launch it yourself."
              />
            ) : null}
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
              <AudienceCost source={source} plan={plan} />
            ) : (
              <p class="muted">Choose an audience to see the cost.</p>
            )}
          </Section>
          <Section title="Preview">
            <Sample source={source} plan={plan} sender={given(senderId) ?? usable[0] ?? ""} />
            {[problem && `The message ${problem}`, unknownProblem, singleBraces(message, fields)].map(
              (each) =>
                each === undefined ? null : (
                  <Notice key={each} tone="bad">
                    {each}
                  </Notice>
                ),
            )}
          </Section>
        </div>
      </div>
    </Page>
  );
}

/** The most fields that are offered below a message. */
const maxChips = 12;

/** The fields of the contacts, of which a click inserts the placeholder. */
function FieldChips({ fields, onPick }: { fields: readonly string[]; onPick: (field: string) => void }) {
  if (fields.length === 0) return null;
  return (
    <div class="row" role="group" aria-label="Insert a field of the contacts">
      {fields.slice(0, maxChips).map((field) => (
        <button key={field} type="button" class="small" onClick={() => onPick(field)}>
          {`{{${field}}}`}
        </button>
      ))}
    </div>
  );
}

/** Returns the message with a placeholder where the cursor is. */
function inserted(message: string, field: string): string {
  const area = document.querySelector<HTMLTextAreaElement>("textarea[name=message]");
  const [start, end] = [area?.selectionStart ?? message.length, area?.selectionEnd ?? message.length];
  return `${message.slice(0, start)}{{${field}}}${message.slice(end)}`;
}

function hintOf(
  tags: readonly (readonly [string, number])[],
  { data, error, progress }: ReturnType<typeof useAudienceData>,
): string | undefined {
  if (data === undefined) return error === undefined ? progress : messageOf(error);
  if (!data.isAll) return `Showing the tags of your newest ${countText(data.contacts.length)} contacts.`;
  return tags.length === 0 ? "None of your contacts have tags yet." : undefined;
}

/** Tags with their contact counts, most used first. */
function tagsOf(contacts: readonly Contact[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const tag of contacts.flatMap((contact) => contact.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one);
}
