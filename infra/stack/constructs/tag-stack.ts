import { NestedStack, Validations } from "aws-cdk-lib";
import { CfnIntegration, CfnRoute, type HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";

import type { TaggedRoute } from "../../../shared/api/routes/route.ts";
import type { Access } from "../access.ts";
import { ApiCaller } from "./api-caller.ts";
import type { Backend } from "./backend.ts";
import { GatewayFunction } from "./gateway-function.ts";
import { kebabCase, pascalCase } from "./names.ts";
import type { OriginCheck } from "./origin-check.ts";

export interface Endpoint {
  /** The name of its operation. */
  readonly name: string;
  readonly route: TaggedRoute;
  readonly access: Access;
  /** The routes that lead to its function. */
  readonly routeKeys: readonly string[];
}

export interface TagStackProps {
  readonly api: HttpApi;
  /** The check of the origin, in a stage that has one. */
  readonly authorization: OriginCheck["authorization"] | undefined;
  readonly logs: LogGroup;
}

/**
 * The endpoints of one tag, in a nested stack. An endpoint has four resources: its function and the function's role,
 * integration and route. Gradual deployment adds five. Nothing here holds data: a deployment can create all of it again.
 */
export class TagStack extends NestedStack {
  readonly #backend: Backend;
  readonly #props: TagStackProps;
  readonly #scope: Construct;
  readonly #caller: ApiCaller;

  constructor(api: HttpApi, id: string, backend: Backend, props: TagStackProps) {
    super(api, id, { description: `The endpoints of the API in the group ${id}` });
    this.#backend = backend;
    this.#props = props;
    // A nested stack has its own namespace of ids. The prefix of the API keeps each id unique over all templates.
    this.#scope = new Construct(this, api.node.id);
    this.#caller = new ApiCaller(this.#scope, `${id}Caller`);
  }

  /**
   * Adds the function of an endpoint, and its routes.
   * @returns the routes
   */
  addEndpoint({ name, route, access, routeKeys }: Endpoint): CfnRoute[] {
    const { api, authorization, logs } = this.#props;
    const handler = new GatewayFunction(this.#scope, pascalCase(name), this.#backend, {
      name,
      handlerFile: `${route.tag}/${kebabCase(name)}`,
      access,
      timeoutSeconds: 15,
      // A CPU share of more than half a core: hashing a password and the first call of a cold start need it.
      memoryMegabytes: 1_024,
      logs,
      // A fault costs most where money moves, or in the settings of a wallet.
      gradual:
        access.familiesOf("PutItem").includes("LEDGER") ||
        (route.tag === "wallet" && access.familiesOf("UpdateItem").includes("WALLET")),
    });
    this.#caller.allow(handler);
    const integration = new CfnIntegration(handler, "Integration", {
      apiId: api.apiId,
      integrationType: "AWS_PROXY",
      integrationUri: handler.target.functionArn,
      payloadFormatVersion: "2.0",
      credentialsArn: this.#caller.roleArn,
    });
    return routeKeys.map((routeKey, index) => {
      const apiRoute = new CfnRoute(handler, index === 0 ? "Route" : `Route${index + 1}`, {
        apiId: api.apiId,
        routeKey,
        target: `integrations/${integration.ref}`,
        ...authorization,
      });
      Validations.of(apiRoute).acknowledge({
        id: "AwsSolutions-APIG4",
        reason:
          "The functions check the credentials: API keys are in the table, and a rejection has the API's own error body. " +
          "Tests send every route that requires credentials a request without them.",
      });
      return apiRoute;
    });
  }
}
