import { App } from "aws-cdk-lib";

/**
 * An app for stacks that a test looks at or starts.
 * @param outdir where it is synthesized into, from the project's root: a folder that no other test uses
 */
export function testApp(outdir: string): App {
  return new App({
    outdir,
    analyticsReporting: false,
    treeMetadata: false,
    // CloudFormation's rules would take longer than all else together; `npm run synth` holds the stack against them.
    builtinCloudFormationValidation: false,
    // The CDK would note where each construct was made. The test runner makes such traces slow.
    context: { "aws:cdk:disable-creation-stack-traces": true },
  });
}
