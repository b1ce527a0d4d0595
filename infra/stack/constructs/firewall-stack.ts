import { CfnOutput, Fn, Stack, type App } from "aws-cdk-lib";
import { Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { CfnWebACL } from "aws-cdk-lib/aws-wafv2";

import { cloudFrontRegion } from "../stages/settings.ts";
import type { Stage } from "../stages/stage.ts";

/** The window in which WAF counts requests, and the longest wait of an address that made too many. */
const windowSeconds = 300;

/** The API's error for too many requests, which WAF sends in its place. There is no request id. */
const tooManyRequests = { error: { code: "RATE_LIMITED", message: "Too many requests.", requestId: "" } };

/**
 * The firewall of a stage: a stack of its own, because it has to be in one region of AWS. It checks
 * who calls and how often, and never the contents. AWS's rule sets for contents reject valid requests, such as an
 * import of contacts over 8 kB, a URL, or a missing `User-Agent`. The API checks each part of a request
 * against its schema.
 */
export class FirewallStack extends Stack {
  /** A reference for the gateway's stack, which may be in another region. */
  readonly webAclArn: string;

  constructor(app: App, id: string, stage: Stage, settings: NonNullable<Stage["firewall"]>) {
    super(app, id, {
      env: { ...(stage.account === undefined ? {} : { account: stage.account }), region: cloudFrontRegion },
      tags: { ...stage.tags, stage: stage.name },
    });
    const webAcl = new CfnWebACL(this, "WebAcl", {
      scope: "CLOUDFRONT",
      defaultAction: { allow: {} },
      // A stage in the same account has another name.
      visibilityConfig: visibility(id),
      customResponseBodies: {
        tooManyRequests: { contentType: "APPLICATION_JSON", content: JSON.stringify(tooManyRequests) },
      },
      rules: [
        {
          name: rules[0],
          priority: 0,
          overrideAction: { none: {} },
          statement: {
            managedRuleGroupStatement: { vendorName: "AWS", name: "AWSManagedRulesAmazonIpReputationList" },
          },
          visibilityConfig: visibility(rules[0]),
        },
        limitPerAddress(1, settings.authRequestsPerAddressPer5Minutes, pathsUnder(authPath)),
        // Below the throttles of their routes: one address must not use up what these accept from all.
        limitPerAddress(2, settings.anonymousRequestsPerAddressPer5Minutes, anonymousPaths),
        limitPerAddress(3, settings.carrierRequestsPerAddressPer5Minutes, pathsUnder(carriersPath)),
        // A carrier calls back for each message from a few addresses, and may make more requests than any customer.
        limitPerAddress(4, settings.requestsPerAddressPer5Minutes, not(pathsUnder(carriersPath))),
      ],
    });
    const output = new CfnOutput(this, "WebAclArn", { value: webAcl.attrArn });
    this.webAclArn = Fn.getStackOutput(this.stackName, output.node.id, cloudFrontRegion);
  }
}

/** The names of the rules and of their metrics. */
const rules = [
  "KnownAttackers",
  "AuthRequestsPerAddress",
  "AnonymousRequestsPerAddress",
  "CarrierRequestsPerAddress",
  "RequestsPerAddress",
] as const;

/** Returns the requests that each rule of a stage's firewall blocked. An alarm would need a topic in that region. */
export function blockedRequests(stackName: string): Metric[] {
  return rules.map(
    (rule) =>
      new Metric({
        namespace: "AWS/WAFV2",
        metricName: "BlockedRequests",
        dimensionsMap: { WebACL: `${stackName}-firewall`, Rule: rule },
        statistic: Stats.SUM,
        label: rule,
        region: cloudFrontRegion,
      }),
  );
}

/** The routes of registration, log-in and resets, which need no credential. */
const authPath = "/v1/auth/";

/** The routes of carrier callbacks. */
const carriersPath = "/v1/carriers/";

/** The route of the events of payment providers. */
const paymentEventsPath = "/v1/payments/events/";

/** The paths of requests without a credential: payment events, and pages. */
const anonymousPaths = anyOf([pathsUnder(paymentEventsPath), not(anyOf(["/v1/", "/mcp"].map(pathsUnder)))]);

function anyOf(statements: CfnWebACL.StatementProperty[]): CfnWebACL.StatementProperty {
  return { orStatement: { statements } };
}

function not(statement: CfnWebACL.StatementProperty): CfnWebACL.StatementProperty {
  return { notStatement: { statement } };
}

/** Matches requests whose decoded path begins with the prefix: API Gateway decodes paths too. */
function pathsUnder(prefix: string): CfnWebACL.StatementProperty {
  return {
    byteMatchStatement: {
      fieldToMatch: { uriPath: {} },
      positionalConstraint: "STARTS_WITH",
      searchString: prefix,
      textTransformations: [
        { priority: 0, type: "URL_DECODE" },
        { priority: 1, type: "NORMALIZE_PATH" },
        { priority: 2, type: "LOWERCASE" },
      ],
    },
  };
}

/** Returns the rule that blocks an address with too many requests of one kind. */
function limitPerAddress(
  priority: 1 | 2 | 3 | 4,
  limit: number,
  paths: CfnWebACL.StatementProperty,
): CfnWebACL.RuleProperty {
  const name = rules[priority];
  return {
    name,
    priority,
    action: {
      block: {
        customResponse: {
          responseCode: 429,
          customResponseBodyKey: "tooManyRequests",
          responseHeaders: [{ name: "Retry-After", value: String(windowSeconds) }],
        },
      },
    },
    statement: {
      rateBasedStatement: {
        aggregateKeyType: "IP",
        evaluationWindowSec: windowSeconds,
        limit,
        scopeDownStatement: paths,
      },
    },
    visibilityConfig: visibility(name),
  };
}

function visibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true };
}
