import { glob, readFile } from "node:fs/promises";

import type { Template } from "aws-cdk-lib/assertions";
import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { metricNames } from "../../shared/platform/metrics.ts";
import { alarmsOf, alarmsOfOutage, metricsOfAlarm, type AlarmInTemplate } from "../support/alarms.ts";
import { synthesized } from "../support/synthesized.ts";

const emails = ["night@example.com", "day@example.com"];
const pager = "https://events.example.com/integration/4711/enqueue";

/** A stage with all alarms, so that the runbook has an entry for each. */
let prod: Template;
let dev: Template;
let alarms: AlarmInTemplate[];
let runbook: string;
/** The entries of the runbook by their headings. */
let entries: Map<string, string>;

beforeAll(async () => {
  const budgets = {
    alarmEmails: emails,
    pagerUrl: pager,
    monthlyBudgetUsd: 500,
    monthlyCarrierSpendLimitUsd: 1_000,
  };
  prod = synthesized({ ...stageNamed("prod"), ...budgets }).template;
  dev = synthesized(stageNamed("dev")).template;
  alarms = alarmsOf(prod);
  runbook = await readFile("infra/RUNBOOK.md", "utf8");
  const [, section = ""] = /\n## Alarms\n(.*?)\n## /s.exec(runbook) ?? [];
  entries = new Map(
    section
      .split("\n### ")
      .slice(1)
      .map((entry) => [entry.slice(0, entry.indexOf("\n")), entry]),
  );
});

/** Returns whether only CodeDeploy uses an alarm, during the deployment of a version. */
function isOfVersion(alarm: AlarmInTemplate): boolean {
  return kindOf(alarm).startsWith("version-");
}

function kindOf({ AlarmDescription }: AlarmInTemplate): string {
  return / More: infra\/RUNBOOK\.md#([a-z-]+)$/.exec(AlarmDescription)?.[1] ?? "";
}

it("gives each alarm an entry in the runbook, and each entry an alarm", () => {
  const kinds = new Set(alarms.map(kindOf));
  expect([...entries.keys()].toSorted()).toEqual([...kinds].toSorted());
});

it("states in each alarm its meaning, the first step and the command, and in its entry the same command", () => {
  for (const alarm of alarms) {
    const kind = kindOf(alarm);
    const texts = /^(?<means>.+) First: (?<firstStep>.+) Run: (?<command>.+) More: /.exec(
      alarm.AlarmDescription,
    );
    expect(texts?.groups?.["means"]?.length, alarm.AlarmName).toBeGreaterThan(40);
    expect(texts?.groups?.["firstStep"]?.length, alarm.AlarmName).toBeGreaterThan(20);
    const commands = alarms
      .filter((each) => kindOf(each) === kind)
      .map((each) => / Run: (.+) More: /.exec(each.AlarmDescription)?.[1] ?? "none");
    const entry = entries.get(kind) ?? "";
    expect(
      commands.some((command) => entry.includes(`\n${command}\n`)),
      `${kind}: ${commands[0]}`,
    ).toBe(true);
    expect(entry).toContain("**Means:** ");
    expect(entry).toContain("**Then:** ");
  }
});

/** The topics of all alarms and of pages. Another id would be another topic, whose subscribers have to confirm again. */
const topics = [{ Ref: "Alarms04B5A0BF" }, { Ref: "Pages127DFD1A" }];

function severityOf({ AlarmActions, AlarmName }: AlarmInTemplate): string {
  if (alarmsOfOutage(prod).includes(AlarmName)) return "page";
  return ["none", "ticket", "page"][AlarmActions.length] ?? "";
}

it("names each alarm after its stage and its entry, sends it to its topics, and reports its end", () => {
  for (const alarm of alarms) {
    expect(alarm.AlarmName.startsWith(`sms-gateway-prod/${kindOf(alarm)}`), alarm.AlarmName).toBe(true);
    expect(alarm.AlarmActions).toEqual(topics.slice(0, alarm.AlarmActions.length));
    expect(severityOf(alarm) === "none").toBe(isOfVersion(alarm));
    expect(alarm.OKActions).toEqual(alarm.AlarmActions);
    expect(alarm.AlarmDescription.length).toBeLessThanOrEqual(1_024);
  }
  expect(new Set(alarms.map(({ AlarmName }) => AlarmName)).size).toBe(alarms.length);
});

it("states the severity of each alarm in its entry", () => {
  for (const [kind, entry] of entries) {
    const ofKind = alarms.filter((alarm) => kindOf(alarm) === kind);
    const severities = new Set(ofKind.map(severityOf));
    const pages = ofKind.filter((alarm) => severityOf(alarm) === "page");
    const subjects = pages.map(({ AlarmName }) => `\`${AlarmName.split(`/${kind}-`)[1] ?? ""}\``).toSorted();
    const list = new Intl.ListFormat("en-GB").format(subjects);
    const expected = severities.size > 1 ? `page for ${list}, ticket for all others` : [...severities][0];
    expect(entry, kind).toContain(`\n**Severity:** ${expected}.\n`);
  }
});

