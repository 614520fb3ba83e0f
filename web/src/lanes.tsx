import { useEffect, useRef, useState } from "preact/hooks";
import { type Info, type QPView, standalone, view } from "./api";
import { pairs } from "./colour";
import type { Lanes as Data } from "./contract";
import { byFlow } from "./flow";
import * as f from "./format";
import { set, useData, usePlace } from "./state";

const high = 40; // of a lane
const most = 6; // queue pairs drawn at once

/** useLater is a value that has not changed for a while: a window that is dragged asks for nothing. */
function useLater<T>(value: T, key: string): T {
  const [held, hold] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => hold(value), 150);
    return () => clearTimeout(timer);
  }, [key]);
  return held;
}

interface Lane {
  name: string;
  values: number[];
  show: (v: number) => string;
  colour: string;
  note?: string;
  line?: { at: number; words: string };
  each?: boolean; // values count per column
}

/** Lanes are what the fabric did, on the axis of the tracks: queue, ports above WRED min, marks, pauses, drops, and the
 * rates of chosen queue pairs. A click sets the time that all views look at. */
export function Lanes(props: { info: Info; from: number; to: number; width: number; left: number; cursor: number; axis?: boolean; marks?: Flag[] }) {
  const { info, from, to, width, left, cursor, axis } = props;
  const { args } = usePlace();
  const shut = args.get("lanes") === "0";
  const window = useLater([from, to], `${from} ${to}`);
  const what = standalone() ? "lanes" : `lanes?from=${Math.floor(window[0])}&to=${Math.ceil(window[1])}`;
  const { data: now, error } = useData(shut ? null : () => view<Data>(info.name, what), [info.name, what, shut]);
  const last = useRef<Data | undefined>(undefined);
  if (now) last.current = now;
  const data = now ?? last.current;
  const asked = args.get("qps");
  const qps = (asked ?? (data?.qps ?? []).slice(0, 3).map((q) => q.qp).join(","))
    .split(",")
    .filter((s) => /^\d+$/.test(s))
    .map(Number)
    .slice(0, most);
  const rates = useData(
    shut || qps.length === 0 ? null : () => Promise.all(qps.map((q) => view<QPView>(info.name, `qp?id=${q}`))),
    [info.name, qps.join(), shut],
  );
  const toggle = byFlow(info) ? null : (
    <button class="plain lanes-toggle" aria-expanded={!shut} onClick={() => set({ lanes: shut ? undefined : "0" })}>
      {shut ? "Show fabric lanes" : "Hide fabric lanes"}
    </button>
  );
  if (shut) return toggle;
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data)
    return (
      <p class="loading" style={{ height: `${high * 3}px` }}>
        Loading lanes…
      </p>
    );
  const x = (t: number) => left + ((t - from) / (to - from)) * (width - left);
  const some = (v: number[]) => v.some((a) => a > 0);
  const all: Lane[] = [
    {
      name: "Queue, longest",
      values: data.queue_bytes,
      show: f.bytes,
      colour: "var(--q-mid)",
      note: data.name && `longest at ${data.name}`,
      line: data.wred_min_bytes > 0 ? { at: data.wred_min_bytes, words: "WRED min" } : undefined,
    },
    { name: "Above WRED min", values: data.above, show: f.percent, colour: "var(--share)", note: "share of the ports with thresholds" },
    { name: "ECN marks", values: data.ecn_marks, show: (v) => f.count(Math.round(v)), colour: "var(--c-rate_not_given_back)", each: true },
    { name: "Ports paused", values: data.paused, show: (v) => f.digits(Math.round(v * 100) / 100), colour: "var(--c-pause)" },
    { name: "Drops", values: data.drops, show: (v) => f.count(Math.round(v)), colour: "var(--bad)", note: "packets dropped", each: true },
  ];
  const drawn = all.filter((l) => some(l.values));
  // Runs of earlier versions count drops but do not say when.
  const untimed = info.summary.drops > 0 && !some(data.drops) && to - from >= info.span_ps;
  const byNICs = info.summary.reorder_memory?.dropped_packets ?? 0;
  const none = all.filter((l) => l.values.length > 0 && !some(l.values) && !((untimed || byNICs > 0) && l.name === "Drops")).map((l) => l.name.toLowerCase().replace(", longest", "").replace("above", "ports above").replace("ecn", "ECN").replace("wred", "WRED"));
  const flags = flagsOf(data, props.marks ?? []).filter((m) => m.at >= from && m.at <= to);
  const placed = rowsOf(flags, x, width);
  const head = 4 + 15 * (1 + Math.max(-1, ...placed.map((p) => p.row)));
  const at = (t: number) => Math.floor((t - data.from_ps) / data.width_ps);
  /** moved sets the time that all views look at, also while the pointer is dragged. */
  const moved = (e: { clientX: number; currentTarget: Element }) => {
    const t = from + ((e.clientX - e.currentTarget.getBoundingClientRect().left - left) / (width - left)) * (to - from);
    if (t >= from) set({ at: Math.round(Math.min(to, t)) });
  };
  const there = cursor >= from && cursor <= to;
  const small = left < 120;
  // A control without a rate or window has no lane; a line says so.
  const rated = qps.length > 0 && !(rates.data && rates.data.every((q) => q.sent.at_ps.length === 0));
  const bottom = (drawn.length + (rated ? 1 : 0)) * (high + 6) + head;
  return (
    <div class="lanes" data-testid="lanes">
      <svg width={width} height={bottom + (axis ? 20 : 0)} role="img" aria-label={`lanes: ${drawn.map((l) => l.name).join(", ")}${qps.length > 0 ? ", rates of queue pairs" : ""}`}
        onPointerDown={(e) => {
          e.currentTarget.setPointerCapture(e.pointerId);
          moved(e);
        }}
        onPointerMove={(e) => e.buttons > 0 && moved(e)}
      >
        <clipPath id="lanes-window">
          <rect x={left} y={0} width={width - left} height={2000} />
        </clipPath>
        {drawn.map((l, i) => {
          const y = i * (high + 6) + head;
          const top = f.nice(Math.max(...l.values, l.line?.at ?? 0));
          const h = (v: number) => (v / top) * (high - 4);
          const path = l.values
            .map((v, c) => `${c === 0 ? "M" : "L"}${x(data.from_ps + c * data.width_ps)} ${y + high - h(v)}H${x(data.from_ps + (c + 1) * data.width_ps)}`)
            .join("");
          // The threshold is named where the lane is emptier.
          const third = Math.floor(l.values.length / 4);
          const full = (v: number[]) => v.reduce((a, b) => a + b, 0);
          const right = full(l.values.slice(-third)) <= full(l.values.slice(0, third));
          const value = there ? l.values[at(cursor)] : undefined;
          return (
            <g data-lane={l.name} data-max={Math.max(...l.values)}>
              <title>{[l.name, l.note].filter(Boolean).join(", ")}</title>
              <text class="b" x={8} y={y + 14}>
                {small ? l.name.replace(", longest", "").replace("Above ", "> ") : l.name}
              </text>
              <text x={8} y={y + 29}>
                {value !== undefined ? `${small ? "" : "at cursor "}${l.show(value)}` : `max ${l.show(Math.max(...l.values))}${l.each && !small ? ` in ${f.time(data.width_ps)}` : ""}`}
              </text>
              <g clip-path="url(#lanes-window)">
                <path d={`${path}V${y + high}H${x(data.from_ps)}Z`} fill={l.colour} opacity={0.32} />
                <path d={path} fill="none" stroke={l.colour} stroke-width={1.3} />
                {l.line && (
                  <>
                    <path d={`M${left} ${y + high - h(l.line.at)}H${width}`} stroke="var(--ink-3)" stroke-dasharray="4 3" />
                    <text class="over" x={right ? width - 4 : left + 4} y={y + high - h(l.line.at) + (h(l.line.at) > high - 14 ? 12 : -3)} text-anchor={right ? "end" : "start"}>
                      {l.line.words} {l.show(l.line.at)}
                    </text>
                  </>
                )}
              </g>
              <Scale y={y} left={left} width={width} top={l.show(top)} />
            </g>
          );
        })}
        {rated && rates.data && (
          <Rates list={rates.data} y={drawn.length * (high + 6) + head} x={x} left={left} width={width} />
        )}
        {axis &&
          f.axis(from, to, Math.max(3, Math.floor((width - left) / 130))).map((t) => (
            <text x={x(t.at)} y={bottom + 14} text-anchor={x(t.at) > width - 30 ? "end" : "middle"}>
              {t.label}
            </text>
          ))}
        <Flags list={placed} top={head} bottom={bottom} />
        {there && <path d={`M${x(cursor)} 0V${bottom}`} stroke="var(--accent)" />}
      </svg>
      <p class="kinds">
        {rated && qps.map((q, i) => {
          const v = rates.data?.find((r) => r.qp.qp === q);
          return (
            <span>
              <i class="pair" style={{ borderTop: `3px ${pairs[i % most][1] ? "dashed" : "solid"} ${pairs[i % most][0]}` }} />
              queue pair {q}
              {v && ` ${v.qp.from} → ${v.qp.to}`}{" "}
              <button class="plain" aria-label={`hide queue pair ${q}`} onClick={() => set({ qps: qps.filter((k) => k !== q).join(",") || "none" })}>
                ×
              </button>
            </span>
          );
        })}
        {(rated || qps.length === 0) && data.qps.length > 0 && <span>
          <select
            aria-label="show the rate of a queue pair"
            value=""
            onChange={(e) => e.currentTarget.value && set({ qps: [...qps.filter((k) => k !== Number(e.currentTarget.value)), e.currentTarget.value].slice(-most).join(",") })}
          >
            <option value="">add a queue pair…</option>
            {data.qps
              .filter((q) => !qps.includes(q.qp))
              .map((q) => (
                <option value={q.qp}>
                  {q.qp}: {q.from} → {q.to}, waited {f.time(q.wait_ps / Math.max(1, q.packets))} a packet
                </option>
              ))}
          </select>
        </span>}
        {none.length > 0 && <span class="note">None in this window: {none.join(", ")}.</span>}
        {qps.length > 0 && !rated && <span class="note">This run records no rates of queue pairs.</span>}
        {untimed && <span class="note">{f.plural(info.summary.drops, "packet")} dropped; this run does not record when.</span>}
        {byNICs > 0 && <span class="note">NICs dropped {f.plural(byNICs, "packet")} for want of reorder memory; this run does not record when.</span>}
        {toggle}
      </p>
      <DropMoments data={data} />
    </div>
  );
}

