import { sharedCodes } from "../../../../shared/api/contract/countries.ts";
import { api } from "../api.ts";
import { countryName } from "../countries.ts";
import { filtersIn } from "../parts/filter-form.tsx";
import { ListView } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { Money } from "../parts/money.tsx";
import type { ViewProps } from "../router.ts";
import { given, prefixIn } from "../typed.ts";

/** Prices per segment and destination. */
export function Prices({ query }: ViewProps) {
  const filters = filtersIn(query, { prefix: { label: "Phone number or prefix", type: "tel" } });
  const prefix = prefixIn(filters.values.prefix ?? "");
  const prices = usePages(
    async (page) => api().listPrices({ query: { ...page, prefix: given(prefix) } }),
    [prefix],
  );
  return (
    <ListView
      title="Prices"
      lead="Price per message segment. The longest matching number prefix applies."
      back={["#/wallet", "Wallet"]}
      filters={{ ...filters, values: { prefix } }}
      caption="Prices per segment"
      pages={prices}
      keyOf={(price) => price.prefix}
      columns={{
        Numbers: ({ prefix: code, blockedPrefixes = [] }) =>
          [
            code === "" ? "All other numbers" : `+${code}…`,
            ...blockedPrefixes.map((each) => `not +${each}…`),
          ].join(", "),
        Country: ({ country, prefix: code }) =>
          country === undefined ? (sharedCodes[code] ?? "") : countryName(country),
        Price: { number: ({ unitPrice }) => <Money amount={unitPrice} /> },
      }}
      empty={{
        title: "No price for these numbers",
        hint: "You cannot send to these numbers. Contact the gateway operator to request a price.",
        action: <a href="#/prices">Show all prices</a>,
      }}
    />
  );
}