it("links each alarm to its entry in the operator's copy of the runbook", () => {
  const runbookUrl = "https://example.com/ops/RUNBOOK.md";
  const { template } = synthesized({ ...stageNamed("prod"), runbookUrl });
  for (const { AlarmDescription } of alarmsOf(template)) {
    const [, kind = "none"] = /https:\/\/example\.com\/ops\/RUNBOOK\.md#(\S+)$/.exec(AlarmDescription) ?? [];
    expect([...entries.keys()]).toContain(kind);
  }
});

it("wakes a person for few alarms", () => {
  const pages = alarms.filter((alarm) => severityOf(alarm) === "page");
  expect(pages.length).toBeLessThan(20);
});

it("wakes a person once for the alarms of an outage", () => {
  const [outage, ...others] = Object.values(prod.findResources("AWS::CloudWatch::CompositeAlarm"));
  expect(others).toEqual([]);
  // The emails come from its alarms.
  const actions = { AlarmActions: [topics[1]], OKActions: [topics[1]] };
  expect(outage).toMatchObject({ Properties: { AlarmName: "sms-gateway-prod/outage", ...actions } });
  expect(outage?.["Properties"].AlarmRule["Fn::Join"][1][0]).toBe('(ALARM("');
  const names = alarmsOfOutage(prod);
  const ofOutage = alarms.filter(({ AlarmName }) => names.includes(AlarmName));
  for (const alarm of ofOutage) expect(alarm.AlarmActions, alarm.AlarmName).toEqual([topics[0]]);
  const own = alarms.filter(({ AlarmActions }) => AlarmActions.length === 2).map(kindOf);
  expect(own.toSorted()).toEqual([
    "carrier-late",
    "delivery-rate",
    "inconsistent-ledgers",
    "no-healthy-carrier",
    "objective-codes",
  ]);
});