/** DropMoments name the ports that dropped packets in the window; each leads to its first drop and its surroundings. */
function DropMoments({ data }: { data: Data }) {
  if (data.dropped.length === 0) return null;
  const step = data.to_ps - data.from_ps;
  return (
    <p class="kinds" data-testid="drops">
      <span>Dropped at</span>
      {data.dropped.map((d) => (
        <button
          title={`show the time of the first drop at ${d.name}`}
          onClick={() => {
            const half = Math.max(500, step / 20);
            const a = Math.max(data.from_ps, Math.min(data.to_ps - 2 * half, d.first_ps - half));
            set({ at: d.first_ps, from: Math.round(a), to: Math.round(a + 2 * half) });
          }}
        >
          {d.name}: {f.plural(d.drops, "packet")}, from {f.time(d.first_ps)}
        </button>
      ))}
    </p>
  );
}

/** Rates are the sending rates of queue pairs: the area below one is the bytes that it sent. */
function Rates(props: { list: QPView[]; y: number; x: (t: number) => number; left: number; width: number }) {
  const { list, y, x, left, width } = props;
  const top = Math.max(1, ...list.map((q) => q.qp.line_bps));
  return (
    <g data-lane="rates">
      <text class="b" x={8} y={y + 14}>
        Sending rate
      </text>
      <text x={8} y={y + 29}>
        {left < 120 ? "" : "line rate "}
        {f.rate(top)}
      </text>
      <g clip-path="url(#lanes-window)">
        {list.map(({ qp, sent }, i) => {
          const h = (v: number) => y + high - (Math.min(v, top) / top) * (high - 4);
          const path = sent.at_ps.map((t, k) => `${k === 0 ? `M${x(t)} ${h(0)}` : `H${x(t)}`}V${h(sent.values[k])}`).join("");
          return <path data-qp={qp.qp} d={path} fill="none" stroke={pairs[i % most][0]} stroke-dasharray={pairs[i % most][1]} stroke-width={1.4} />;
        })}
      </g>
      <Scale y={y} left={left} width={width} top={f.rate(top)} />
    </g>
  );
}

