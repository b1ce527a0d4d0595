import * as z from "zod";

/** The roles of a template with what they allow, under conditions of one form. */
export function roleWith<Condition extends z.ZodType>(condition: Condition) {
  return z.object({
    Properties: z.object({
      Policies: z
        .array(
          z.object({
            PolicyDocument: z.object({
              Statement: z.array(
                z.object({
                  Action: z.union([z.string(), z.array(z.string())]).transform((action) => [action].flat()),
                  Resource: z.unknown(),
                  Condition: condition.optional(),
                }),
              ),
            }),
          }),
        )
        // The role that the API calls functions with has its permissions in policies of their own.
        .default([]),
    }),
  });
}
