import { sampleOf, type Plan } from "../audience.ts";
import { linkTo } from "../router.ts";
import type { useAudienceData } from "./audience-cost.tsx";
import { nameOf } from "./contact-fields.tsx";
import { Preview } from "./message-text.tsx";
import { LinkButton } from "./page.tsx";

/** The text of a campaign as one of its contacts gets it, and the way to send exactly that to oneself. */
export function Sample({
  plan,
  sender,
  source: { data },
}: {
  plan: Plan;
  sender: string;
  source: ReturnType<typeof useAudienceData>;
}) {
  const sample = data === undefined ? undefined : sampleOf(plan, data.contacts);
  if (sample === undefined) return <Preview sender={sender} text={plan.message} />;
  const { contact, text } = sample;
  return (
    <>
      <Preview sender={sender} text={text} />
      <p class="muted">
        As <span dir="auto">{nameOf(contact)}</span> gets it.
      </p>
      <div class="row">
        <LinkButton
          href={linkTo("send", { message: text, from: sender })}
          label="Send a test to me"
          look="small"
        />
      </div>
    </>
  );
}
