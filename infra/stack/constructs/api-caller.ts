import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";

import type { GatewayFunction } from "./gateway-function.ts";

/** The role that API Gateway calls functions with. It allows these functions and no other. */
export class ApiCaller extends Role {
  readonly #functions: PolicyStatement;

  constructor(scope: Construct, id: string) {
    const functions = new PolicyStatement({ actions: ["lambda:InvokeFunction"] });
    super(scope, id, {
      assumedBy: new ServicePrincipal("apigateway.amazonaws.com"),
      inlinePolicies: { functions: new PolicyDocument({ statements: [functions] }) },
    });
    this.#functions = functions;
  }

  allow({ target }: GatewayFunction): void {
    this.#functions.addResources(target.functionArn);
  }
}
