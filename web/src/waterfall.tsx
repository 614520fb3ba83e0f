import type { Journeys } from "./contract";
import { type Info } from "./api";
import * as f from "./format";
import { address } from "./state";
import { standalone } from "./api";

type Followed = Journeys["packets"][number];
type Copy = NonNullable<Followed["copies"]>[number];

const named = 0.01; // share of a packet's time from which on a wait is one

/** parts of a packet's time at a hop, each with a colour that the legend above the waterfall names. */
const kinds = [
  ["in the switch", "var(--c-latency)"],
  ["in the queue", "var(--q-mid)"],
  ["serialization", "var(--c-line_rate)"],
  ["propagation", "var(--o-tensor-parallel)"],
] as const;

/** alike groups copies that differ in times, queues and paths alone, by their first. */
export function alike(copies: Copy[]): Copy[][] {
  const by = new Map<string, Copy[]>();
  for (const c of copies) {
    const has = (k: "marked" | "trimmed") => c.hops.some((h) => h[k]);
    const key = JSON.stringify([c.kind, !!c.again, c.bytes, c.end, c.end === "dropped" && c.ended_at, has("marked"), has("trimmed")]);
    const same = by.get(key);
    if (same) same.push(c);
    else by.set(key, [c]);
  }
  return [...by.values()];
}

/** Waterfall is one followed packet, a bar per hop on one axis of time: what it waited for at each. It is the first of
 * a number of copies that are alike. */
export function Waterfall({ info, p, c, last: latest, times }: { info: Info; p: Followed; c: Copy; last: Copy; times: number }) {
  const begin = c.hops[0]?.left_ps ?? 0;
  const last = c.hops[c.hops.length - 1];
  const end = Math.max(c.end_ps, last?.left_ps ?? begin);
  const span = Math.max(1, end - begin);
  const share = (ps: number) => `${Math.max(0, Math.min(100, (100 * ps) / span))}%`;
  const to = (port: number, at: number) =>
    address(standalone() ? ["fabric"] : ["run", info.name, "fabric"], { metric: "queue", port, at });
  return (
    <figure class="fall" aria-label={`packet ${p.asked}, hop by hop`}>
      <figcaption>
        <b>
          {c.data ? "" : "for "}PSN {p.psn}: {c.kind}
          {c.again && ", retransmitted"}, {f.bytes(c.bytes)},{" "}
          {times > 1 && `${times} times until ${f.time(latest.hops[0]?.left_ps ?? 0)}; the first `}
          {c.end === "under way" ? "under way when the run ended" : `${c.end} at ${c.ended_at} after ${f.time(span)}`}.
        </b>{" "}
        {end > begin && happened(c, span)}{" "}
        <span class="note">
          packet {p.asked} of queue pair {p.qp}
        </span>
      </figcaption>
      {end > begin && <ol>
        {c.hops.map((h, i) => {
          const next = c.hops[i + 1]?.came_ps ?? end;
          const sent = Math.min(next, h.left_ps + Math.round((c.bytes * 8e12) / Math.max(1, h.rate_bps)));
          const bars: [number, number][] = [
            [i > 0 ? h.came_ps : h.left_ps, i > 0 ? h.ready_ps : h.left_ps],
            [i > 0 ? h.ready_ps : h.left_ps, h.left_ps],
            [h.left_ps, sent],
            [sent, next],
          ];
          const said = bars.map(([a, b], k) => (b > a ? `${kinds[k][0]} ${f.time(b - a)}` : "")).filter(Boolean);
          const wait = waited(c, i);
          const what = [
            found(c, i) > 0 && `finds ${f.bytes(found(c, i))} queued`,
            h.paused && "its class is paused",
            h.marked && !c.hops[i - 1]?.marked && "◆ marked CE",
            h.trimmed && !c.hops[i - 1]?.trimmed && "trimmed",
          ].filter(Boolean);
          const [from, until] = [bars[0][0] - begin, next - begin];
          const label = wait >= named * span ? `waits ${f.time(wait)}` : f.time(next - bars[0][0]);
          const inside = wait > 0.3 * span;
          const before = !inside && until > 0.7 * span;
          return (
            <li>
              <a href={to(h.port, h.left_ps)}>{h.name}</a>
              <span class={h.paused ? "track paused" : "track"} title={said.join(", ")}>
                {bars.map(([a, b], k) =>
                  b > a ? (
                    <i style={{ left: share(a - begin), width: share(b - a), background: kinds[k][1] }} />
                  ) : null,
                )}
                <b
                  class={inside ? "inside" : ""}
                  style={before ? { right: `calc(100% - ${share(from)})` } : { left: share(inside ? bars[1][0] - begin : until) }}
                >
                  {label}
                </b>
              </span>
              <span class="note">{what.join(", ")}</span>
            </li>
          );
        })}
        <li class="axis" aria-hidden="true">
          <span class="note">since it left {c.hops[0]?.name.split(":")[0]}</span>
          <span class="track">
            {f.axis(0, span, 5).map((t) => (
              <small style={{ left: share(t.at) }}>{t.label}</small>
            ))}
          </span>
        </li>
      </ol>}
    </figure>
  );
}

/** tookOf is what became of a followed packet in two sentences: its time, and where that went. */
export function tookOf(p: Followed): [string, string] {
  const c = p.copies!.find((x) => x.data) ?? p.copies![0];
  const span = Math.max(1, Math.max(c.end_ps, c.hops[c.hops.length - 1]?.left_ps ?? 0) - (c.hops[0]?.left_ps ?? 0));
  const ended = c.end === "under way" ? "under way when the run ended" : `${c.end} after ${f.time(span)}`;
  return [`Packet ${p.psn}, ${f.whole(p.from)} → ${f.whole(p.to)}: ${ended}.`, happened(c, span)];
}

/** waited is a copy's time in the queue of a hop. */
const waited = (c: Copy, i: number) => (i > 0 ? c.hops[i].left_ps - c.hops[i].ready_ps : 0);

/** longestOf is the longest wait of a followed packet in a queue. */
export const longestOf = (p: Followed) => Math.max(...(p.copies ?? []).filter((c) => c.data).flatMap((c) => c.hops.map((_, i) => waited(c, i))), 0);

/** found is what a copy found queued at a hop, of at least a packet of its size. */
const found = (c: Copy, i: number) => (i > 0 && c.hops[i].found_bytes >= c.bytes ? c.hops[i].found_bytes : 0);

/** happened says where a copy spent its time, in a sentence. */
function happened(c: Copy, span: number): string {
  const top = c.hops.reduce((n, _, i) => (waited(c, i) > waited(c, n) ? i : n), 0);
  const at = (i: number) => c.hops[i].name.split(" → ")[0];
  const marked = c.hops.findIndex((h) => h.marked);
  const trimmed = c.hops.findIndex((h) => h.trimmed);
  const said =
    waited(c, top) < named * span
      ? "No queue delays it"
      : `${f.percent(waited(c, top) / span)} of that is its wait at ${at(top)}${found(c, top) > 0 ? ` behind ${f.bytes(found(c, top))}` : ""}${c.hops[top].paused ? ", whose class is paused" : ""}`;
  const also = [marked >= 0 && `marks it CE`, trimmed >= 0 && `trims it`].filter(Boolean).join(" and ");
  return `${said}${also ? `; ${at(marked >= 0 ? marked : trimmed)} ${also}` : ""}.`;
}

/** WaterfallKey names the colours. */
export const WaterfallKey = () => (
  <p class="kinds">
    {kinds.map(([name, colour]) => (
      <span>
        <i style={{ background: colour }} />
        {name}
      </span>
    ))}
  </p>
);
