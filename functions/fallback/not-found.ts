import { ApiError } from "../../shared/api/contract/errors.ts";
import { fallbackRoute, methodsOf, shapeOf } from "../../shared/api/routes.ts";
import { notFoundPage } from "../../shared/pages/landing/not-found.ts";
import type { RawResponse } from "../../shared/platform/http/pipeline.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(
  fallbackRoute,
  async ({ method, path, headers }) => {
    const isRead = method === "GET" || method === "HEAD";
    // Password managers lead there (W3C, A Well-Known URL for Changing Passwords). A path prefix stays.
    if (isRead && path === "/.well-known/change-password") return redirect("../console#/security");
    const isPage = isRead && /^\s*text\/html\b/i.test(headers["accept"] ?? "") && !path.startsWith("/v1/");
    const [, withoutSlash = "", lastSegment = ""] = /^(.*\/([\w.-]+))\/$/.exec(path) ?? [];
    if (isPage && methodsOf(withoutSlash).includes("GET")) return redirect(`../${lastSegment}`);
    if (isPage) return notFoundPage(path);
    const methods = methodsOf(path);
    // A stage may leave operations out: their calls come here with the method that they would take.
    if (methods.length === 0 || methods.includes(method)) throw new ApiError("NOT_FOUND");
    throw new ApiError("METHOD_NOT_ALLOWED", { allowedMethods: methods });
  },
  shapeOf,
);

function redirect(location: string): RawResponse {
  return { status: 302, headers: { Location: location }, body: "" };
}
