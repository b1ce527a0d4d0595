import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** Tabs. Arrow keys move between them. */
export function Tabs({
  label,
  tabs,
}: {
  label: string;
  tabs: readonly (readonly [name: string, content: ComponentChildren])[];
}) {
  const id = useId();
  const chosen = useSignal(0);
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    chosen.value = (chosen.value + step + tabs.length) % tabs.length;
    document.querySelector<HTMLElement>(`#${id}-tab-${chosen.value}`)?.focus();
  };
  return (
    <>
      <div class="row" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(([name], index) => (
          <button
            key={name}
            type="button"
            class="small"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-selected={index === chosen.value}
            aria-controls={`${id}-panel`}
            tabIndex={index === chosen.value ? 0 : -1}
            onClick={() => {
              chosen.value = index;
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${chosen.value}`}>
        {tabs[chosen.value]?.[1]}
      </div>
    </>
  );
}
