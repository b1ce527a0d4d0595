import { Template } from "aws-cdk-lib/assertions";

import { flatTemplate } from "../../infra/stack/nested-stacks.ts";

/**
 * A synthesized stack with the resources of its nested stacks among its own. Use it for assertions that do not depend on
 * which of the templates a resource is in.
 */
export function wholeTemplate(folder: string, stackName: string): Template {
  return Template.fromJSON({ ...flatTemplate(folder, stackName) });
}
