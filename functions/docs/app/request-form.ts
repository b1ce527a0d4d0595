import { urlOf } from "./root.ts";

const keyName = "docs-key";

/** Shows a form that sends a request, and lets it keep the credential for the pages of this tab. */
export function prepareRequestForm(form: HTMLFormElement): void {
  form.hidden = false;
  const key = form.querySelector<HTMLInputElement>("input[name=key]");
  if (key !== null) {
    key.value = sessionStorage.getItem(keyName) ?? "";
    key.addEventListener("input", () => sessionStorage.setItem(keyName, key.value.trim()));
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form, key?.value.trim());
  });
}

async function send(form: HTMLFormElement, key: string | undefined): Promise<void> {
  const button = form.querySelector("button");
  const result = form.querySelector(".result");
  if (button === null || result === null) return;
  button.disabled = true;
  const startedAt = performance.now();
  try {
    const response = await fetch(...requestOf(form, key));
    const text = await response.text();
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    const title = document.createElement("p");
    title.className = response.ok ? "status good" : "status bad";
    title.textContent = `${response.status} ${response.statusText} · ${Math.round(performance.now() - startedAt)} ms`;
    result.replaceChildren(title, output("Headers", headers, false), output("Body", formatted(text), true));
  } catch (error) {
    result.textContent = `The request failed: ${String(error)}`;
  } finally {
    button.disabled = false;
  }
}

function requestOf(form: HTMLFormElement, key: string | undefined): [url: string, init: RequestInit] {
  const { method = "GET", path = "/" } = form.dataset;
  const headers = new Headers();
  const query = new URLSearchParams();
  let address = path;
  let body: string | undefined;
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== "string" || value === "") continue;
    const [place = "", parameter = ""] = name.split(/:(.*)/);
    if (place === "path") address = address.replace(`{${parameter}}`, encodeURIComponent(value));
    if (place === "query") query.set(parameter, value);
    if (place === "header") headers.set(parameter, value);
    if (place === "body") body = value;
  }
  if (key !== undefined && key !== "") headers.set("Authorization", `Bearer ${key}`);
  if (body !== undefined) headers.set("Content-Type", "application/json");
  const search = query.size === 0 ? "" : `?${query.toString()}`;
  return [urlOf(address) + search, { method, headers, ...(body === undefined ? {} : { body }) }];
}

function output(title: string, text: string, isOpen: boolean): HTMLDetailsElement {
  const details = document.createElement("details");
  details.open = isOpen;
  const summary = document.createElement("summary");
  summary.textContent = title;
  const block = document.createElement("pre");
  block.tabIndex = 0;
  block.textContent = text;
  details.append(summary, block);
  return details;
}

/** Formats JSON; other text stays as it is. */
function formatted(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
