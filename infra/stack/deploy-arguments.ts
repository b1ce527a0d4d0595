/** The synthesis' warning of a stage that keeps data and accepts TLS below 1.2. Only a deployment rejects it. */
export const weakTlsWarning = "sms-gateway:weak-tls";

/**
 * Returns the CDK's arguments for the steps of `npm run deploy -- …`, and the values that the steps need. At a terminal the
 * CDK shows changes of permissions and asks about them. Without one it could only fail, and the person who runs a pipeline
 * has approved what it deploys.
 * @param typed the arguments after `--`
 * @param canAsk whether a person can reply at a terminal
 * @throws Error for arguments that deploy something unchecked
 */
export function deployArguments(typed: readonly string[], canAsk: boolean) {
  if (typed.some((word) => /^(--app|-a|--watch)(=|$)|execute-change-set$/.test(word))) {
    throw new Error("--app, --watch and execute-change-set deploy something unchecked: use npx cdk deploy.");
  }
  const [allowed, words] = take(typed, "--allow-replacement");
  const [[assembly = ".build/cdk.out"], forCdk] = take(words, "--output", "-o");
  const [approvals, withMethod] = take(forCdk, "--require-approval");
  const [, prepared] = take(withMethod, "--method", "-m");
  const valueOf = (name: string): string | undefined => take(typed, name)[0][0];
  const deploy = ["deploy", "--app", assembly];
  const never = ["--require-approval", "never"];
  const preparation = ["--method", "prepare-change-set", "--no-hotswap", "--no-hotswap-fallback"];
  return {
    allowed,
    assembly,
    changeSet: valueOf("--change-set-name") ?? "cdk-deploy-change-set",
    profile: valueOf("--profile"),
    region: valueOf("--region"),
    synthesize: ["synth", "--quiet", "--output", assembly, ...forCdk],
    prepare: [...deploy, ...never, ...prepared, ...preparation, "--exclusively"],
    deploy: [...deploy, ...(canAsk || approvals.length > 0 ? [] : never), ...forCdk],
  };
}

/** Divides the words of a command line into the values of an option and the other words. */
function take(words: readonly string[], ...names: string[]): [values: string[], others: string[]] {
  const values: string[] = [];
  const others = words.filter((word, index) => {
    const [name = "", value] = word.split(/=(.*)/s);
    const isValue = names.includes(words[index - 1] ?? "");
    if (isValue) values.push(word);
    else if (names.includes(name) && value !== undefined) values.push(value);
    return !isValue && !names.includes(name);
  });
  return [values, others];
}
