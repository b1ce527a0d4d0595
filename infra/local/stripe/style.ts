/** The style of the checkout page and of the dashboard, on phones and in dark mode too. */
export const style = `
:root { color-scheme: light dark; --line: light-dark(#cbd2dc, #454d5c); --soft: light-dark(#576071, #aab3c2);
  --accent: light-dark(#4338ca, #a5b4fc); --bad: light-dark(#b42318, #ffa198); }
* { box-sizing: border-box; }
body { background: light-dark(#fff, #15181e); color: light-dark(#1b2230, #e8ebf0); font: 1rem/1.5 system-ui, sans-serif;
  margin: 0 auto; max-width: 62rem; overflow-wrap: anywhere; padding: 1.5rem 1rem; }
main { display: grid; gap: 1.5rem 3rem; }
@media (min-width: 46rem) { main.columns { grid-template-columns: 2fr 3fr; grid-template-rows: auto 1fr; }
  .columns form { grid-column: 2; grid-row: 1 / span 2; } }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 0.5rem; }
.badge { background: light-dark(#fdf0c8, #4d3c08); border-radius: 4px; color: light-dark(#6b4800, #ffe08a);
  font-size: 0.8rem; font-weight: 600; padding: 0.2rem 0.5rem; }
.soft { color: var(--soft); }
.alert { border: 1px solid var(--bad); border-radius: 6px; color: var(--bad); margin: 0; padding: 0.6rem 0.8rem; }
dl { margin: 0; }
dl div { display: flex; gap: 1rem; justify-content: space-between; padding: 0.3rem 0; }
dd { font-variant-numeric: tabular-nums; margin: 0; white-space: nowrap; }
.total { border-top: 1px solid var(--line); font-weight: 600; }
a { color: var(--accent); }
form { align-content: start; display: grid; gap: 1rem; }
label { display: grid; font-size: 0.9rem; font-weight: 600; gap: 0.3rem; }
.pair { display: grid; gap: 1rem; grid-template-columns: 1fr 1fr; }
input, select, button { border: 1px solid var(--line); border-radius: 6px; font: inherit; min-height: 2.75rem;
  padding: 0.4rem 0.7rem; width: 100%; }
input, select { background: light-dark(#fff, #1d222b); color: inherit; font-weight: 400; }
button { background: light-dark(#4338ca, #4f46e5); border: 0; color: #fff; cursor: pointer; font-weight: 600; }
button.second { background: none; border: 1px solid var(--line); color: inherit; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
ul { list-style: none; margin: 0; padding: 0; }
li { border-top: 1px solid var(--line); padding: 0.5rem 0; }
code { font-size: 0.95rem; }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem; }
.actions button { width: auto; }
`;
