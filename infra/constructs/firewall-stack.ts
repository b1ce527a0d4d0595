import { CfnOutput, Fn, Stack, type App } from "aws-cdk-lib";
import { CfnWebACL } from "aws-cdk-lib/aws-wafv2";

import { cloudFrontRegion, type Stage } from "../stages/stage.ts";

/** How long WAF looks back when it counts, and so how long an address has to be quiet at the most. */
const windowSeconds = 300;

/** The answer of the API to too many requests, which WAF has to give without it. No request id was given out. */
const tooManyRequests = { error: { code: "RATE_LIMITED", message: "Too many requests.", requestId: "" } };

/**
 * The firewall of a stage: a stack of its own, because it has to be in one region of AWS. It judges who calls and how
 * often, and never what is said: the rule sets that AWS has for contents refuse what is right here, such as an import
 * of contacts over 8 kB, a text with an address in it or a client that does not name itself, and look for faults of
 * software that is not behind it. The API checks each part of a request against its schema.
 */
export class FirewallStack extends Stack {
  /** For another stack to take, which may be in another region. */
  readonly webAclArn: string;

  constructor(app: App, id: string, stage: Stage, settings: NonNullable<Stage["firewall"]>) {
    super(app, id, {
      env: { ...(stage.account === undefined ? {} : { account: stage.account }), region: cloudFrontRegion },
      tags: { ...stage.tags, stage: stage.name },
    });
    const { requestsPerAddressPer5Minutes, authRequestsPerAddressPer5Minutes } = settings;
    const { carrierRequestsPerAddressPer5Minutes } = settings;
    const limits = [
      {
        name: "AuthRequestsPerAddress",
        requests: authRequestsPerAddressPer5Minutes,
        paths: pathsUnder(authPath),
      },
      {
        name: "CarrierRequestsPerAddress",
        requests: carrierRequestsPerAddressPer5Minutes,
        paths: pathsUnder(carriersPath),
      },
      // A carrier reports each message from a few addresses, and may make more requests than any customer.
      {
        name: "RequestsPerAddress",
        requests: requestsPerAddressPer5Minutes,
        paths: { notStatement: { statement: pathsUnder(carriersPath) } },
      },
    ];
    const webAcl = new CfnWebACL(this, "WebAcl", {
      scope: "CLOUDFRONT",
      defaultAction: { allow: {} },
      visibilityConfig: visibility("Firewall"),
      customResponseBodies: {
        tooManyRequests: { contentType: "APPLICATION_JSON", content: JSON.stringify(tooManyRequests) },
      },
      rules: [
        {
          name: "KnownAttackers",
          priority: 0,
          overrideAction: { none: {} },
          statement: {
            managedRuleGroupStatement: { vendorName: "AWS", name: "AWSManagedRulesAmazonIpReputationList" },
          },
          visibilityConfig: visibility("KnownAttackers"),
        },
        ...limits.map(({ name, requests, paths }, index) =>
          limitPerAddress(index + 1, name, requests, paths),
        ),
      ],
    });
    const output = new CfnOutput(this, "WebAclArn", { value: webAcl.attrArn });
    this.webAclArn = Fn.getStackOutput(this.stackName, output.node.id, cloudFrontRegion);
  }
}

/** Routes without a credential: registration, log-in, resets, and what belongs to them. */
const authPath = "/v1/auth/";

/** Where carriers report. */
const carriersPath = "/v1/carriers/";

/** Requests whose path begins so, in whatever way it is written: API Gateway decodes it too. */
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

/** The rule that stops an address which makes too many requests of one kind. */
function limitPerAddress(
  priority: number,
  name: string,
  limit: number,
  paths: CfnWebACL.StatementProperty,
): CfnWebACL.RuleProperty {
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