it("makes all alarms in one place", async () => {
  const makers: string[] = [];
  for await (const file of glob("infra/**/*.ts")) {
    const source = await readFile(file, "utf8");
    if (/new (Cfn)?Alarm\(|\.createAlarm\(/.test(source)) makers.push(file);
  }
  expect(makers).toEqual(["infra/stack/constructs/alarms.ts"]);
});

it("sends alarms to the addresses of the stage, and has the same alarms without addresses", () => {
  // A queue is subscribed to the topic on which AWS reports on messages.
  const toPeople = { Properties: { Protocol: "email" } };
  const endpoints = Object.values(prod.findResources("AWS::SNS::Subscription", toPeople)).map(
    ({ Properties }) => z.object({ Endpoint: z.string() }).parse(Properties).Endpoint,
  );
  expect(endpoints.toSorted()).toEqual(emails.toSorted());
  prod.hasResourceProperties("AWS::SNS::Subscription", {
    Protocol: "https",
    Endpoint: pager,
    TopicArn: topics[1],
  });
  expect(dev.findResources("AWS::SNS::Subscription")).toEqual({});
  const inDev = alarmsOf(dev).map(({ AlarmName }) => AlarmName.replace("-dev/", "-prod/"));
  // The spending limit of AWS for SMS is irrelevant for a carrier that sends nothing.
  const inProd = alarms.filter((alarm) => !isOfVersion(alarm)).map(({ AlarmName }) => AlarmName);
  expect(inProd.filter((name) => !inDev.includes(name))).toEqual(["sms-gateway-prod/carrier-spend"]);
  expect(inDev.filter((name) => !inProd.includes(name))).toEqual([]);
});

it("fires at four fifths of the carrier's spending limit", () => {
  expect(alarms.find((alarm) => kindOf(alarm) === "carrier-spend")).toMatchObject({ Threshold: 800 });
});

it("treats a schedule without calls as missed", () => {
  const missed = alarms.filter((alarm) => kindOf(alarm) === "schedule-missed");
  // The metric of CheckEdge replaces it.
  expect(missed).toHaveLength(Object.keys(prod.findResources("AWS::Events::Rule")).length - 1);
  for (const alarm of [...missed, ...alarms.filter((each) => kindOf(each) === "edge-unreachable")]) {
    expect(alarm).toMatchObject({ ComparisonOperator: "LessThanThreshold", TreatMissingData: "breaching" });
  }
});

it("watches each queue for waiting jobs and for dead letters", () => {
  const queues = Object.keys(prod.findResources("AWS::SQS::Queue"));
  const watched = alarms.flatMap(metricsOfAlarm).flatMap(({ dimensions }) => {
    const name = dimensions["QueueName"];
    return name === undefined
      ? []
      : [z.object({ "Fn::GetAtt": z.tuple([z.string(), z.string()]) }).parse(name)];
  });
  expect(watched.map(({ "Fn::GetAtt": [id] }) => id).toSorted()).toEqual(queues.toSorted());
});

it("warns of a budget by email", () => {
  const [budget, ...others] = Object.values(prod.findResources("AWS::Budgets::Budget"));
  expect(others).toEqual([]);
  const subscribers = expect.arrayContaining(
    emails.map((Address) => ({ Address, SubscriptionType: "EMAIL" })),
  );
  expect(budget).toMatchObject({
    Properties: {
      Budget: { BudgetLimit: { Amount: 500 }, CostFilters: { TagKeyValue: ["user:stage$prod"] } },
      NotificationsWithSubscribers: [
        { Notification: { NotificationType: "ACTUAL", Threshold: 80 }, Subscribers: subscribers },
        { Notification: { NotificationType: "FORECASTED", Threshold: 100 }, Subscribers: subscribers },
      ],
    },
  });
  expect(dev.findResources("AWS::Budgets::Budget")).toEqual({});
});

it("traces every function", () => {
  for (const each of Object.values(prod.findResources("AWS::Lambda::Function"))) {
    expect(each).toHaveProperty("Properties.TracingConfig.Mode", "Active");
  }
});

it("shows all alarms, queues and own metrics on one page", () => {
  const [dashboard, ...others] = Object.values(prod.findResources("AWS::CloudWatch::Dashboard"));
  expect(others).toEqual([]);
  const body = JSON.stringify(dashboard);
  for (const [id, { Properties }] of Object.entries(prod.findResources("AWS::CloudWatch::Alarm"))) {
    expect(body.includes(id), id).toBe("AlarmActions" in Properties);
  }
  for (const id of Object.keys(prod.findResources("AWS::SQS::Queue"))) expect(body).toContain(id);
  for (const name of metricNames) expect(body).toContain(name);
});

it("shows the blocks of each rule of the firewall", () => {
  const { firewall } = synthesized(stageNamed("prod"));
  const [acl] = Object.values(firewall?.findResources("AWS::WAFv2::WebACL") ?? {});
  const Visible = z.object({ VisibilityConfig: z.object({ MetricName: z.string() }) });
  const { Rules, VisibilityConfig } = z
    .object({ Properties: z.extend(Visible, { Rules: z.array(Visible) }) })
    .parse(acl).Properties;
  const body = JSON.stringify(Object.values(prod.findResources("AWS::CloudWatch::Dashboard")));
  expect(Rules.length).toBeGreaterThan(4);
  for (const each of [VisibilityConfig, ...Rules.map((rule) => rule.VisibilityConfig)]) {
    expect(body).toContain(`\\"${each.MetricName}\\"`);
  }
});

it("has the logs and the dashboard in its outputs, and their names in the runbook", () => {
  const outputs = Object.keys(prod.findOutputs("*"));
  expect(outputs).toEqual(expect.arrayContaining([...Object.values(outputNames.logGroups), "DashboardName"]));
  for (const { Properties } of Object.values(prod.findResources("AWS::Logs::LogGroup"))) {
    expect(runbook).toContain(`\`${z.object({ LogGroupName: z.string() }).parse(Properties).LogGroupName}\``);
  }
});

it("searches the logs only for existing events and fields", async () => {
  let code = "";
  for await (const file of glob("shared/**/*.ts")) code += await readFile(file, "utf8");
  const text = runbook + alarms.map(({ AlarmDescription }) => AlarmDescription).join("\n");
  const events = new Set([...text.matchAll(/\$\.event = "([^"]+)"/g)].map(([, event = ""]) => event));
  expect(events.size).toBeGreaterThan(5);
  for (const event of events) expect(code, event).toContain(`"${event}"`);
  // The fields of the access log, and those of the functions' logs.
  const { AccessLogSettings } = AccessLogStage.parse(
    Object.values(prod.findResources("AWS::ApiGatewayV2::Stage"))[0],
  ).Properties;
  const fields = new Set([...text.matchAll(/\$\.([A-Za-z]+)/g)].map(([, field = ""]) => field));
  for (const field of fields) {
    const isWritten = AccessLogSettings.Format.includes(`"${field}":`) || code.includes(field);
    expect(isWritten, field).toBe(true);
  }
});

const AccessLogStage = z.object({
  Properties: z.object({ AccessLogSettings: z.object({ Format: z.string() }) }),
});

it("states the cost of watching in the runbook", () => {
  const watched = alarms.flatMap(metricsOfAlarm);
  // One is counted from the access log.
  const own = metricNames.length + 1;
  const ofVersions = watched.filter(({ dimensions }) => "ExecutedVersion" in dimensions).length;
  expect(rowOf(`metrics that alarms look at, ${ofVersions} of versions`)).toEqual([
    String(watched.length),
    "$0.10",
    (watched.length * 0.1).toFixed(2),
  ]);
  expect(rowOf("the composite alarm of outages")).toEqual(["1", "$0.50", "0.50"]);
  expect(rowOf("metrics of our own, while data comes")).toEqual([
    String(own),
    "$0.30",
    (own * 0.3).toFixed(2),
  ]);
});

/** The cells of a row of the runbook's table, without the first. */
function rowOf(what: string): string[] {
  const line = runbook.split("\n").find((each) => each.startsWith(`| ${what} `)) ?? "";
  return line
    .split("|")
    .slice(2, -1)
    .map((cell) => cell.trim());
}
