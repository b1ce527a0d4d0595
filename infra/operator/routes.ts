import * as z from "zod/mini";

import { GivenPhoneNumber } from "../../shared/api/contract/phone-numbers.ts";
import { MessageType } from "../../shared/api/contract/sms.ts";
import { checkRoute, deleteRoute, routeRecord, setRoute } from "../../shared/carriers/manage-routes.ts";
import {
  CarrierName,
  readCarriers,
  type RoutingTable,
  type RouteRecord,
  routeText,
} from "../../shared/carriers/record.ts";
import { routeFinder } from "../../shared/carriers/routes.ts";
import { findCurrentVersion, readRateCard } from "../../shared/money/prices/record.ts";
import { command, part, personal, RequiredText } from "./command.ts";
import type { Context } from "./context.ts";
import { AllowLoss, guardAgainstLoss, marketOf } from "./loss-guard.ts";

const prefixRule = "must be the first digits of the numbers, or default";
const Prefix = part(
  "<prefix>",
  "first digits of the numbers, such as 4477, or default for all others",
  z.pipe(
    z.string(prefixRule).check(z.regex(/^(default|[1-9]\d{0,14})$/, prefixRule)),
    z.transform((prefix) => (prefix === "default" ? "" : prefix)),
  ),
);

const Type = part(
  "--type <type>",
  "otp, transactional or marketing; default: all types without their own route",
  z.optional(MessageType),
);

export const withoutRoutes = "There are no routes: all messages go to the carrier in the stage's file.";

const list = command({
  name: "routes list",
  summary: "List the routes, or find the route of a number",
  examples: ["--stage prod", "--to 447700900123 --type otp"],
  input: z.object({
    to: personal("--to <number>", "find the route to this number", z.optional(GivenPhoneNumber)),
    type: Type,
  }),
  run: async ({ to, type }, { output, stageCarrier }) => {
    const book = await readCarriers();
    const { routes } = book;
    const taken = to === undefined ? undefined : routeFinder(routes)({ to, messageType: type });
    const ofType = routes.filter(({ messageType }) => type === undefined || messageType === type);
    const found = to === undefined ? ofType : [taken].filter((route) => route !== undefined);
    output.table(found, {
      PREFIX: ({ prefix }) => prefix || "default",
      TYPE: ({ messageType = "any" }) => messageType,
      CARRIERS: ({ carriers }) => carriers.join(", "),
      CHANGED: "updatedAt",
    });
    if (routes.length === 0) output.note(withoutRoutes);
    else if (to === undefined) output.note(restText(book, stageCarrier));
    else if (taken === undefined)
      output.note(`There is no route to this number: ${carriersText(book, stageCarrier, { to, type })}.`);
  },
});

const set = command({
  name: "routes set",
  summary: "Set the carriers for a prefix, in failover order",
  details:
    "The longest prefix applies, and the message's type before all types. A message that a carrier definitely did not accept " +
    "fails over to the next, unless that costs more than the customer paid. The change applies within a minute. Messages " +
    "without a route keep the carrier in the stage's file. To send nothing to a prefix, use destinations block.",
  examples: ["default --carriers kannel-london,twilio --stage prod", "4477 --type otp --carriers twilio"],
  asksFirst: true,
  input: z.object({
    prefix: Prefix,
    carriers: part(
      "--carriers <names>",
      "names separated by commas, the first choice first",
      z.pipe(
        z.pipe(
          RequiredText,
          z.transform((names) => names.split(",").map((name) => name.trim())),
        ),
        z
          .array(CarrierName)
          .check(z.refine((names) => new Set(names).size === names.length, "must not contain a name twice")),
      ),
    ),
    type: Type,
    allowLoss: AllowLoss,
  }),
  run: async ({ prefix, carriers, type, allowLoss }, context) => {
    const { output, confirm, changed, stageCarrier } = context;
    const route = { prefix, carriers, messageType: type };
    const book = await readCarriers();
    checkRoute(route, book, stageCarrier);
    const before = book.routes.find((each) => each.prefix === prefix && each.messageType === type);
    const others = book.routes.filter((each) => each !== before);
    const routes = [...others, routeRecord(route)];
    await guardRoutes(book, routes, { prefix, allowLoss }, context);
    const rest = restText({ ...book, routes }, stageCarrier);
    await confirm(
      `set the carriers of the route ${routeText(route)} to ${carriers.join(", then ")}; ${rest}`,
      {
        before: { carriers: before?.carriers },
      },
    );
    const record = await setRoute(route, stageCarrier);
    changed({ carriers });
    output.result(record, `${routeText(record)}: ${carriers.join(", then ")}\n${rest}`);
  },
});

