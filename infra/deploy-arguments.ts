/**
 * What the CDK is called with for `npm run deploy -- …`. At a terminal it shows changes of permissions and asks about them.
 * Without one it could only fail, and whoever runs a pipeline has approved what it deploys.
 * @param typed what stands behind `--`
 * @param canAsk whether there is a terminal with somebody at it
 */
export function deployArguments(typed: readonly string[], canAsk: boolean): string[] {
  const isSaid = typed.some((each) => /^--require-approval(=|$)/.test(each));
  return ["deploy", "--all", ...(canAsk || isSaid ? [] : ["--require-approval", "never"]), ...typed];
}
