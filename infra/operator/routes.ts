import * as z from "zod/mini";

import { routeFor } from "../../shared/carriers/carriers.ts";
import { checkRoute, deleteRoute, routeRecord, routeText, setRoute } from "../../shared/carriers/manage.ts";
import {
  CarrierName,
  readCarriers,
  type CarrierBook,
  type RouteRecord,
} from "../../shared/carriers/record.ts";
import { GivenPhoneNumber } from "../../shared/contract/phone-numbers.ts";
import { MessageType } from "../../shared/contract/sms.ts";
import { findCurrentVersion, readRateCard } from "../../shared/prices/record.ts";
import { command, part, RequiredText } from "./command.ts";
import type { Context } from "./context.ts";
import { AllowLoss, guardAgainstLoss, marketOf } from "./loss-guard.ts";
import type { Column } from "./output.ts";

const prefixRule = "must be the digits that numbers begin with, or default";
const Prefix = part(
  "<prefix>",
  "what the numbers begin with, such as 4477; default is for all others",
  z.pipe(
    z.string(prefixRule).check(z.regex(/^(default|[1-9]\d{0,14})$/, prefixRule)),
    z.transform((prefix) => (prefix === "default" ? "" : prefix)),
  ),
);

const Type = part(
  "--type <type>",
  "otp, transactional or marketing; without it the route is for those that no other one of its prefix is for",
  z.optional(MessageType),
);

/** What an operator should know where there is no route. */
export const withoutRoutes = "There is no route: the carrier that the stage's file names takes everything.";

const columns: readonly Column<RouteRecord>[] = [
  { heading: "PREFIX", text: ({ prefix }) => (prefix === "" ? "default" : prefix) },
  { heading: "TYPE", text: ({ messageType = "any" }) => messageType },
  { heading: "CARRIERS", text: ({ carriers }) => carriers.join(", ") },
  { heading: "CHANGED", text: ({ updatedAt }) => updatedAt },
];

const list = command({
  name: "routes list",
  summary: "List the routes, or those of a type, or show the one that a message would take",
  examples: ["--stage prod", "--to 447700900123 --type otp"],
  input: z.object({
    to: part("--to <number>", "the number of a message", z.optional(GivenPhoneNumber), { isPersonal: true }),
    type: Type,
  }),
  run: async ({ to, type }, { output }) => {
    const { routes } = await readCarriers();
    const taken = to === undefined ? undefined : routeFor(routes, { to, messageType: type });
    const ofType = routes.filter(({ messageType }) => type === undefined || messageType === type);
    const found = to === undefined ? ofType : [taken].filter((route) => route !== undefined);
    output.table(found, columns);
    if (routes.length === 0) output.note(withoutRoutes);
    else if (to !== undefined && taken === undefined)
      output.note("No route leads there: such messages fail with MESSAGE_UNROUTABLE.");
  },
});

const set = command({
  name: "routes set",
  summary: "Let messages to a prefix go to carriers, in their order",
  details:
    "The longest prefix counts, and of two routes with the same one that of the message's type. What a carrier surely did " +
    "not take goes to the next, unless that takes more than the customer paid. It counts within a minute; with the first route, the stage's own carrier takes nothing more.",
  examples: ["default --carriers kannel-london,twilio --stage prod", "4477 --type otp --carriers twilio"],
  asksFirst: true,
  input: z.object({
    prefix: Prefix,
    carriers: part(
      "--carriers <names>",
      "their names, with commas between, the first choice in front",
      z.pipe(
        z.pipe(
          RequiredText,
          z.transform((names) => names.split(",").map((name) => name.trim())),
        ),
        z
          .array(CarrierName)
          .check(z.refine((names) => new Set(names).size === names.length, "must not have a name twice")),
      ),
    ),
    type: Type,
    allowLoss: AllowLoss,
  }),
  run: async ({ prefix, carriers, type, allowLoss }, context) => {
    const { output, confirm, changed } = context;
    const route = { prefix, carriers, messageType: type };
    const book = await readCarriers();
    checkRoute(route, book);
    const before = book.routes.find((each) => each.prefix === prefix && each.messageType === type);
    const others = book.routes.filter((each) => each !== before);
    await guardRoutes(book, [...others, routeRecord(route)], { prefix, allowLoss }, context);
    await confirm(`lead messages of the route ${routeText(route)} to ${carriers.join(", then ")}`, {
      before: { carriers: before?.carriers },
    });
    const record = await setRoute(route);
    changed({ carriers });
    output.result(record, `${routeText(record)}: ${carriers.join(", then ")}`);
  },
});

const remove = command({
  name: "routes remove",
  summary: "Take a route away; its messages take the one with the next shorter prefix",
  details: "With the last route, the carrier that the stage's file names takes everything again.",
  examples: ["4477 --type otp --stage prod"],
  asksFirst: true,
  input: z.object({ prefix: Prefix, type: Type, allowLoss: AllowLoss }),
  run: async ({ prefix, type, allowLoss }, context) => {
    const { output, confirm } = context;
    const route = { prefix, messageType: type };
    const book = await readCarriers();
    const { routes } = book;
    const before = routes.find((each) => each.prefix === prefix && each.messageType === type);
    if (before === undefined) throw new Error(`There is no route ${routeText(route)}.`);
    const others = routes.filter((each) => each !== before);
    await guardRoutes(book, others, { prefix, allowLoss }, context);
    await confirm(`take away the route ${routeText(route)}`, { before: { carriers: before.carriers } });
    await deleteRoute(route);
    output.result({ ...route, deleted: true }, `the route ${routeText(route)} is deleted`);
    if (routes.length === 1) output.note(withoutRoutes);
  },
});

/**
 * Holds the prices of numbers with a prefix against the carriers that they would go to.
 * @throws Error when one becomes a loss by that, unless it is accepted
 */
async function guardRoutes(
  book: CarrierBook,
  routes: readonly RouteRecord[],
  { prefix, allowLoss }: { readonly prefix: string; readonly allowLoss: boolean },
  context: Context,
): Promise<void> {
  const version = await findCurrentVersion();
  // Without imported prices no costs are known.
  if (version === undefined) return;
  const card = await readRateCard(version);
  const before = marketOf(card, book, context);
  const market = marketOf(card, { routes }, context);
  // Without the last route everything takes another way.
  const prefixes = [routes.length === 0 ? "" : prefix];
  await guardAgainstLoss({ market, before, prefixes, concernsAll: { before }, allowLoss }, context);
}

export const routeCommands = [list, set, remove];
