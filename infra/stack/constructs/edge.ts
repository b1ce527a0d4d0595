import { CfnOutput, Fn, Stack, Validations } from "aws-cdk-lib";
import { ApiMapping, DomainName, SecurityPolicy } from "aws-cdk-lib/aws-apigatewayv2";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  Function,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from "aws-cdk-lib/aws-cloudfront";
import { HttpOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import { ARecord, HostedZone, RecordTarget, type IAliasRecordTarget } from "aws-cdk-lib/aws-route53";
import { ApiGatewayv2DomainProperties, CloudFrontTarget } from "aws-cdk-lib/aws-route53-targets";
import type { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";

import { originKeyHeader, viewerAddressHeader } from "../../../shared/platform/config.ts";
import type { Stage } from "../stages/stage.ts";
import type { GatewayApi } from "./gateway-api.ts";

type Domain = NonNullable<Stage["domain"]>;

/** The web ACL of CloudFront, and the key that CloudFront sends to the API. */
export interface Firewall {
  readonly webAclArn: string;
  readonly originKey: Secret;
}

export interface EdgeProps {
  readonly api: GatewayApi;
  readonly domain: Domain | undefined;
  readonly firewall: Firewall | undefined;
}

/** The address for customers: the one that AWS gives the API, a domain, or CloudFront with a firewall. */
export class Edge extends Construct {
  readonly url: string;

  constructor(scope: Construct, id: string, { api, domain, firewall }: EdgeProps) {
    super(scope, id);
    if (firewall !== undefined) this.url = this.#addDistribution(api, domain, firewall);
    else if (domain === undefined) this.url = api.apiEndpoint;
    else this.url = this.#addDomain(api, domain);
  }

  #addDomain(api: GatewayApi, domain: Domain): string {
    const domainName = new DomainName(this, "Domain", {
      domainName: domain.name,
      certificate: Certificate.fromCertificateArn(this, "Certificate", domain.certificateArn),
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    new ApiMapping(this, "Mapping", { api, domainName, stage: api.apiStage });
    const { regionalDomainName, regionalHostedZoneId } = domainName;
    const target = new ApiGatewayv2DomainProperties(regionalDomainName, regionalHostedZoneId);
    this.#addRecord(domain, regionalDomainName, target);
    return `https://${domain.name}`;
  }

  /** Puts CloudFront in front of the API, without a cache and without changes to requests and responses. */
  #addDistribution(api: GatewayApi, domain: Domain | undefined, firewall: Firewall): string {
    const distribution = new Distribution(this, "Distribution", {
      webAclId: firewall.webAclArn,
      httpVersion: HttpVersion.HTTP2_AND_3,
      // With IPv6 a caller has too many addresses for a limit by address.
      enableIpv6: false,
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      ...(domain === undefined
        ? {}
        : {
            domainNames: [domain.name],
            certificate: Certificate.fromCertificateArn(this, "Certificate", domain.certificateArn),
          }),
      defaultBehavior: {
        origin: new HttpOrigin(Fn.select(2, Fn.split("/", api.apiEndpoint)), {
          protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
          originSslProtocols: [OriginSslPolicy.TLS_V1_2],
          // CloudFormation inserts it; neither the template nor its parameters show it.
          customHeaders: { [originKeyHeader]: firewall.originKey.secretValue.unsafeUnwrap() },
        }),
        allowedMethods: AllowedMethods.ALLOW_ALL,
        // A request over http has already exposed its credential: it must fail instead of being redirected.
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        cachePolicy: CachePolicy.CACHING_DISABLED,
        originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
        compress: false,
        functionAssociations: [
          { eventType: FunctionEventType.VIEWER_REQUEST, function: this.#viewerAddress() },
        ],
      },
    });
    Validations.of(distribution).acknowledge(
      {
        id: "AwsSolutions-CFR1",
        reason: "Customers may call from any country.",
      },
      {
        id: "AwsSolutions-CFR3",
        reason:
          "The API logs each request that CloudFront lets through, and WAF counts and samples those that it stops.",
      },
      {
        id: "AwsSolutions-CFR4",
        reason:
          "Only without a domain: the name and its TLS versions are then CloudFront's own. A domain has TLS 1.2.",
      },
    );
    if (domain === undefined) return `https://${distribution.distributionDomainName}`;
    this.#addRecord(domain, distribution.distributionDomainName, new CloudFrontTarget(distribution));
    return `https://${domain.name}`;
  }

  /** Overwrites the header with the caller's address: the API itself sees only the address of CloudFront. */
  #viewerAddress(): Function {
    return new Function(this, "ViewerAddress", {
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(
        `function handler(event) {
  event.request.headers["${viewerAddressHeader}"] = { value: event.viewer.ip };
  return event.request;
}`,
      ),
    });
  }

  #addRecord(domain: Domain, target: string, alias: IAliasRecordTarget): void {
    const { name, hostedZoneId } = domain;
    if (hostedZoneId === undefined) {
      const description = `The target for the DNS record (CNAME) of ${name}`;
      new CfnOutput(Stack.of(this), "DomainTarget", { value: target, description });
      return;
    }
    new ARecord(this, "Record", {
      zone: HostedZone.fromHostedZoneId(this, "Zone", hostedZoneId),
      recordName: `${name}.`,
      target: RecordTarget.fromAlias(alias),
    });
  }
}
