import { inject } from "vitest";

import { useEmulators } from "./emulators.ts";

/* Lets domain code run inside a test as it runs inside a function: on the store of the shared gateway. */

await useEmulators({ dynamodbEndpoint: inject("dynamodbEndpoint"), sqsEndpoint: inject("sqsEndpoint") });
