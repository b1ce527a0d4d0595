import { expect, inject, it } from "vitest";

import { routes } from "../../shared/api/routes.ts";
import { methodsOfRoute, type Route } from "../../shared/api/routes/route.ts";
import { call, errorOf } from "../support/api.ts";
import { pathOfNothing } from "../support/paths.ts";

const rows = Object.values<Route>(routes);
const methodsByPath = Map.groupBy(rows, ({ path }) => path);
const methods = ["DELETE", "GET", "OPTIONS", "PATCH", "POST", "PUT"];

it.each([...methodsByPath])(
  "%s responds to an unsupported method with the supported ones",
  async (_path, ofPath) => {
    const [first] = ofPath;
    if (first === undefined) throw new Error("the path has no route");
    const taken = ofPath.flatMap(methodsOfRoute);
    for (const method of methods.filter((each) => !taken.includes(each))) {
      const response = await call(pathOfNothing(first), { method });
      expect(errorOf(response), method).toEqual({ status: 405, code: "METHOD_NOT_ALLOWED" });
      expect(response.headers.get("allow")?.split(", ").toSorted()).toEqual(taken.toSorted());
    }
  },
);

const fixedRows = rows.filter(({ path, method }) => method === "GET" && !path.includes("{"));
const isPublic = (route: Route): boolean => methodsOfRoute(route).includes("HEAD");

it.each(fixedRows.filter(isPublic).map(({ path }) => path))("HEAD %s responds as GET does", async (path) => {
  const [head, get] = await Promise.all(
    ["HEAD", "GET"].map(async (method) => fetch(inject("baseUrl") + path, { method, redirect: "manual" })),
  );
  expect(await head?.text()).toBe("");
  expect(head?.status).toBe(get?.status);
  expect(head?.headers.get("content-type")).toBe(get?.headers.get("content-type"));
});

it.each(fixedRows.filter((route) => !isPublic(route)).map(({ path }) => path))(
  "HEAD %s, which needs a credential, is not supported",
  async (path) => {
    const head = await fetch(inject("baseUrl") + path, { method: "HEAD" });
    expect(head.status).toBe(405);
    expect(head.headers.get("allow")?.split(", ")).not.toContain("HEAD");
  },
);

it("an unknown path is not found, by any method", async () => {
  for (const method of methods) {
    expect(errorOf(await call("/v1/nothing/here", { method }))).toEqual({ status: 404, code: "NOT_FOUND" });
  }
});

it.each([
  ["GET", "/v1"],
  ["GET", "/v1/sms/send/more"],
  ["GET", "/v2/sms"],
  ["GET", "/v1/sms/../../etc/passwd"],
  ["GET", "//v1//sms"],
])("the response to %s %s is 404", async (method, path) => {
  expect(errorOf(await call(path, { method }))).toEqual({ status: 404, code: "NOT_FOUND" });
});

it("health needs no credential", async () => {
  expect(await call("/health")).toMatchObject({ status: 200, body: { data: { status: "ok" } } });
});