/** Scale is the axis of a lane from zero: its top is named, and drawn where labels have room. */
function Scale(props: { y: number; left: number; width: number; top: string }) {
  const { y, left, width } = props;
  const out = left >= 120;
  return (
    <>
      <path class="grid" d={`M${left} ${y + 4}H${width}`} />
      <path class="axis" d={`M${left} ${y + high}H${width}`} />
      <text class="over small" x={out ? left - 4 : left + 2} y={y + (out ? 8 : 12)} text-anchor={out ? "end" : "start"}>
        {props.top}
      </text>
      {out && (
        <text class="small" x={left - 4} y={y + high} text-anchor="end">
          0
        </text>
      )}
    </>
  );
}

/** Flag is an event of the run. */
export interface Flag {
  at: number;
  words: string;
}

/** flagsOf are the first mark, pause and drop of a window, and its longest queue, with what else happened. */
function flagsOf(data: Data, others: Flag[]): Flag[] {
  const first = (v: number[], at: number, words: string): Flag[] =>
    at < 0 || ((v[0] ?? 0) > 0 && data.from_ps > 0) ? [] : [{ at, words }];
  const peak = Math.max(0, ...data.queue_bytes);
  const longest = data.longest_at_ps >= 0 && peak >= data.wred_min_bytes ? [{ at: data.longest_at_ps, words: `longest queue ${f.bytes(peak)}` }] : [];
  return [...first(data.ecn_marks, data.first_mark_ps, "first ECN mark"), ...first(data.paused, data.first_pause_ps, "first PFC pause"), ...first(data.drops, data.first_drop_ps, "first drop"), ...longest, ...others].sort(
    (a, b) => a.at - b.at,
  );
}

