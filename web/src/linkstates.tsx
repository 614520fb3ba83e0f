import type { Info } from "./api";
import * as f from "./format";
import { set } from "./state";

/** State is a link that is down, or runs below its rate, at a time. */
export interface State {
  link: number;
  since: number;
  down: boolean;
  share: number; // of its rate, of the direction that has less
}

/** statesAt lists the links that are not whole at a time, by the port that sends from A. */
export function statesAt(info: Info, at: number): Map<number, State> {
  const out = new Map<number, State>();
  for (const c of info.topology.changes ?? []) {
    if (c.at_ps > at) break;
    const l = info.topology.links[c.link];
    const share = Math.min(c.rate_from_a_bps, c.rate_from_b_bps) / Math.max(1, l.rate_bps);
    if (!c.down && share >= 1) {
      out.delete(l.from_a);
      continue;
    }
    const was = out.get(l.from_a);
    const same = was && was.down === !!c.down && was.share === share;
    out.set(l.from_a, { link: c.link, since: same ? was.since : c.at_ps, down: !!c.down, share });
  }
  return out;
}

/** said says what a link is. */
export function said(info: Info, s: State): string {
  if (s.down) return `down since ${f.time(s.since)}`;
  const rate = info.topology.links[s.link].rate_bps;
  return `at ${f.rate(s.share * rate)} of ${f.rate(rate)} since ${f.time(s.since)}`;
}

/** slowInk is the colour of links below their rate, on light and dark. */
export const slowInk = "#c07800";

/** States lists the links that are not whole at a time, also for those who do not see the drawing. */
export function States({ info, states }: { info: Info; states: Map<number, State> }) {
  const all = [...states.values()];
  return (
    <div class="panel" data-testid="link-states">
      <h3>Links that are down or below their rate at this time</h3>
      {all.length === 0 ? (
        <p>None.</p>
      ) : (
        <ul class="flows">
          {all.slice(0, 8).map((s) => {
            const port = info.topology.links[s.link].from_a;
            return (
              <li>
                <button class="plain" onClick={() => set({ port, qp: undefined }, false)}>
                  {info.ports[port].name}
                </button>{" "}
                {said(info, s)}
              </li>
            );
          })}
        </ul>
      )}
      {all.length > 8 && <p class="hint">{f.count(all.length - 8)} more</p>}
    </div>
  );
}
