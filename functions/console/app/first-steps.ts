import type { ConsoleFeature } from "../../../shared/api/contract/console.ts";
import type { KycSubmission } from "../../../shared/api/contract/kyc.ts";
import type { SenderIdRequest } from "../../../shared/api/contract/sender-ids.ts";

/** The facts about a customer that decide the states of their first steps. */
export interface Standing {
  readonly isEmailVerified: boolean;
  readonly kyc: KycSubmission | null;
  readonly senderIds: readonly SenderIdRequest[];
  readonly balance: number;
  readonly hasSentTest: boolean;
  readonly hasSentLive: boolean;
}

/** `waiting`: the operator has to act. */
type State = "done" | "todo" | "waiting";

/** The name, the advice and the button of each step, in their order. */
const texts = {
  email: ["Verify your email", "Open the link in the email that you received.", "Verify email"],
  kyc: ["Submit your business details", "The operator reviews them.", "Business details"],
  sender: ["Get a sender ID approved", "It is the name that your messages come from.", "Sender IDs"],
  funds: ["Add funds", "Messages are prepaid.", ""],
  test: ["Send a test message", "It is free, and no phone receives it.", "Test message"],
  live: ["Send your first live message", "It requires the steps above, except the test.", "Send message"],
} as const;
const views = { email: "security", kyc: "kyc", sender: "sender-ids", test: "send?test=true", live: "send" };

/** A step to the first live message. Its link is absent while it cannot succeed. */
export interface Step {
  readonly id: keyof typeof texts;
  readonly name: string;
  readonly advice: string;
  readonly state: State;
  readonly link: readonly [href: string, name: string] | undefined;
}

/**
 * The steps to a customer's first live message, in order. Only those that this stage requires.
 * @param has whether the stage has a feature, as the page names it
 */
export function firstSteps(
  standing: Standing,
  has: (feature: ConsoleFeature) => boolean,
  fundsLink: readonly [href: string, name: string],
): Step[] {
  const { isEmailVerified, kyc, senderIds, balance, hasSentTest, hasSentLive } = standing;
  const required: readonly (readonly [Step["id"], State] | false)[] = [
    has("verified-email") && ["email", doneIf(isEmailVerified)],
    has("kyc") && ["kyc", reviewed(kyc === null ? [] : [kyc])],
    has("approved-sender-ids") && ["sender", reviewed(senderIds)],
    ["funds", doneIf(balance > 0 || hasSentLive)],
  ];
  const states = required.filter((each) => each !== false);
  const isReady = states.every(([, state]) => state === "done");
  const sends = [
    ["test", doneIf(hasSentTest || hasSentLive)],
    ["live", doneIf(hasSentLive)],
  ] as const;
  return [...states, ...sends].map(([id, state]) => {
    const [name, advice, button] = texts[id];
    const link = id === "funds" ? fundsLink : ([`#/${views[id]}`, button] as const);
    return { id, name, advice, state, link: id === "live" && !isReady ? undefined : link };
  });
}

function doneIf(isDone: boolean): State {
  return isDone ? "done" : "todo";
}

/** The state of a step that the operator reviews: one approval is enough. */
function reviewed(reviews: readonly Pick<KycSubmission, "status">[]): State {
  if (reviews.some(({ status }) => status === "approved")) return "done";
  return reviews.some(({ status }) => status === "pending") ? "waiting" : "todo";
}