interface Placed extends Flag {
  x: number;
  back: boolean; // its words are left of its line
  row: number; // −1: without words, for lack of room
}

/** rowsOf places flags in up to three rows, so that no label overlaps another. */
function rowsOf(list: Flag[], x: (t: number) => number, width: number): Placed[] {
  const ends = [-Infinity, -Infinity, -Infinity];
  return list.map((m) => {
    const at = x(m.at);
    const long = m.words.length * 6 + 12;
    const back = at + long > width;
    const [a, b] = back ? [at - long, at] : [at, at + long];
    const row = ends.findIndex((e) => e <= a);
    if (row >= 0) ends[row] = b;
    return { ...m, x: at, back, row };
  });
}

/** Flags are events above the lanes, each with a line through them. */
function Flags(props: { list: Placed[]; top: number; bottom: number }) {
  return (
    <g data-testid="flags">
      {props.list.map(({ x, back, row, at, words }) => {
        const y = 3 + 15 * row;
        const side = back ? -1 : 1;
        return (
          <g data-at={Math.round(at)}>
            <title>{`${words} at ${f.time(at)}`}</title>
            <path d={`M${x} ${row < 0 ? props.top : y}V${props.bottom}`} stroke="var(--ink-2)" stroke-dasharray="1 3" />
            {row >= 0 && (
              <>
                <path d={`M${x} ${y}h${6 * side}l${-2 * side} 4l${2 * side} 4h${-6 * side}Z`} fill="var(--ink)" />
                <text class="over" x={x + 9 * side} y={y + 9} text-anchor={back ? "end" : "start"}>
                  {words}
                </text>
              </>
            )}
          </g>
        );
      })}
    </g>
  );
}
