import * as z from "zod/mini";

/** The roles of a template with what they allow, under conditions of one form. */
export function roleWith<Condition extends z.ZodMiniType>(condition: Condition) {
  return z.object({
    Properties: z.object({
      // The role that the API calls functions with has its permissions in policies of their own.
      Policies: z._default(
        z.array(
          z.object({
            PolicyDocument: z.object({
              Statement: z.array(
                z.object({
                  Action: z.pipe(
                    z.union([z.string(), z.array(z.string())]),
                    z.transform((action) => [action].flat()),
                  ),
                  Resource: z.unknown(),
                  Condition: z.optional(condition),
                }),
              ),
            }),
          }),
        ),
        [],
      ),
    }),
  });
}
