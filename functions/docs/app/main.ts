import { prepareRequestForm } from "./request-form.ts";
import { urlOf } from "./root.ts";

/*
 * The parts of the pages that need a script: the memory of the chosen language, copy buttons, the form that sends requests,
 * and the search. The search is loaded on first use.
 */

const languageKey = "docs-language";

function chooseLanguage(language: string): void {
  for (const radio of document.querySelectorAll<HTMLInputElement>(".tabs > input")) {
    if (radio.dataset["language"] === language) radio.checked = true;
  }
}

const remembered = localStorage.getItem(languageKey);
if (remembered !== null) chooseLanguage(remembered);
document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement)) return;
  const { language } = target.dataset;
  if (language === undefined) return;
  localStorage.setItem(languageKey, language);
  chooseLanguage(language);
});

for (const block of document.querySelectorAll("pre")) {
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    button.textContent = "Copied";
    void navigator.clipboard.writeText(block.textContent.trim());
  });
  const frame = document.createElement("div");
  frame.className = "code";
  block.replaceWith(frame);
  frame.append(block, button);
}

for (const form of document.querySelectorAll<HTMLFormElement>("form.request")) prepareRequestForm(form);

async function openSearch(): Promise<void> {
  const { showSearch } = await import("./search.ts");
  await showSearch(urlOf);
}

const searchButton = document.querySelector<HTMLButtonElement>("button.search");
if (searchButton !== null) {
  searchButton.hidden = false;
  searchButton.addEventListener("click", () => void openSearch());
}
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.closest("input, textarea") !== null;
  const isShortcut = event.key === "/" || (event.key === "k" && (event.metaKey || event.ctrlKey));
  if (!isShortcut || isTyping) return;
  event.preventDefault();
  void openSearch();
});
