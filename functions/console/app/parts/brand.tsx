import { linksOf } from "../../../../shared/api/contract/brand-links.ts";
import { brand } from "../features.ts";

/** The operator's logo, or the name if there is none. */
export function BrandName() {
  if (!brand.images.includes("logo.svg")) return <>{brand.name}</>;
  return <img class="logo" src="brand/logo.svg" alt={brand.name} />;
}

/** Links to help, terms and privacy. Shows nothing if the operator has set none. */
export function BrandLinks() {
  const links = linksOf(brand);
  if (links.length === 0) return null;
  return (
    <p class="row muted">
      {links.map(([label, url]) => (
        <a key={label} href={url}>
          {label}
        </a>
      ))}
    </p>
  );
}
