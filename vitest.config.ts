import { defineConfig } from "vitest/config";

import { mutation } from "./test/mutations/plugin.ts";
import { localSettings } from "./test/support/local-settings.ts";
import { endpointTestsOf, isNightly, notOnStages } from "./test/support/second-opinions.ts";

/** What all tests that run the project's own code begin with. */
const ofEachFile = ["test/support/quiet-log.ts", "test/support/fresh-modules.ts"];

/** Starts the gateway that the tests of a project share, and leads their own code to it. */
const sharedGateway = {
  globalSetup: ["test/support/global-setup.ts"],
  setupFiles: [...ofEachFile, "test/support/environment.ts"],
};

/** Gives the tests of the domain a table without a gateway. */
const storeOfWorker = {
  globalSetup: ["test/support/domain-setup.ts"],
  setupFiles: [...ofEachFile, "test/support/domain-environment.ts"],
};

/** Leads the tests of the endpoints to the deployed stage that the environment names instead. */
const deployedStage = {
  globalSetup: ["test/support/deployed-stage.ts"],
  setupFiles: ["test/support/deployed-environment.ts"],
};

// The default export is what vitest reads.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  test: {
    // More than a small machine has cores: the tests mostly wait, for the gateway and for time to pass.
    // `npm test` has one worker for each core instead, because each loads all modules for itself.
    maxWorkers: 4,
    // A worker loads packages once for all its files, which takes a third of the time of loading them for each.
    isolate: false,
    sequence: { setupFiles: "list" },
    // They end what hangs, also on a slow and busy machine. Alone, the longest test takes a twentieth of it.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A test that asserts nothing proves nothing.
    expect: { requireAssertions: true },
    env: { ...localSettings },
    // By what they need. A folder that is new gets the gateway, so that its tests are run in any case.
    projects: [
      {
        test: {
          name: "unit",
          setupFiles: ofEachFile,
          include: ["test/unit/**/*.test.ts"],
        },
      },
      // The rules of the sources, which `npm run check` checks.
      { test: { name: "conventions", setupFiles: ofEachFile, include: ["test/conventions/**/*.test.ts"] } },
      {
        plugins: mutation(),
        test: { name: "domain", include: ["test/domain/**/*.test.ts"], ...storeOfWorker },
      },
      // It needs nothing either, but takes longer than one wants to wait for the others.
      { test: { name: "model", include: ["test/model/**/*.test.ts"] } },
      {
        test: {
          name: "gateway",
          include: ["test/**/*.test.ts"],
          exclude: [
            "test/{browser,carriers,chaos,conventions,deploy,documents,domain,faults,infra,isolation,local,mixed-versions,model,operator,payments,sdks,system,unit}/**",
            ...(process.env["STAGE"] === undefined ? [] : [`test/endpoints/${notOnStages}`]),
          ],
          ...(process.env["STAGE"] === undefined ? sharedGateway : deployedStage),
        },
      },
      // The operator's commands, the local gateway itself, and data of the last release: most start a gateway of their own.
      { test: { name: "system", include: ["test/{local,operator,system}/**/*.test.ts"], ...sharedGateway } },
      // Templates and bundles, made again and again: it needs no gateway, and takes minutes.
      { test: { name: "infra", include: ["test/infra/**/*.test.ts"] } },
      // Functions that are killed and answers that are lost, one after another: it takes minutes.
      { test: { name: "faults", include: ["test/faults/**/*.test.ts"], ...sharedGateway } },
      // It starts a gateway of its own, and takes minutes.
      { test: { name: "chaos", include: ["test/chaos/**/*.test.ts"] } },
      // It compares times, so that nothing may run beside it.
      { test: { name: "isolation", include: ["test/isolation/**/*.test.ts"], ...sharedGateway } },
      // The functions of the last release, which it builds, and those of the present code, over one table.
      {
        test: {
          name: "mixed-versions",
          include: ["test/mixed-versions/**/*.test.ts"],
          globalSetup: ["test/mixed-versions/global-setup.ts"],
        },
      },
      // It needs Kannel, which it installs where it can.
      {
        test: {
          name: "carriers",
          include: ["test/carriers/**/*.test.ts"],
          globalSetup: ["test/carriers/install-kannel.ts"],
        },
      },
      // Documents against the rules of EN 16931. It needs Python.
      { test: { name: "documents", include: ["test/documents/**/*.test.ts"] } },
      // It needs stripe-mock, which it builds with Go.
      {
        test: {
          name: "payments",
          include: ["test/payments/**/*.test.ts"],
          ...sharedGateway,
          globalSetup: [...sharedGateway.globalSetup, "test/payments/install-stripe-mock.ts"],
        },
      },
      // The SDKs, installed as customers do. It needs Python; the generators of clients also need Go, and Java with Maven.
      {
        test: {
          name: "sdks",
          include: ["test/sdks/**/*.test.ts"],
          exclude: isNightly ? [] : ["test/sdks/document.test.ts"],
          ...sharedGateway,
        },
      },
      // Deployed to an emulator of AWS, with tests of the endpoints. It needs Python, and takes minutes too.
      {
        test: {
          name: "deploy",
          include: ["test/deploy/**/*.test.ts", ...endpointTestsOf("miniStack")],
          // It waits for functions that know the routes of half a minute ago.
          exclude: isNightly ? [] : ["test/deploy/deliveries.test.ts"],
          globalSetup: ["test/deploy/global-setup.ts"],
          setupFiles: ["test/deploy/localhost-names.ts", "test/support/deployed-environment.ts"],
        },
      },
      { test: { name: "browser", include: ["test/browser/**/*.test.ts"], ...sharedGateway } },
    ],
  },
});
