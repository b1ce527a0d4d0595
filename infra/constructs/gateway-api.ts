import { Duration, Validations } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import {
  CfnIntegration,
  CfnRoute,
  CfnStage,
  CorsHttpMethod,
  HttpApi,
  HttpStage,
  type CorsPreflightOptions,
  LogGroupLogDestination,
  type ThrottleSettings,
} from "aws-cdk-lib/aws-apigatewayv2";
import { ManagedPolicy, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { FilterPattern } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

import { metricsNamespace } from "../../shared/platform/metrics.ts";
import { fallbackRoute, operations } from "../../shared/routes.ts";
import { pathPattern, type Route } from "../../shared/routes/route.ts";
import { accessOf, type Access } from "../access.ts";
import type { Stage } from "../stages/stage.ts";
import { throttledRequests } from "./alarms.ts";
import { GatewayFunction, logGroup, type Backend } from "./gateway-function.ts";
import { kebabCase, pascalCase } from "./names.ts";
import { OriginCheck } from "./origin-check.ts";

/** A policy holds 6,144 characters; the ARN of a function has up to 114, that of its alias 5 more. */
const functionsPerPolicy = 45;

/** What is kept of each request: nothing of its body and its headers. The address is there for those who misuse it. */
const accessLogFields = {
  time: "$context.requestTimeEpoch",
  requestId: "$context.requestId",
  ip: "$context.identity.sourceIp",
  routeKey: "$context.routeKey",
  status: "$context.status",
  /** What the function answered with; `-` where API Gateway answered by itself. */
  functionStatus: "$context.integration.status",
  latencyMs: "$context.responseLatency",
  functionLatencyMs: "$context.integration.latency",
  error: "$context.error.responseType",
  functionError: "$context.integration.error",
};

/**
 * The HTTP API with one function for each row of the route table, and one for whatever is not in it. CloudFormation
 * takes 500 resources in a stack, so an endpoint has four: its function and the function's role, integration and route.
 */
export class GatewayApi extends HttpApi {
  readonly apiStage: HttpStage;

  constructor(scope: Construct, id: string, backend: Backend) {
    const { docsEnabled, domain, firewall, throttle } = backend.stage;
    super(scope, id, {
      createDefaultStage: false,
      // CloudFront calls the API at the address that AWS gives it; there it is the key that closes it to all others.
      disableExecuteApiEndpoint: domain !== undefined && firewall === undefined,
      ...crossOrigin(backend.stage),
    });
    const accessLogs = logGroup(this, "AccessLogs", backend.stage, "access");
    accessLogs.addMetricFilter("ThrottledRequests", {
      filterPattern: FilterPattern.all(
        FilterPattern.stringValue("$.status", "=", "429"),
        // Our functions limit some tries too.
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
        format: AccessLogFormat.custom(accessLogFormat(backend.stage)),
      },
    });
    Validations.of(this.apiStage).acknowledge({
      id: "Serverless-APIGWStructuredLogging",
      reason:
        "A line is JSON once its values are filled in; before that the latency, which is a number, is none.",
    });
    const caller = new Role(this, "Caller", { assumedBy: new ServicePrincipal("apigateway.amazonaws.com") });
    const logs = logGroup(this, "Logs", backend.stage, "api");
    const { originKey } = backend;
    const originCheck =
      originKey && new OriginCheck(this, "Origin", backend, { api: this, originKey, caller, logs });
    const limits: { readonly [name: string]: ThrottleSettings | undefined } = throttle.operations;
    const limitOf = (name: string, { auth, tag }: Route): ThrottleSettings | undefined =>
      limits[name] ?? (auth === "none" ? throttle[tag === "carriers" ? "carriers" : "anonymous"] : undefined);
    const addRoute = (
      scopeOfRoute: Construct,
      routeId: string,
      { routeKey, integration, limit }: AddedRoute,
    ): void => {
      const apiRoute = new CfnRoute(scopeOfRoute, routeId, {
        apiId: this.apiId,
        routeKey,
        target: `integrations/${integration.ref}`,
        ...originCheck?.authorization,
      });
      Validations.of(apiRoute).acknowledge({
        id: "AwsSolutions-APIG4",
        reason:
          "The functions check the credentials: API keys are in the table, and a refusal has the words of the API. " +
          "Tests send every route that asks for credentials a request without them.",
      });
      if (limit !== undefined) throttleRoute(this.apiStage, apiRoute, limit);
    };
    const addFunction = (
      name: string,
      route: Route,
      access: Access,
      routeKeys: readonly string[] = [routeKeyOf(route)],
    ): GatewayFunction => {
      const handler = new GatewayFunction(this, pascalCase(name), backend, {
        name,
        handlerFile: `${route.tag}/${kebabCase(name)}`,
        accessRow: `${name} in infra/access.ts`,
        access,
        timeoutSeconds: 15,
        // A CPU share of more than half a core: hashing a password and the first call of a cold start need it.
        memoryMegabytes: 1_024,
        logs,
        // Where money moves, a fault costs most.
        gradual: access.table?.WALLET?.includes("UpdateItem") === true,
      });
      const integration = new CfnIntegration(handler, "Integration", {
        apiId: this.apiId,
        integrationType: "AWS_PROXY",
        integrationUri: handler.target.functionArn,
        payloadFormatVersion: "2.0",
        credentialsArn: caller.roleArn,
      });
      const limit = limitOf(name, route);
      for (const [index, routeKey] of routeKeys.entries()) {
        addRoute(handler, index === 0 ? "Route" : `Route${index + 1}`, { routeKey, integration, limit });
      }
      return handler;
    };
    const functions = operations()
      .filter(([, { tag }]) => docsEnabled || tag !== "docs")
      .map(([operation, route]) => addFunction(operation, route, accessOf(operation, route)));
    functions.push(addFunction("notFound", fallbackRoute, {}, ["$default", ...shadowedRouteKeys()]));
    if (originCheck !== undefined) functions.push(originCheck.handler);
    for (let start = 0; start < functions.length; start += functionsPerPolicy) {
      new ManagedPolicy(this, `CallerPolicy${start / functionsPerPolicy + 1}`, {
        roles: [caller],
        statements: [
          new PolicyStatement({
            actions: ["lambda:InvokeFunction"],
            resources: functions
              .slice(start, start + functionsPerPolicy)
              .map(({ target }) => target.functionArn),
          }),
        ],
      });
    }
  }
}

/** The form of a line of the access log. */
function accessLogFormat({ name }: Stage): string {
  const { latencyMs } = accessLogFields;
  // Without its quotes it is a number, which can be compared. The others may be `-`, which is none.
  return JSON.stringify({ stage: name, ...accessLogFields }).replace(`"${latencyMs}"`, () => latencyMs);
}

/** Gives a route a limit of its own, over all customers like that of the whole API. */
function throttleRoute(apiStage: HttpStage, route: CfnRoute, limit: ThrottleSettings): void {
  // The CDK's stage has limits for all routes together only.
  const resource = apiStage.node.defaultChild;
  if (!(resource instanceof CfnStage)) throw new Error("the stage of the API is no CfnStage");
  const settings = { ThrottlingRateLimit: limit.rateLimit, ThrottlingBurstLimit: limit.burstLimit };
  resource.routeSettings = { ...Object(resource.routeSettings), [route.routeKey]: settings };
  // API Gateway takes the limits of a route that is there already, and of no other.
  resource.addResourceDependency(route);
}

interface AddedRoute {
  readonly routeKey: string;
  readonly integration: CfnIntegration;
  readonly limit: ThrottleSettings | undefined;
}

/**
 * What API Gateway would take for a parameter though it is the path of another operation: `GET /v1/sms/send` is no message
 * with the id `send`. The fallback answers these with 405.
 */
export function shadowedRouteKeys(): string[] {
  const rows = operations().map(([, route]) => route);
  const literalPaths = new Set(rows.map(({ path }) => path).filter((path) => !path.includes("{")));
  const taken = new Set(rows.map(routeKeyOf));
  const shadowed = [...literalPaths].flatMap((path) =>
    rows
      .filter((route) => route.path.includes("{") && pathPattern(route).test(path))
      .map(({ method }) => `${method} ${path}`),
  );
  return [...new Set(shadowed)].filter((routeKey) => !taken.has(routeKey)).toSorted();
}

function routeKeyOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

/** Lets pages of the stage's origins call the API from a browser. Credentials come in a header, never as cookies. */
function crossOrigin({ corsOrigins }: Stage): { corsPreflight?: CorsPreflightOptions } {
  if (corsOrigins.length === 0) return {};
  const methods = new Set(operations().map(([, { method }]) => CorsHttpMethod[method]));
  return {
    corsPreflight: {
      allowOrigins: corsOrigins,
      allowMethods: [...methods],
      allowHeaders: ["Authorization", "Content-Type", "Idempotency-Key"],
      exposeHeaders: [
        "Allow",
        "Idempotent-Replayed",
        "RateLimit",
        "RateLimit-Policy",
        "Retry-After",
        "WWW-Authenticate",
        "X-Request-Id",
      ],
      maxAge: Duration.days(1),
    },
  };
}
