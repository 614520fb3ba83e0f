import type { Journeys } from "./contract";
import { type Info } from "./api";
import * as f from "./format";
import { address } from "./state";
import { standalone } from "./api";

type Followed = Journeys["packets"][number];
type Copy = NonNullable<Followed["copies"]>[number];

/** parts of a packet's time at a hop, each with a colour that the legend above the waterfall names. */
const kinds = [
  ["in the switch", "var(--c-latency)"],
  ["in the queue", "var(--q-mid)"],
  ["serialization", "var(--c-line_rate)"],
  ["propagation", "var(--o-tensor-parallel)"],
] as const;

/** Waterfall is one followed packet, a bar per hop on one axis of time: what it waited for at each. */
export function Waterfall({ info, p, c }: { info: Info; p: Followed; c: Copy }) {
  const begin = c.hops[0]?.left_ps ?? 0;
  const last = c.hops[c.hops.length - 1];
  const end = Math.max(c.end_ps, last?.left_ps ?? begin);
  const span = Math.max(1, end - begin);
  const waited = c.hops.slice(1).reduce((sum, h) => sum + h.left_ps - h.ready_ps, 0);
  const first = (k: "marked" | "trimmed") => c.hops.findIndex((h) => h[k]);
  const share = (ps: number) => `${Math.max(0, Math.min(100, (100 * ps) / span))}%`;
  const to = (port: number, at: number) =>
    address(standalone() ? ["fabric"] : ["run", info.name, "fabric"], { metric: "queue", port, at });
  return (
    <figure class="fall" aria-label={`packet ${p.asked}, hop by hop`}>
      <figcaption>
        <b>
          PSN {p.psn}: {c.kind}
          {c.again && ", retransmitted"}, {f.bytes(c.bytes)},{" "}
          {c.end === "under way"
            ? "under way when the run ended"
            : `${c.end} at ${c.ended_at} after ${f.time(span)}, ${f.time(waited)} of them in queues`}
        </b>{" "}
        <span class="note">
          packet {p.asked} of queue pair {p.qp}
        </span>
      </figcaption>
      <ol>
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
          const what = [
            i > 0 && h.found_bytes > 0 && `finds ${f.bytes(h.found_bytes)} queued`,
            h.paused && "its class is paused",
            first("marked") === i && "◆ marked CE",
            first("trimmed") === i && "trimmed",
          ].filter(Boolean);
          return (
            <li>
              <a href={to(h.port, h.left_ps)}>{h.name}</a>
              <span class={h.paused ? "track paused" : "track"} title={said.join(", ")}>
                {bars.map(([a, b], k) =>
                  b > a ? (
                    <i style={{ left: share(a - begin), width: share(b - a), background: kinds[k][1] }} />
                  ) : null,
                )}
              </span>
              <span class="n">{i > 0 && h.left_ps > h.ready_ps ? `waits ${f.time(h.left_ps - h.ready_ps)}` : ""}</span>
              <span class="note">{what.join(", ")}</span>
            </li>
          );
        })}
        <li class="axis" aria-hidden="true">
          <span />
          <span class="track">
            {f.axis(0, span, 5).map((t) => (
              <small style={{ left: share(t.at) }}>{t.label}</small>
            ))}
          </span>
        </li>
      </ol>
    </figure>
  );
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
