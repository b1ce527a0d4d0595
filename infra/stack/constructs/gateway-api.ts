import { Duration, Validations } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import {
  type CfnRoute,
  CfnStage,
  CorsHttpMethod,
  HttpApi,
  HttpStage,
  type CorsPreflightOptions,
  LogGroupLogDestination,
  type ThrottleSettings,
} from "aws-cdk-lib/aws-apigatewayv2";
import { FilterPattern } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

import { fallbackRoute, operations } from "../../../shared/api/routes.ts";
import { methodsOfRoute, pathPattern, type Route } from "../../../shared/api/routes/route.ts";
import { metricsNamespace } from "../../../shared/platform/metrics.ts";
import { Access } from "../access.ts";
import type { Stage } from "../stages/stage.ts";
import { throttleOf } from "../stages/throttles.ts";
import { throttledRequests } from "./alarms.ts";
import type { Backend } from "./backend.ts";
import { crossOriginRequestHeaders, crossOriginResponseHeaders } from "./cross-origin.ts";
import { logGroup } from "./log-group.ts";
import { pascalCase } from "./names.ts";
import { OriginCheck } from "./origin-check.ts";
import { TagStack } from "./tag-stack.ts";

/** The fields of the access log: no body and no headers. The address is there to find misuse. */
const accessLogFields = {
  time: "$context.requestTimeEpoch",
  requestId: "$context.requestId",
  ip: "$context.identity.sourceIp",
  routeKey: "$context.routeKey",
  status: "$context.status",
  /** The status of the function's response; `-` where API Gateway responded by itself. */
  functionStatus: "$context.integration.status",
  latencyMs: "$context.responseLatency",
  functionLatencyMs: "$context.integration.latency",
  error: "$context.error.responseType",
  functionError: "$context.integration.error",
};

/** The nested stacks that are created in parallel: the control plane of API Gateway has a quota that cannot be raised. */
const stacksAtOnce = 4;

/**
 * The HTTP API with one function for each row of the route table, and one for every other request. The endpoints of each
 * tag are in a nested stack, because CloudFormation accepts 500 resources in a stack.
 */
export class GatewayApi extends HttpApi {
  readonly apiStage: HttpStage;

  constructor(scope: Construct, id: string, stage: Stage) {
    const { domain, firewall, throttle } = stage;
    super(scope, id, {
      createDefaultStage: false,
      // CloudFront calls the API at the address that AWS gives it. The origin key protects that address.
      disableExecuteApiEndpoint: domain !== undefined && firewall === undefined,
      ...crossOrigin(stage),
    });
    const accessLogs = logGroup(this, "AccessLogs", stage, "access");
    accessLogs.addMetricFilter("ThrottledRequests", {
      filterPattern: FilterPattern.all(
        FilterPattern.stringValue("$.status", "=", "429"),
        // Functions respond with 429 as well.
        FilterPattern.stringValue("$.functionStatus", "!=", "429"),
      ),
      metricNamespace: metricsNamespace,
      metricName: throttledRequests,
      metricValue: "1",
      dimensions: { stage: "$.stage" },
    });
    this.apiStage = new HttpStage(this, "Stage", {
      httpApi: this,
      stageName: "$default",
      autoDeploy: true,
      throttle,
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLogs),
        format: AccessLogFormat.custom(accessLogFormat(stage)),
      },
    });
    Validations.of(this.apiStage).acknowledge({
      id: "Serverless-APIGWStructuredLogging",
      reason:
        "A line is JSON once API Gateway has inserted the values. The latency is a number, so its variable has no quotes.",
    });
  }

  /** Adds the endpoints. Their functions know the public address, which follows from the API itself. */
  addEndpoints(backend: Backend): void {
    const { docsEnabled, throttle } = backend.stage;
    const logs = logGroup(this, "Logs", backend.stage, "api");
    const { originKey } = backend;
    const originCheck = originKey && new OriginCheck(this, "Origin", backend, { api: this, originKey, logs });
    const endpoints = [
      ...operations()
        .filter(([, { tag }]) => docsEnabled || tag !== "docs")
        .map(([name, route]) => ({
          name,
          route,
          access: new Access(name, route),
          routeKeys: routeKeysOf(route),
        })),
      {
        name: "notFound",
        route: fallbackRoute,
        access: new Access("notFound", fallbackRoute),
        routeKeys: ["$default", ...shadowedRouteKeys()],
      },
    ];
    const stacks: TagStack[] = [];
    for (const [tag, ofTag] of Map.groupBy(endpoints, ({ route }) => route.tag)) {
      const stack = new TagStack(this, pascalCase(tag), backend, {
        api: this,
        authorization: originCheck?.authorization,
        logs,
      });
      const before = stacks.at(-stacksAtOnce);
      if (before !== undefined) stack.addStackDependency(before);
      stacks.push(stack);
      for (const endpoint of ofTag) {
        const { name, route } = endpoint;
        const limit = throttleOf(throttle, name, route);
        for (const apiRoute of stack.addEndpoint(endpoint)) {
          if (limit !== undefined) throttleRoute(this.apiStage, apiRoute, limit);
        }
      }
    }
  }
}

