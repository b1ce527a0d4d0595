import * as z from "zod";

import { routeFor } from "../../shared/carriers/carriers.ts";
import { checkRoute, deleteRoute, routeText, setRoute } from "../../shared/carriers/manage.ts";
import { CarrierName, readCarriers, type RouteRecord } from "../../shared/carriers/record.ts";
import { GivenPhoneNumber } from "../../shared/contract/phone-numbers.ts";
import { MessageType } from "../../shared/contract/sms.ts";
import { command, part, RequiredText } from "./command.ts";
import type { Column } from "./output.ts";

const prefixRule = "must be the digits that numbers begin with, or default";
const Prefix = part(
  "<prefix>",
  "what the numbers begin with, such as 4477; default is for all others",
  z
    .string(prefixRule)
    .regex(/^(default|[1-9]\d{0,14})$/, prefixRule)
    .transform((prefix) => (prefix === "default" ? "" : prefix)),
);

const Type = part(
  "--type <type>",
  "otp, transactional or marketing; without it the route is for those that no other one of its prefix is for",
  MessageType.optional(),
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
    to: part("--to <number>", "the number of a message", GivenPhoneNumber.optional(), { isPersonal: true }),
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
    "not take goes to the next. It counts within a minute; with the first route, the stage's own carrier takes nothing more.",
  examples: ["default --carriers kannel-london,twilio --stage prod", "4477 --type otp --carriers twilio"],
  asksFirst: true,
  input: z.object({
    prefix: Prefix,
    carriers: part(
      "--carriers <names>",
      "their names, with commas between, the first choice in front",
      RequiredText.transform((names) => names.split(",").map((name) => name.trim())).pipe(
        z
          .array(CarrierName)
          .refine((names) => new Set(names).size === names.length, "must not have a name twice"),
      ),
    ),
    type: Type,
  }),
  run: async ({ prefix, carriers, type }, { output, confirm, changed }) => {
    const route = { prefix, carriers, messageType: type };
    const book = await readCarriers();
    checkRoute(route, book);
    const before = book.routes.find((each) => each.prefix === prefix && each.messageType === type);
    await confirm(`lead messages of the route ${routeText(route)} to ${carriers.join(", then ")}`, {
      before: { carriers: before?.carriers },
    });
    const record = await setRoute(route);
    changed({ carriers });
    output.result(record, `${routeText(record)}: ${carriers.join(", then ")}`);
  },
});

const remove = command({
  name: "routes delete",
  summary: "Take a route away; its messages take the one with the next shorter prefix",
  details: "With the last route, the carrier that the stage's file names takes everything again.",
  examples: ["4477 --type otp --stage prod"],
  asksFirst: true,
  input: z.object({ prefix: Prefix, type: Type }),
  run: async ({ prefix, type }, { output, confirm }) => {
    const route = { prefix, messageType: type };
    const { routes } = await readCarriers();
    const before = routes.find((each) => each.prefix === prefix && each.messageType === type);
    if (before === undefined) throw new Error(`There is no route ${routeText(route)}.`);
    await confirm(`take away the route ${routeText(route)}`, { before: { carriers: before.carriers } });
    await deleteRoute(route);
    output.result({ ...route, deleted: true }, `the route ${routeText(route)} is deleted`);
    if (routes.length === 1) output.note(withoutRoutes);
  },
});

export const routeCommands = [list, set, remove];
