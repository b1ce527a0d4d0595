import type { CardProblem } from "./objects.ts";

/** Cards for tests, with the numbers and the behavior that Stripe's own have, and a sentence for the checkout page. */
export const testCards = [
  { number: "4242424242424242", does: "pays", effect: "The bank accepts it." },
  { number: "4000000000000002", does: "decline", effect: "The bank declines it." },
  {
    number: "4000002760003184",
    does: "require the cardholder",
    effect: "The bank requires an authentication each time, so automatic payments fail.",
  },
  {
    number: "4000000000000341",
    does: "decline later",
    effect: "The bank accepts it here, and declines automatic payments.",
  },
  { number: "4000000000000259", does: "dispute", effect: "It pays, with a dispute two seconds later." },
  { number: "4000000000007726", does: "delay refunds", effect: "It pays. A refund takes two seconds." },
  { number: "4000000000005126", does: "fail refunds", effect: "It pays. A refund fails after two seconds." },
] as const;

/** Returns the behavior of a test card by its number, or by its last four digits, which all differ. */
export function behaviorOf(digits: string): (typeof testCards)[number]["does"] | undefined {
  return testCards.find(({ number }) => number.endsWith(digits))?.does;
}

function problem(code: string, message: string, decline_code?: string): CardProblem {
  return { type: "card_error", code, message, ...(decline_code === undefined ? {} : { decline_code }) };
}

const declined = "Your card was declined.";
export const problems = {
  declined: problem("card_declined", declined, "generic_decline"),
  noTestCard: problem("card_declined", `${declined} It is not a test card.`, "test_mode_live_card"),
  cardholderAbsent: problem(
    "authentication_required",
    `${declined} This transaction requires authentication.`,
    "authentication_required",
  ),
  notAuthenticated: problem(
    "payment_intent_authentication_failure",
    "The bank could not authenticate you. Try again, or use another card.",
  ),
};
