import { HttpApi, HttpMethod, HttpRoute, HttpRouteKey, HttpStage } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import type { Construct } from "constructs";

import type { Access } from "../../shared/platform/access.ts";
import { type Route, fallbackRoute, routes } from "../../shared/routes.ts";
import { GatewayFunction, type Backend } from "./gateway-function.ts";

/** The HTTP API with one function for each row of the route table, and one for whatever is not in it. */
export class GatewayApi extends HttpApi {
  constructor(scope: Construct, id: string, backend: Backend) {
    super(scope, id, { createDefaultStage: false });
    new HttpStage(this, "Stage", {
      httpApi: this,
      stageName: "$default",
      autoDeploy: true,
      throttle: backend.stage.throttle,
    });
    for (const [operation, route] of Object.entries<Route>(routes)) {
      const handler = routeFunction(this, operation, route, backend);
      this.addRoutes({
        path: route.path,
        methods: [HttpMethod[route.method]],
        integration: new HttpLambdaIntegration(`${pascalCase(operation)}Integration`, handler.lambda),
      });
    }
    const fallback = routeFunction(this, "notFound", fallbackRoute, backend);
    new HttpRoute(this, "FallbackRoute", {
      httpApi: this,
      routeKey: HttpRouteKey.DEFAULT,
      integration: new HttpLambdaIntegration("NotFoundIntegration", fallback.lambda),
    });
  }
}

function routeFunction(scope: Construct, operation: string, route: Route, backend: Backend): GatewayFunction {
  return new GatewayFunction(scope, pascalCase(operation), backend, {
    handlerFile: `${route.tag}/${kebabCase(operation)}`,
    access: accessOf(route),
    timeoutSeconds: 15,
    // A CPU share of more than half a core: hashing a password and the first call of a cold start need it.
    memoryMegabytes: 1_024,
  });
}

/** What a row's function may touch: what the row says, and what follows from its other columns. */
function accessOf(route: Route): Access {
  const { table = {} } = route.access;
  return {
    ...route.access,
    table: {
      ...table,
      ...(route.auth === "bearer" ? { KEY: [...new Set([...(table.KEY ?? []), "GetItem" as const])] } : {}),
      ...(route.idempotent === true
        ? { IDEMPOTENCY: ["GetItem", "PutItem", "UpdateItem", "DeleteItem"] }
        : {}),
    },
    ...(route.auth === "bearer" ? { sessionKey: true } : {}),
  };
}

function pascalCase(operation: string): string {
  return operation.charAt(0).toUpperCase() + operation.slice(1);
}

function kebabCase(operation: string): string {
  return operation.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
