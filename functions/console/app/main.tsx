import { render } from "preact";

import { resumeSession } from "./api.ts";
import { App } from "./app.tsx";
import { Waiting } from "./parts/load.tsx";

const root = document.querySelector("#console");
if (root !== null) {
  render(<Waiting />, root);
  void resumeSession().then(() => render(<App />, root));
}
