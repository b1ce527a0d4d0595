import { describe, expect, inject, it } from "vitest";
import * as z from "zod/mini";

import { alarmsOf, metricsOfAlarm } from "../support/alarms.ts";
import { wholeTemplate } from "../support/whole-template.ts";

const { assemblyFolder, stackName } = inject("assembly");
const template = wholeTemplate(assemblyFolder, stackName);

describe("the access log", () => {
  const Stage = z.object({ Properties: z.object({ AccessLogSettings: z.object({ Format: z.string() }) }) });
  const Filter = z.object({
    Properties: z.object({
      FilterPattern: z.string(),
      MetricTransformations: z.tuple([
        z.object({
          MetricNamespace: z.string(),
          MetricName: z.string(),
          MetricValue: z.literal("1"),
          Dimensions: z.array(z.object({ Key: z.string(), Value: z.string() })),
        }),
      ]),
    }),
  });

  function format(): string {
    const [stage] = Object.values(template.findResources("AWS::ApiGatewayV2::Stage"));
    return Stage.parse(stage).Properties.AccessLogSettings.Format;
  }

  /** A line as API Gateway writes it, with a hyphen for each unknown value. */
  function line(values: Readonly<Record<string, string>>): Record<string, unknown> {
    const known: Readonly<Record<string, string>> = { responseLatency: "12", ...values };
    const text = format().replaceAll(/\$context\.([A-Za-z.]+)/g, (_, name: string) => known[name] ?? "-");
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  }

  /** Whether a line matches a pattern of string comparisons, all of which must hold. */
  function matches(pattern: string, of: Record<string, unknown>): boolean {
    const [, conditions = ""] = /^\{ (.+) \}$/.exec(pattern) ?? [];
    return conditions.split(" && ").every((condition) => {
      const [, field = "", operator = "", value = ""] =
        /^\(\$\.(\w+) (=|!=) "([^"]*)"\)$/.exec(condition) ?? [];
      if (operator === "") throw new Error(`not understood: ${condition}`);
      return (of[field] === value) === (operator === "=");
    });
  }

  it("counts exactly the requests that API Gateway throttles for their alarm", () => {
    const filters = Object.values(template.findResources("AWS::Logs::MetricFilter"));
    expect(filters).toHaveLength(1);
    const { FilterPattern, MetricTransformations } = Filter.parse(filters[0]).Properties;
    expect(matches(FilterPattern, line({ status: "429" }))).toBe(true);
    expect(matches(FilterPattern, line({ status: "429", "integration.status": "429" }))).toBe(false);
    expect(matches(FilterPattern, line({ status: "200", "integration.status": "200" }))).toBe(false);
    expect(matches(FilterPattern, line({ status: "503" }))).toBe(false);
    const [{ MetricNamespace, MetricName, Dimensions }] = MetricTransformations;
    const throttled = line({ status: "429" });
    expect(
      alarmsOf(template)
        .flatMap(metricsOfAlarm)
        .filter(({ name }) => name === MetricName),
    ).toEqual([
      {
        namespace: MetricNamespace,
        name: MetricName,
        dimensions: Object.fromEntries(
          Dimensions.map(({ Key, Value }) => [Key, throttled[Value.replace("$.", "")]]),
        ),
      },
    ]);
  });

  it("has the time as a number, and nothing of headers and bodies", () => {
    expect(line({ status: "200" })).toMatchObject({ stage: "local", status: "200", latencyMs: 12 });
    expect(format()).not.toMatch(/authoriz|header|body|userAgent|path/i);
  });
});
