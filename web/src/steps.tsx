import type { Happened } from "./contract";
import * as f from "./format";

/** Steps lists what happened in order, each thing when it happened first. */
export function Steps({ all }: { all: Happened[] }) {
  return (
    <details class="events" data-testid="steps" open={all.length <= 12}>
      <summary>What happened, in order: {f.plural(all.length, "event")}</summary>
      <ol>
        {all.map((h) => (
          <li>
            <b>{f.time(h.at_ps)}</b> {h.what}
            {h.times > 1 ? ` (${f.count(h.times)} times, the last at ${f.time(h.last_ps)})` : ""}
          </li>
        ))}
      </ol>
    </details>
  );
}
