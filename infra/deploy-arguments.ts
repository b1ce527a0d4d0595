/**
 * Returns the CDK's arguments for `npm run deploy -- …`. At a terminal the CDK shows changes of permissions and asks about
 * them. Without one it could only fail, and the person who runs a pipeline has approved what it deploys.
 * @param typed the arguments after `--`
 * @param canAsk whether a person can reply at a terminal
 */
export function deployArguments(typed: readonly string[], canAsk: boolean): string[] {
  const isSaid = typed.some((each) => /^--require-approval(=|$)/.test(each));
  return ["deploy", "--all", ...(canAsk || isSaid ? [] : ["--require-approval", "never"]), ...typed];
}
