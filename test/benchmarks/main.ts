import { Command } from "commander";

import { benchmarkBusyWallet } from "./busy-wallet.ts";
import { benchmarkCampaign } from "./campaign.ts";
import { benchmarkCapacity } from "./capacity.ts";
import { benchmarkDashboard } from "./dashboard.ts";
import { benchmarkWebhooks } from "./webhooks.ts";

// `npm run bench -- <suite>`: measures a gateway of its own. It ends with 1 when what a suite asserts does not hold.

const program = new Command("npm run bench --")
  .description("Measures the gateway on this machine, on a gateway of its own with its data in memory.")
  .helpCommand(false);

program
  .command("capacity")
  .description("what each deed uses of AWS, and what that costs")
  .option("--json", "print the figures as one JSON object")
  .action(async ({ json }: { json?: true }) => end(await benchmarkCapacity({ isJson: json === true })));

program
  .command("webhooks")
  .description("how much longer a customer's webhook calls take beside an endpoint that hangs")
  .action(async () => end(await benchmarkWebhooks()));

program
  .command("campaign")
  .description(
    "how long a campaign takes whose worker is ended three times on the way, and whether it is exact",
  )
  .option("--contacts <count>", "contacts that it goes to", Number, 10_000)
  .action(async ({ contacts }: { contacts: number }) => end(await benchmarkCampaign(contacts)));

program
  .command("busy-wallet")
  .description("whether refunds get through to a wallet that is debited hundreds of times a second")
  .action(async () => end(await benchmarkBusyWallet()));

program
  .command("dashboard")
  .description("how long the dashboard takes for a customer with few messages and for one with many")
  .action(async () => end(await benchmarkDashboard()));

await program.parseAsync();

function end(holds: boolean): never {
  process.exit(holds ? 0 : 1);
}
