import type { Campaign as CampaignOf, RecipientOutcome } from "../../../../shared/api/contract/campaigns.ts";
import { errorCatalogue } from "../../../../shared/api/contract/errors.ts";
import { remedies } from "../../../../shared/api/contract/remedies.ts";
import { api } from "../api.ts";
import { AudienceCost, useAudienceData } from "../parts/audience-cost.tsx";
import { TagList } from "../parts/contact-fields.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Loaded, useLoad, usePolling, type Load } from "../parts/load.tsx";
import { Preview } from "../parts/message-text.tsx";
import { countText, Money, optionalCount } from "../parts/money.tsx";
import { announce, Notice } from "../parts/notice.tsx";
import { Facts, LinkButton, Page, Section } from "../parts/page.tsx";
import { Sample } from "../parts/sample.tsx";
import { Status } from "../parts/status.tsx";
import { optionalTime, Time } from "../parts/time.tsx";
import { problemTexts } from "../problems.ts";
import { go, linkTo, type ViewProps } from "../router.ts";

/** One campaign: its estimate before the launch and its progress afterwards. */
export function Campaign({ id }: ViewProps) {
  const load = useLoad(async () => api().getCampaign({ params: { id } }), [id]);
  const campaign = load.data;
  const isUnderWay =
    campaign?.status === "sending" ||
    campaign?.status === "scheduled" ||
    (campaign?.progress.queued ?? 0) > 0;
  usePolling(isUnderWay, load.reload);
  return (
    <Page
      title={campaign === undefined ? "Campaign" : campaign.name}
      back={["#/campaigns", "Campaigns"]}
      actions={campaign === undefined ? null : <Actions campaign={campaign} load={load} />}
    >
      <Loaded load={load}>
        {(shown) => (
          <div class="columns">
            <div>
              {shown.status === "draft" || shown.status === "scheduled" ? <Before campaign={shown} /> : null}
              <Section title="Progress">
                <Progress campaign={shown} />
              </Section>
            </div>
            <Section title="Message">
              <Preview sender={shown.senderId} text={shown.message} />
              <Facts
                of={{
                  To: <Audience campaign={shown} />,
                  From: shown.senderId,
                  Type: shown.messageType,
                  Language: shown.language,
                  Created: <Time at={shown.createdAt} />,
                  Scheduled: optionalTime(shown.scheduledAt),
                  Started: optionalTime(shown.startedAt),
                  Finished: optionalTime(shown.endedAt),
                  ID: <code>{shown.id}</code>,
                }}
              />
            </Section>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ campaign, load }: { campaign: CampaignOf; load: Load<CampaignOf> }) {
  const { id, status, version } = campaign;
  const isOver = status === "completed" || status === "cancelled";
  return (
    <>
      {status === "draft" || status === "failed" || status === "paused" ? (
        <ConfirmButton
          look="primary"
          label={status === "draft" ? "Launch" : "Resume"}
          question={status === "draft" ? "Launch this campaign?" : "Resume this campaign?"}
          consequence={
            <>
              {status === "draft" ? <CountedAgain campaign={campaign} /> : null}
              Sending starts immediately. You pay for each message when it is accepted.
            </>
          }
          act={async () => {
            const options = { params: { id } };
            const isPaused = status === "paused";
            // Only the draft that the person saw is launched.
            const launch = { ...options, query: status === "draft" ? { version } : {} };
            load.replace(await (isPaused ? api().resumeCampaign(options) : api().launchCampaign(launch)));
            announce(status === "draft" ? "Campaign launched." : "Campaign resumed.");
          }}
        />
      ) : null}
      {status === "sending" ? (
        <ConfirmButton
          look="plain"
          label="Pause"
          question="Pause this campaign?"
          consequence="No more messages are created until you resume it. Messages that were already accepted are still sent."
          act={async () => load.replace(await api().pauseCampaign({ params: { id } }))}
          success="Campaign paused."
        />
      ) : null}
      {status === "draft" ? (
        <>
          <LinkButton href={`#/campaigns/${id}/edit`} label="Edit" />
          <ConfirmButton
            look="plain"
            label="Delete"
            question="Delete this draft?"
            consequence="You cannot undo this."
            act={async () => api().deleteCampaign({ params: { id } })}
            success="Draft deleted."
            onDone={() => go("campaigns")}
          />
        </>
      ) : null}
      <LinkButton href={linkTo("campaigns/new", { copy: id })} label="Copy" />
      {isOver ? null : (
        <ConfirmButton
          look="plain"
          label="Cancel campaign"
          question="Cancel this campaign?"
          consequence="No more messages are created. Messages that were already accepted are still sent."
          act={async () => load.replace(await api().cancelCampaign({ params: { id } }))}
          success="Campaign cancelled."
        />
      )}
    </>
  );
}

/** The number and the price of the messages, which are counted again for the dialog. */
function CountedAgain({ campaign }: { campaign: CampaignOf }) {
  return <AudienceCost source={useAudienceData()} plan={campaign} />;
}

function Before({ campaign }: { campaign: CampaignOf }) {
  const source = useAudienceData();
  return (
    <>
      <Section title="Audience and cost">
        <AudienceCost source={source} plan={campaign} />
      </Section>
      <Section title="Preview">
        <Sample source={source} plan={campaign} sender={campaign.senderId} />
      </Section>
    </>
  );
}

function Audience({ campaign: { audience } }: { campaign: CampaignOf }) {
  if (audience.tags !== undefined) return <TagList tags={audience.tags} />;
  return (
    <>
      {audience.contactIds === undefined ? "All contacts" : countText(audience.contactIds.length, "contact")}
    </>
  );
}

function Progress({ campaign }: { campaign: CampaignOf }) {
  const { status, progress, errorCode, waitsUntil } = campaign;
  const { accepted, queued, sent, failed, delivered, undelivered, skipped, charged } = progress;
  const people = (outcome: RecipientOutcome, shown: string | undefined) =>
    shown === undefined ? null : <a href={linkTo(`campaigns/${campaign.id}/people`, { outcome })}>{shown}</a>;
  const ofSkipped = (count: number | undefined) => people("skipped", optionalCount(count));
  return (
    <>
      <Status of={status} />
      {errorCode === undefined ? null : (
        <Notice tone="bad">
          <strong>The campaign stopped. {errorCatalogue[errorCode].message}</strong>{" "}
          {problemTexts[errorCode]?.remedy ?? remedies[errorCode]} Then resume the campaign.
        </Notice>
      )}
      {waitsUntil === undefined ? null : (
        <Notice tone="info">
          You reached a daily spending limit. Sending resumes on <Time at={waitsUntil} />.
        </Notice>
      )}
      {accepted === 0 ? null : (
        <div>
          <progress aria-label="Messages sent or failed" max={accepted} value={sent + failed} />
          <p class="muted">
            {countText(sent + failed)} of {countText(accepted, "message")} processed
            {status === "sending" ? "; more may follow" : ""}.
          </p>
        </div>
      )}
      {accepted === 0 && status === "sending" ? <progress aria-label="Creating the first messages" /> : null}
      <Facts
        of={{
          Accepted: countText(accepted),
          Queued: countText(queued),
          Sent: <a href={linkTo("messages", { campaign: campaign.id, state: "sent" })}>{countText(sent)}</a>,
          Pending: people("pending", countText(accepted - failed - delivered - undelivered)),
          Delivered: people("delivered", countText(delivered)),
          Undelivered: people("undelivered", countText(undelivered)),
          Failed: people("failed", countText(failed)),
          Replied: accepted === 0 ? "" : people("replied", "Show"),
          "Opted out by reply": accepted === 0 ? "" : people("opted_out", "Show"),
          "Skipped: opted out": ofSkipped(skipped.optedOut),
          "Skipped: invalid text": ofSkipped(skipped.unrenderable),
          "Skipped: unknown contact": ofSkipped(skipped.unknown),
          "Skipped: blocked destination": ofSkipped(skipped.destinationNotAllowed),
          "Skipped: no price": ofSkipped(skipped.destinationNotPriced),
          "Skipped: recipient limit": ofSkipped(skipped.recipientRateExceeded),
          "Skipped: sender not allowed in country": ofSkipped(skipped.senderNotAllowed),
          Charged: <Money amount={charged} />,
        }}
      />
    </>
  );
}
