import { Match, type Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { stageNamed, type Stage } from "../../infra/stack/stages/stage.ts";
import { ApiError, errorCatalogue } from "../../shared/api/contract/errors.ts";
import { ErrorBody } from "../../shared/api/contract/primitives.ts";
import { routes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/routes/route.ts";
import { fullStage } from "../support/full-stage.ts";
import { synthesized } from "../support/synthesized.ts";

const domain = {
  name: "sms.example.com",
  certificateArn: "arn:aws:acm:eu-west-1:123456789012:certificate/1",
};

describe("a stage without a domain or a firewall", () => {
  it("is called directly at the address that AWS gives it", () => {
    const { template: gateway, firewall } = synthesized(stageNamed("dev"));
    expect(firewall).toBeUndefined();
    const apiUrl = Object.values(gateway.findOutputs("ApiUrl"))[0];
    expect(apiUrl).toHaveProperty("Value", {
      "Fn::GetAtt": [expect.stringMatching(/^Api/), "ApiEndpoint"],
    });
    for (const type of ["ApiGatewayV2::DomainName", "ApiGatewayV2::Authorizer", "CloudFront::Distribution"]) {
      gateway.resourceCountIs(`AWS::${type}`, 0);
    }
    gateway.resourceCountIs("AWS::Route53::RecordSet", 0);
    gateway.allResourcesProperties("AWS::ApiGatewayV2::Route", { AuthorizationType: Match.absent() });
    gateway.allResourcesProperties("AWS::ApiGatewayV2::Api", {
      DisableExecuteApiEndpoint: false,
    });
  });
});

describe("a stage with a domain", () => {
  let gateway: Template;
  beforeAll(() => {
    gateway = synthesized({ ...fullStage, name: "domain", domain, firewall: undefined }).template;
  });

  it("is called only there, with TLS 1.2", () => {
    gateway.hasResourceProperties("AWS::ApiGatewayV2::DomainName", {
      DomainName: "sms.example.com",
      DomainNameConfigurations: [
        { CertificateArn: domain.certificateArn, EndpointType: "REGIONAL", SecurityPolicy: "TLS_1_2" },
      ],
    });
    gateway.hasResourceProperties("AWS::ApiGatewayV2::ApiMapping", { Stage: "$default" });
    gateway.hasResourceProperties("AWS::ApiGatewayV2::Api", { DisableExecuteApiEndpoint: true });
    gateway.hasOutput("ApiUrl", { Value: "https://sms.example.com" });
    expect(functionsThatTrustTheHeader(gateway)).toBe(0);
  });

  it("reports the target of the DNS record, or creates the record", () => {
    gateway.hasOutput("DomainTarget", {
      Value: { "Fn::GetAtt": [Match.stringLikeRegexp("^EdgeDomain"), "RegionalDomainName"] },
    });
    gateway.resourceCountIs("AWS::Route53::RecordSet", 0);
    const zoned = synthesized({
      ...fullStage,
      name: "zone",
      domain: { ...domain, hostedZoneId: "Z0123456789" },
      firewall: undefined,
    }).template;
    zoned.hasResourceProperties("AWS::Route53::RecordSet", {
      Type: "A",
      Name: "sms.example.com.",
      HostedZoneId: "Z0123456789",
    });
    expect(Object.keys(zoned.findOutputs("DomainTarget"))).toEqual([]);
  });
});

/** Returns the number of functions that trust a header with the caller's address. */
function functionsThatTrustTheHeader(template: Template): number {
  const trusting = { Properties: { Environment: { Variables: { BEHIND_FIREWALL: "true" } } } };
  return Object.keys(template.findResources("AWS::Lambda::Function", trusting)).length;
}

function webAclId(template: Template): unknown {
  const Distribution = z.object({
    Properties: z.object({ DistributionConfig: z.object({ WebACLId: z.unknown() }) }),
  });
  const [distribution] = Object.values(template.findResources("AWS::CloudFront::Distribution"));
  return Distribution.parse(distribution).Properties.DistributionConfig.WebACLId;
}

describe("a stage with a firewall", () => {
  let gateway: Template;
  let firewall: Template;
  let all: ReturnType<typeof synthesized>;
  beforeAll(() => {
    all = synthesized(fullStage);
    if (all.firewall === undefined) throw new Error("there is no stack with the firewall");
    [gateway, firewall] = [all.template, all.firewall];
  });

  it("rejects in API Gateway each request without CloudFront's key", () => {
    const secrets = gateway.findResources("AWS::SecretsManager::Secret", {
      Properties: { Description: Match.stringLikeRegexp("CloudFront") },
    });
    const [secret] = Object.keys(secrets);
    expect(secret).toMatch(/^OriginKey/);
    gateway.hasResourceProperties("AWS::CloudFront::Distribution", {
      DistributionConfig: {
        Origins: [
          {
            DomainName: Match.objectLike({ "Fn::Select": Match.anyValue() }),
            CustomOriginConfig: { OriginProtocolPolicy: "https-only", OriginSSLProtocols: ["TLSv1.2"] },
            OriginCustomHeaders: [
              {
                HeaderName: "x-origin-key",
                HeaderValue: {
                  "Fn::Join": ["", ["{{resolve:secretsmanager:", { Ref: secret }, ":SecretString:::}}"]],
                },
              },
            ],
          },
        ],
      },
    });
    const [authorizer] = Object.keys(gateway.findResources("AWS::ApiGatewayV2::Authorizer"));
    gateway.hasResourceProperties("AWS::ApiGatewayV2::Authorizer", {
      AuthorizerType: "REQUEST",
      IdentitySource: ["$request.header.x-origin-key"],
      EnableSimpleResponses: true,
    });
    gateway.allResourcesProperties("AWS::ApiGatewayV2::Route", {
      AuthorizationType: "CUSTOM",
      AuthorizerId: { Ref: authorizer },
    });
  });

  it("lets only one function read the key, and lets the API call it", () => {
    const readers = Object.entries(gateway.findResources("AWS::IAM::Role")).filter(([, role]) =>
      /secretsmanager:GetSecretValue[^}]*"Ref":"OriginKey/.test(JSON.stringify(role)),
    );
    expect(readers.map(([id]) => id)).toEqual([expect.stringMatching(/^ApiOriginCheckRole/)]);
    const [authorizer] = Object.values(gateway.findResources("AWS::ApiGatewayV2::Authorizer"));
    const role = { "Fn::GetAtt": [expect.stringMatching(/^ApiOriginCaller/), "Arn"] };
    expect(authorizer).toHaveProperty("Properties.AuthorizerCredentialsArn", role);
  });

  it("forwards requests unchanged, by https only, and records the caller's address", () => {
    gateway.hasResourceProperties("AWS::CloudFront::Distribution", {
      DistributionConfig: {
        Aliases: ["sms.example.com"],
        ViewerCertificate: {
          AcmCertificateArn: fullStage.domain?.certificateArn,
          MinimumProtocolVersion: "TLSv1.2_2021",
        },
        IPV6Enabled: false,
        DefaultCacheBehavior: {
          AllowedMethods: ["GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"],
          // AWS's policies CachingDisabled and AllViewerExceptHostHeader.
          CachePolicyId: "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",
          OriginRequestPolicyId: "b689b0a8-53d0-40ab-baf2-68738e2966ac",
          Compress: false,
          ViewerProtocolPolicy: "https-only",
          FunctionAssociations: [{ EventType: "viewer-request" }],
        },
      },
    });
    expect(functionsThatTrustTheHeader(gateway)).toBeGreaterThan(50);
    gateway.hasOutput("ApiUrl", { Value: "https://sms.example.com" });
    gateway.hasResourceProperties("AWS::Route53::RecordSet", { Type: "A", Name: "sms.example.com." });
  });

  it("overwrites the address that a caller states", () => {
    const [edgeFunction] = Object.values(gateway.findResources("AWS::CloudFront::Function"));
    const code = z.object({ Properties: z.object({ FunctionCode: z.string() }) }).parse(edgeFunction)
      .Properties.FunctionCode;
    const request = { headers: { "x-viewer-address": { value: "192.0.2.1" }, accept: { value: "*/*" } } };
    // The test runs it like CloudFront.
    // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-call
    const handled: unknown = new Function("event", `${code}; return handler(event);`)({
      request,
      viewer: { ip: "203.0.113.9" },
    });
    expect(handled).toEqual({
      headers: { "x-viewer-address": { value: "203.0.113.9" }, accept: { value: "*/*" } },
    });
  });

  it("stops addresses with too many requests, with the API's own response", () => {
    firewall.hasResourceProperties("AWS::WAFv2::WebACL", {
      Scope: "CLOUDFRONT",
      DefaultAction: { Allow: {} },
      Rules: Match.arrayWith([
        Match.objectLike({
          Action: { Block: { CustomResponse: { ResponseCode: errorCatalogue.RATE_LIMITED.status } } },
          Statement: {
            RateBasedStatement: { AggregateKeyType: "IP", EvaluationWindowSec: 300, Limit: 3_000 },
          },
        }),
      ]),
    });
    const [webAcl] = Object.values(firewall.findResources("AWS::WAFv2::WebACL"));
    const { Content } = z
      .object({
        Properties: z.object({
          CustomResponseBodies: z.object({ tooManyRequests: z.object({ Content: z.string() }) }),
        }),
      })
      .parse(webAcl).Properties.CustomResponseBodies.tooManyRequests;
    const { code, message } = new ApiError("RATE_LIMITED");
    expect(ErrorBody.parse(JSON.parse(Content)).error).toMatchObject({ code, message });
  });

  it("has a lower limit for an address on routes without a credential, and a separate one for carriers", () => {
    const rule = z.object({
      Name: z.string(),
      Statement: z.object({
        RateBasedStatement: z.optional(z.object({ Limit: z.number(), ScopeDownStatement: z.unknown() })),
      }),
    });
    const WebAcl = z.object({ Properties: z.object({ Rules: z.array(rule) }) });
    const [webAcl] = Object.values(firewall.findResources("AWS::WAFv2::WebACL"));
    const limits = WebAcl.parse(webAcl).Properties.Rules.flatMap(({ Name, Statement }) => {
      const { Limit, ScopeDownStatement } = Statement.RateBasedStatement ?? {};
      return Limit === undefined ? [] : [{ Name, Limit, ScopeDownStatement }];
    });
    const under = (SearchString: string) => ({
      ByteMatchStatement: expect.objectContaining({
        SearchString,
        PositionalConstraint: "STARTS_WITH",
        FieldToMatch: { UriPath: {} },
      }),
    });
    expect(limits).toEqual([
      { Name: "AuthRequestsPerAddress", Limit: 300, ScopeDownStatement: under("/v1/auth/") },
      {
        Name: "AnonymousRequestsPerAddress",
        Limit: 1_000,
        ScopeDownStatement: {
          OrStatement: {
            Statements: [
              under("/v1/payments/events/"),
              {
                NotStatement: { Statement: { OrStatement: { Statements: [under("/v1/"), under("/mcp")] } } },
              },
            ],
          },
        },
      },
      { Name: "CarrierRequestsPerAddress", Limit: 60_000, ScopeDownStatement: under("/v1/carriers/") },
      {
        Name: "RequestsPerAddress",
        Limit: 3_000,
        ScopeDownStatement: { NotStatement: { Statement: under("/v1/carriers/") } },
      },
    ]);
    for (const { auth, path } of Object.values<Route>(routes)) {
      const isPage = !path.startsWith("/v1/") && path !== "/mcp";
      // The calls of login systems come from few addresses, and count as those of customers.
      const isOpen = isPage || /^\/v1\/(auth|carriers|hooks|payments\/events)\//.test(path);
      expect(auth === "none" ? isOpen : !isPage, path).toBe(true);
    }
  });

  it("has its firewall in CloudFront's region, and attaches it to CloudFront", () => {
    expect(all.assembly.getStackByName("sms-gateway-full-firewall").environment.region).toBe("us-east-1");
    expect(Object.keys(firewall.findOutputs("WebAclArn"))).toEqual(["WebAclArn"]);
    expect(webAclId(gateway)).toEqual({
      "Fn::GetStackOutput": {
        StackName: "sms-gateway-full-firewall",
        Region: "us-east-1",
        OutputName: "WebAclArn",
      },
    });
    const dependencies = all.assembly.getStackByName("sms-gateway-full").dependencies.map(({ id }) => id);
    expect(dependencies).toContain("sms-gateway-full-firewall");
  });

  it("has an address of CloudFront's without a domain", () => {
    const bare = synthesized({ ...fullStage, name: "bare", domain: undefined }).template;
    const [distribution] = Object.keys(bare.findResources("AWS::CloudFront::Distribution"));
    expect(bare.findOutputs("ApiUrl")).toHaveProperty("ApiUrl.Value", {
      "Fn::Join": ["", ["https://", { "Fn::GetAtt": [distribution, "DomainName"] }]],
    });
  });

  it("stays well below CloudFormation's 500 resources with all settings of a stage", () => {
    const { main, nested } = all.templates;
    for (const { Resources } of [main, ...nested.values()]) {
      expect(Object.keys(Resources).length).toBeLessThanOrEqual(400);
    }
  });
});

it("prod has a firewall; synthesis warns of a stage that keeps its data without one", () => {
  expect(stageNamed("prod").firewall).toMatchObject({ authRequestsPerAddressPer5Minutes: 300 });
  const warnings = (stage: Stage): number =>
    synthesized(stage).warnings.filter((warning) => warning.includes("has no firewall")).length;
  expect(warnings(stageNamed("prod"))).toBe(0);
  expect(warnings({ ...stageNamed("prod"), name: "bare", firewall: undefined })).toBe(1);
  expect(warnings(stageNamed("dev"))).toBe(0);
});
