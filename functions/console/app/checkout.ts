import { baseUrl } from "./api.ts";

/*
 * The way to the provider's page and back, in the same tab. This file's note stays in sessionStorage.
 */

const storageKey = "checkout";

/** Where the provider's page of a new payment leads back to. It names no payment, because none exists yet. */
export const returnUrl = `${baseUrl}/console#/payments?returned`;

/**
 * Opens the provider's page of a payment. Its view opens when the person returns, also with the browser's Back button.
 */
export function openCheckout(checkoutUrl: string, paymentId: string): void {
  sessionStorage.setItem(storageKey, paymentId);
  leaveFor(checkoutUrl, `#/payments/${paymentId}?new`);
}

/** Leaves for the provider's page. The Back button leads to the view at `address`. */
export function leaveFor(checkoutUrl: string, address: string): void {
  history.replaceState(null, "", address);
  // A page from the browser's cache would be as it was left.
  addEventListener("pageshow", () => location.reload(), { once: true });
  location.assign(checkoutUrl);
}

/** The payment whose checkout this tab has opened last. */
export function lastCheckout(): string | undefined {
  return sessionStorage.getItem(storageKey) ?? undefined;
}
