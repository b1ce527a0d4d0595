import { expect, it } from "vitest";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { routes } from "../../shared/api/routes.ts";
import { requestInput } from "../../shared/platform/http/request-input.ts";

/** The error of a body without a credential. */
async function errorOf(body: string): Promise<unknown> {
  const event = { body, headers: { "content-type": "application/json" } };
  // Only these fields are read.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const request = { event } as unknown as Parameters<
    NonNullable<ReturnType<typeof requestInput>["before"]>
  >[0];
  try {
    return await requestInput(routes.login).before?.(request);
  } catch (error) {
    return error;
  }
}

it.each([
  ["lists", "[", "]"],
  ["objects", '{"a":', "}"],
])("a body of nested %s is wrong, however deep it is", async (_, open, close) => {
  for (let depth = 9_000; depth >= 100; depth -= 100) {
    const nested = `${open.repeat(depth)}1${close.repeat(depth)}`;
    const error = await errorOf(`{"email":"ada@example.com","password":${nested}}`);
    expect(error, `depth ${depth}`).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: "VALIDATION_ERROR" });
  }
});
