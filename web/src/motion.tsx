import { useEffect, useState } from "preact/hooks";
import { type Info, view } from "./api";
import type { Copy, Followed, Journeys } from "./contract";
import * as f from "./format";
import { here, set, useData, usePlace } from "./state";

const second = 0.7; // that a stage of a packet's life takes when played: in a queue, on a link

/** Flying is a copy of a followed packet at a time: in the queue of a port, or a share of the way along its link. */
export interface Flying {
  port: number;
  share: number; // 0: it waits
  kind: string;
  data: boolean;
  marked: boolean;
  words: string;
}

/** Motion is the packet that moves, and the ports on its way. */
export interface Motion {
  flying: Flying[];
  ports: Set<number>;
}

/** came is when a copy came to a port; at the sending NIC, when it left, as nobody knows when it was made. */
const came = (h: Copy["hops"][0]) => h.came_ps || h.left_ps;

/** flying is where the copies of a packet are at a time, by their recorded hops. */
export function flying(p: Followed, at: number): Flying[] {
  return p.copies.flatMap((c) => {
    const k = c.hops.findLastIndex((h) => came(h) > 0 && came(h) <= at);
    if (k < 0 || (c.end_ps > 0 && at >= c.end_ps)) return [];
    const h = c.hops[k];
    const next = c.hops[k + 1] ? came(c.hops[k + 1]) : c.end_ps;
    const gone = h.left_ps > 0 && at >= h.left_ps && next > h.left_ps;
    const share = gone ? Math.min(1, (at - h.left_ps) / (next - h.left_ps)) : 0;
    const marked = c.hops.slice(0, k + 1).some((x) => x.marked && x.left_ps <= at);
    const words = gone
      ? `${c.kind} on the link of ${h.name}`
      : `${c.kind} in the queue of ${h.name}${h.found_bytes > 0 ? `, behind ${f.bytes(h.found_bytes)}` : ""}${h.paused ? ", paused" : ""}`;
    return [{ port: h.port, share, kind: c.kind, data: !!c.data, marked, words }];
  });
}

/** events are the times at which a followed packet comes to ports and leaves them, in order. */
const events = (p: Followed) =>
  [...new Set(p.copies.flatMap((c) => [...c.hops.flatMap((h) => [came(h), h.left_ps]), c.end_ps]).filter((t) => t > 0))].sort(
    (a, b) => a - b,
  );

/** stageOf is how many events lie before a time, with the share of the way to the next: stages have equal room. */
function stageOf(times: number[], at: number): number {
  const k = Math.max(0, Math.min(times.length - 2, times.findLastIndex((t) => t <= at)));
  return times.length < 2 ? 0 : k + Math.max(0, Math.min(1, (at - times[k]) / (times[k + 1] - times[k])));
}

/** timeOf is the time of a stage. */
function timeOf(times: number[], stage: number): number {
  const k = Math.max(0, Math.min(times.length - 2, Math.floor(stage)));
  return times.length < 2 ? times[0] : times[k] + Math.min(1, stage - k) * (times[k + 1] - times[k]);
}

/** useMotion is the followed packet that the address names, at the time that it names. */
export function useMotion(info: Info): { list: Followed[]; packet?: Followed; at: number; motion?: Motion } {
  const { args } = usePlace();
  const { data } = useData(() => view<Journeys>(info.name, "followed"), [info.name]);
  const list = (data?.packets ?? []).filter((p) => p.copies.some((c) => c.hops.length > 0));
  const packet = args.has("moving") ? list[Number(args.get("moving"))] : undefined;
  if (!packet) return { list, at: 0 };
  const times = events(packet);
  const [from, to] = [times[0], times[times.length - 1]];
  const at = Math.max(from, Math.min(to, Number(args.get("at") ?? from)));
  return {
    list,
    packet,
    at,
    motion: { flying: flying(packet, at), ports: new Set(packet.copies.flatMap((c) => c.hops.map((h) => h.port))) },
  };
}

/** Mover plays the life of a followed packet, each stage in the same time, or event by event where motion is reduced. */
export function Mover({ list, packet, at, motion }: ReturnType<typeof useMotion>) {
  const [playing, play] = useState(false);
  const times = packet ? events(packet) : [0];
  const [from, to] = [times[0], times[times.length - 1]];
  useEffect(() => {
    if (!playing || !packet) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const now = () => Math.max(from, Number(here().args.get("at") ?? from));
    const go = (stage: number) => {
      set({ at: Math.ceil(timeOf(times, Math.min(times.length - 1, stage))) });
      if (stage >= times.length - 1) play(false);
    };
    if (calm) {
      const timer = setInterval(() => go(Math.floor(stageOf(times, now()) + 1e-6) + 1), 1200);
      return () => clearInterval(timer);
    }
    let stage = stageOf(times, now());
    let last = performance.now();
    let frame = requestAnimationFrame(function tick(t) {
      stage += Math.max(0, t - last) / 1000 / second;
      last = t;
      go(stage);
      frame = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing, packet]);
  if (list.length === 0) return null;
  return (
    <div class="bar" data-testid="motion">
      <label>
        packet in motion{" "}
        <select
          aria-label="packet in motion"
          value={packet ? String(list.indexOf(packet)) : ""}
          onChange={(e) => {
            play(false);
            const v = e.currentTarget.value;
            set({ moving: v || undefined, at: v ? events(list[Number(v)])[0] : undefined });
          }}
        >
          <option value="">none</option>
          {list.map((p, i) => (
            <option value={i}>
              {p.asked}: {p.from} → {p.to}
            </option>
          ))}
        </select>
      </label>
      {packet && (
        <>
          <button
            aria-pressed={playing}
            onClick={() => {
              if (!playing && at >= to) set({ at: from });
              play(!playing);
            }}
          >
            {playing ? "pause" : "play"}
          </button>
          <input
            class="scrub"
            type="range"
            min={0}
            max={(times.length - 1) * 100}
            value={stageOf(times, at) * 100}
            aria-label="time of the packet"
            aria-valuetext={f.time(at - from)}
            onInput={(e) => set({ at: Math.ceil(timeOf(times, Number(e.currentTarget.value) / 100)) })}
          />
          <output data-testid="whereabouts">
            +{f.time(at - from)} of {f.time(to - from)}: {motion!.flying.map((x) => x.words).join("; ") || "arrived"}
          </output>
        </>
      )}
    </div>
  );
}
