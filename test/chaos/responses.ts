import type { ApiResponse } from "../support/api.ts";

/** Noted in place of a status when the connection broke before the response. */
export const noAnswer = 0;

/** Whether a response shows the final outcome of a request. */
export function isDefinite(status: number): boolean {
  return status !== noAnswer && status < 500 && status !== 409;
}

/** The status of a response, or `noAnswer`: fetch reports a broken connection as a TypeError. */
export async function answered(response: Promise<ApiResponse>): Promise<{ readonly status: number }> {
  return response.catch((error: unknown) => {
    if (error instanceof TypeError) return { status: noAnswer };
    throw error;
  });
}