/** Returns the format of a line of the access log. */
function accessLogFormat({ name }: Stage): string {
  const { latencyMs } = accessLogFields;
  // Without quotes it is a number, which filters can compare. The other values may be `-`.
  return JSON.stringify({ stage: name, ...accessLogFields }).replace(`"${latencyMs}"`, () => latencyMs);
}

/** Gives a route its own limit over all customers. */
function throttleRoute(apiStage: HttpStage, route: CfnRoute, limit: ThrottleSettings): void {
  // The CDK's construct has limits for all routes together only.
  const resource = apiStage.node.defaultChild;
  if (!(resource instanceof CfnStage))
    throw new Error("the default child of the API's stage is not a CfnStage");
  const settings = { ThrottlingRateLimit: limit.rateLimit, ThrottlingBurstLimit: limit.burstLimit };
  resource.routeSettings = { ...Object(resource.routeSettings), [route.routeKey]: settings };
  // API Gateway accepts limits only for a route that exists already.
  resource.addResourceDependency(route);
}

/**
 * Returns the paths of operations that API Gateway would match with a parameter of another route: `GET /v1/sms/send` is
 * not the message with the id `send`. The fallback responds to these with 405.
 */
export function shadowedRouteKeys(): string[] {
  const rows = operations().map(([, route]) => route);
  const literalPaths = new Set(rows.map(({ path }) => path).filter((path) => !path.includes("{")));
  const taken = new Set(rows.flatMap(routeKeysOf));
  const shadowed = [...literalPaths].flatMap((path) =>
    rows
      .filter((route) => route.path.includes("{") && pathPattern(route).test(path))
      .flatMap((route) => methodsOfRoute(route).map((method) => `${method} ${path}`)),
  );
  return [...new Set(shadowed)].filter((routeKey) => !taken.has(routeKey)).toSorted();
}

function routeKeysOf(route: Route): string[] {
  return methodsOfRoute(route).map((method) => `${method} ${route.path}`);
}

/**
 * Allows pages of the stage's origins to call the API. Their credentials are in a header. The
 * cookie of the console, and its header, are not allowed to other origins.
 */
function crossOrigin({ corsOrigins }: Stage): { corsPreflight?: CorsPreflightOptions } {
  if (corsOrigins.length === 0) return {};
  const methods = new Set(operations().map(([, { method }]) => CorsHttpMethod[method]));
  return {
    corsPreflight: {
      allowOrigins: corsOrigins,
      allowMethods: [...methods],
      allowHeaders: crossOriginRequestHeaders,
      exposeHeaders: crossOriginResponseHeaders,
      maxAge: Duration.days(1),
    },
  };
}
