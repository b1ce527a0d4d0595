import { oneLine } from "./output.ts";

/**
 * Describes an error in one line, without a stack. A failed `fetch` has its reason in the cause only. If the operator can
 * fix the problem, the text ends with how.
 */
export function errorText(error: unknown): string {
  const isFetch = error instanceof Error && error.message === "fetch failed";
  const described =
    isFetch && error.cause !== undefined
      ? `fetch failed: ${ownText(error.cause)}`
      : ownText(deniedIn(error) ?? error);
  const causes = isFetch ? [error, error.cause] : [error];
  const hint = hints.find(({ fits }) => causes.some(fits))?.hint;
  const text = oneLine(described);
  return hint === undefined ? text : `${text.replace(/[.:]$/, "")}. ${hint}`;
}

/** Returns the error of AWS, which names the right that a policy lacks, if it is the cause of another one. */
export function deniedIn(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  return error.name.startsWith("AccessDenied") ? error : deniedIn(error.cause);
}

const hints: readonly { readonly fits: (error: unknown) => boolean; readonly hint: string }[] = [
  { fits: (error) => codeOf(error) === "ECONNREFUSED", hint: "Is the gateway running?" },
  {
    fits: (error) => error instanceof Error && error.name === "CredentialsProviderError",
    hint:
      "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, as for the AWS CLI; " +
      "`aws sts get-caller-identity` checks them.",
  },
  {
    fits: (error) => deniedIn(error) !== undefined,
    hint: "Your policy lacks this right: see Roles in infra/operator/README.md.",
  },
  {
    fits: (error) => error instanceof Error && error.message === "Region is missing",
    hint: "Set AWS_REGION, or `region` in the stage's file.",
  },
];

function ownText(error: unknown): string {
  // A host name with several addresses fails with one error per address, and in Node without a message of its own.
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map((each) => ownText(each)).join(", ") || (codeOf(error) ?? "");
  }
  if (!(error instanceof Error)) return String(error);
  return error.message || (codeOf(error) ?? error.name);
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