const remove = command({
  name: "routes remove",
  summary: "Remove a route; the next shorter prefix applies to its messages",
  details: "Messages without a route go to the carrier in the stage's file.",
  examples: ["4477 --type otp --stage prod"],
  asksFirst: true,
  input: z.object({ prefix: Prefix, type: Type, allowLoss: AllowLoss }),
  run: async ({ prefix, type, allowLoss }, context) => {
    const { output, confirm, stageCarrier } = context;
    const route = { prefix, messageType: type };
    const book = await readCarriers();
    const { routes } = book;
    const before = routes.find((each) => each.prefix === prefix && each.messageType === type);
    if (before === undefined) throw new Error(`There is no route ${routeText(route)}.`);
    const others = routes.filter((each) => each !== before);
    await guardRoutes(book, others, { prefix, allowLoss }, context);
    const left = { ...book, routes: others };
    const own = `its messages: ${carriersText(left, stageCarrier, { to: prefix, type })}`;
    const after = prefix === "" ? own : `${own}\n${restText(left, stageCarrier)}`;
    await confirm(`remove the route ${routeText(route)}; ${after}`, {
      before: { carriers: before.carriers },
    });
    await deleteRoute(route);
    output.result({ ...route, removed: true }, `the route ${routeText(route)} is removed\n${after}`);
  },
});

/**
 * Compares the prices of a prefix with the costs of its new carriers.
 * @throws Error for losses that were not accepted
 */
async function guardRoutes(
  book: RoutingTable,
  routes: readonly RouteRecord[],
  { prefix, allowLoss }: { readonly prefix: string; readonly allowLoss: boolean },
  context: Context,
): Promise<void> {
  const version = await findCurrentVersion();
  // Costs are unknown without imported prices.
  if (version === undefined) return;
  const card = await readRateCard(version);
  const before = marketOf(card, book, context);
  const market = marketOf(card, { routes }, context);
  await guardAgainstLoss(
    { market, before, prefixes: [prefix], beforeForOverrides: before, allowLoss },
    context,
  );
}

/** Returns in words which carriers get the messages to a number, by message type where these differ. */
function carriersText(
  { carriers, routes }: RoutingTable,
  stageCarrier: string,
  { to, type }: { readonly to: string; readonly type?: MessageType | undefined },
): string {
  const find = routeFinder(routes);
  const nameText = (name: string): string =>
    carriers.get(name)?.disabledAt === undefined ? name : `${name} (disabled)`;
  const ofStage = `the stage's carrier ${nameText(stageCarrier)}`;
  const ofType = (messageType: MessageType): string =>
    find({ to, messageType })?.carriers.map(nameText).join(", then ") ??
    (stageCarrier === "sandbox" ? `${ofStage}, which sends nothing` : ofStage);
  if (type !== undefined) return ofType(type);
  const all = MessageType.options.map((each) => [each, ofType(each)] as const);
  const [only = "", ...others] = new Set(all.map(([, text]) => text));
  return others.length === 0 ? only : all.map(([each, text]) => `${each}: ${text}`).join("; ");
}

/** Returns in words what gets the messages that no prefix fits. */
function restText(book: RoutingTable, stageCarrier: string): string {
  return `everything else: ${carriersText(book, stageCarrier, { to: "" })}`;
}

export const routeCommands = [list, set, remove];
