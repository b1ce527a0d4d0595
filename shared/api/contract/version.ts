/** The version of this interface, as the health check and the OpenAPI document give it. */
export const apiVersion = "0.4.1";
