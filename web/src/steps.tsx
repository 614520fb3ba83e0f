import type { Happened } from "./contract";
import * as f from "./format";

/** Steps lists what happened in order, each thing when it happened first. */
export function Steps({ all }: { all: Happened[] }) {
  return (
    <div class="panel" data-testid="steps">
      <h3>What happened, in order</h3>
      <ol>
        {all.map((h) => (
          <li>
            <b>{f.time(h.at_ps)}</b> {h.what}
            {h.times > 1 ? ` (${f.count(h.times)} times, the last at ${f.time(h.last_ps)})` : ""}
          </li>
        ))}
      </ol>
    </div>
  );
}
