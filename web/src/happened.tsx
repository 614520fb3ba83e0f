import type { Summary } from "./contract";
import * as f from "./format";

/** Happening is something that befell the fabric at a moment: a cable, or the ways of queue pairs. */
export interface Happening {
  at: number;
  what: string;
  /** routes: what switches and NICs made of it. */
  routes: boolean;
}

/** happenings are all of a run, in order; at one moment cables come before ways. */
export function happenings(s: Summary): Happening[] {
  const cables = (s.link_events ?? []).map((e) => ({
    at: e.at_ps,
    what:
      `${e.link}: ${e.change}` +
      (e.cables ? ` (${f.count(e.cables)} cables)` : "") +
      (e.ends_ps ? `, its ends know from ${f.time(e.ends_ps)} on` : "") +
      (e.routes_ps ? `, routes know from ${f.time(e.routes_ps)} on` : ""),
    routes: false,
  }));
  const ways = (s.route_changes ?? []).map((m) => ({
    at: m.at_ps,
    what:
      `routes changed: ${f.count(m.moved)} of ${f.count(m.of_queue_pairs)} queue pairs took another way, ` +
      `${f.count(m.moved_off_working_ways)} of them off one that works`,
    routes: true,
  }));
  return [...cables, ...ways].sort((a, b) => a.at - b.at || Number(a.routes) - Number(b.routes));
}

const most = 50;

/** Happened lists them; choosing one calls back, where somebody wants to know. */
export function Happened({ all, choose }: { all: Happening[]; choose?: (h: Happening) => void }) {
  return (
    <ul data-testid="link-events" class="happened">
      {all.slice(0, most).map((h) => (
        <li class={h.routes ? "ways" : "cable"}>
          {choose ? <button onClick={() => choose(h)}>{f.time(h.at)}</button> : f.time(h.at)} {h.what}
        </li>
      ))}
      {all.length > most && <li>and {f.count(all.length - most)} more, in summary.json</li>}
    </ul>
  );
}
