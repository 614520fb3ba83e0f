import { type Info, standalone, startVariant } from "./api";
import * as f from "./format";
import { address } from "./state";
import { useState } from "preact/hooks";

/** byFlow reports whether a run simulated flows: rates, without packets and queues. */
export const byFlow = (info: Info) => info.summary.fidelity === "flow";

/** unsimulated says of figures that a run of flows does not have them. */
export const unsimulated = (what: string) => `${f.begin(what)}: not simulated at flow fidelity.`;

/** NotSimulated says it, and offers the same run by packets. */
export function NotSimulated({ info, what }: { info: Info; what: string }) {
  const [error, fail] = useState("");
  const run = () =>
    startVariant(info.name, ["fidelity=packet"]).then(
      (j) => {
        location.hash = address(["compare"], { runs: info.name, job: j.id });
      },
      (e: Error) => fail(e.message),
    );
  return (
    <p class="note" data-testid="not-simulated">
      {unsimulated(what)} {!standalone() && <button onClick={run}>Run at packet fidelity</button>}
      {error && (
        <span class="error" role="alert">
          {" "}
          {error}
        </span>
      )}
    </p>
  );
}
