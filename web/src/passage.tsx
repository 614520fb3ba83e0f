import type { JSX } from "preact";
import { type Info, type PortView, type QPView, view } from "./api";
import { Course } from "./course";
import { byFlow } from "./flow";
import * as f from "./format";
import { useWidth } from "./stepbar";
import { set, useData } from "./state";

type Path = QPView["path"];

/** ordered is the ports of a path, up the tiers and then down. */
export function ordered(info: Info, path: Path): Path {
  const tier = new Map(info.topology.nodes.map((n) => [n.name, n.role === "host" ? -1 : n.tier]));
  return [...path].sort((a, b) => rank(info, tier, a.port) - rank(info, tier, b.port) || b.wait_ps - a.wait_ps);
}

function rank(info: Info, tier: Map<string, number>, port: number): number {
  const [from, to] = [tier.get(info.ports[port].node) ?? 0, tier.get(info.ports[port].peer) ?? 0];
  return to > from ? from : 1000 - from;
}

/** stations are the switches of a path, those of the same tier as one; hot is the station of the port with most waits. */
function stations(info: Info, path: Path, hot: number) {
  const tier = new Map(info.topology.nodes.map((n) => [n.name, n.role === "host" ? -1 : n.tier]));
  const out: { rank: number; nodes: string[]; hot: boolean }[] = [];
  for (const p of ordered(info, path)) {
    const r = rank(info, tier, p.port);
    const node = info.ports[p.port].node;
    let last = out[out.length - 1];
    if (!last || last.rank !== r) out.push((last = { rank: r, nodes: [], hot: false }));
    if (!last.nodes.includes(node)) last.nodes.push(node);
    if (p.port === hot) {
      last.hot = true;
      last.nodes = [node, ...last.nodes.filter((n) => n !== node)];
    }
  }
  // A switch in whose ports no packet waited is known from the port before it.
  for (const p of path) {
    const node = info.ports[p.port].peer;
    const t = tier.get(node) ?? -1;
    if (t < 0 || out.some((s) => s.nodes.includes(node))) continue;
    const last = out.find((s) => s.rank === 1000 - t);
    if (last) last.nodes.push(node);
    else out.push({ rank: 1000 - t, nodes: [node], hot: false });
  }
  return out.sort((a, b) => a.rank - b.rank);
}

/** passed are the switches between two neighbouring stations, hop by hop, on all shortest paths: those in whose ports no
 * wait is recorded. */
function passed(info: Info, from: number[], a: number, b: number): number[][] {
  const { nodes, links } = info.topology;
  const near = new Map<number, number[]>();
  const join = (x: number, y: number) => near.set(x, [...(near.get(x) ?? []), y]);
  links.forEach((l, i) => {
    const ends = [l.a, l.b];
    if (ends.includes(a) && nodes[a].role === "host" && !from.includes(i)) return;
    if (ends.some((n) => nodes[n].role === "host" && n !== a)) return;
    join(l.a, l.b);
    join(l.b, l.a);
  });
  const far = new Map([[a, 0]]);
  for (const queue = [a]; queue.length > 0; ) {
    const at = queue.shift() as number;
    for (const n of near.get(at) ?? []) if (!far.has(n)) far.set(n, far.get(at)! + 1) && queue.push(n);
  }
  const out: number[][] = [];
  for (let layer = [b], d = far.get(b) ?? 0; d > 1; d--) {
    layer = [...new Set(layer.flatMap((n) => near.get(n) ?? []))].filter((n) => far.get(n) === d - 1).sort((x, y) => x - y);
    out.unshift(layer);
  }
  return out;
}

/** whole are the stations of a path with those between them in whose ports no wait is recorded. */
function whole(info: Info, pair: QPView, hot: number) {
  const { nodes, nics } = info.topology;
  const index = new Map(nodes.map((n, i) => [n.name, i]));
  const links = nics.find((n) => n.name === pair.qp.from)?.links ?? [];
  let at = index.get(pair.qp.from.split("/")[0]) ?? 0;
  return stations(info, pair.path, hot).flatMap((s) => {
    const to = index.get(s.nodes[0]) ?? 0;
    const before = nodes.length > most ? [] : passed(info, links, at, to);
    at = to;
    return [...before.map((l) => ({ nodes: l.map((n) => nodes[n].name), hot: false })), s];
  });
}

const most = 2000; // nodes of a fabric through which paths are looked for

interface Props {
  info: Info;
  qp: number;
  from: number; // window in ps
  to: number;
  port?: number; // of the path; else where its packets waited longest
  at?: number; // where nothing is chosen, the longest queue
  span?: [number, number]; // of the message, shaded
  otherwise?: JSX.Element; // where the run has no samples of it
}

/** Passage is where a queue pair's packets go and what they meet there: its stations with the queue of the port where
 * they waited longest and the rate of its sender at a time, and below both over the window. A click sets the time. */
export const Passage = (props: Props) => (byFlow(props.info) ? <Course {...props} /> : <Queued {...props} />);

function Queued(props: Props) {
  const { info, qp } = props;
  const pair = useData(() => view<QPView>(info.name, `qp?id=${qp}`), [info.name, qp]);
  const path = pair.data?.path ?? [];
  const hot = path.find((p) => p.port === props.port) ?? path.reduce<Path[number] | undefined>((a, b) => (!a || b.wait_ps > a.wait_ps ? b : a), undefined);
  const port = useData(hot ? () => view<PortView>(info.name, `port?id=${hot.port}`) : null, [info.name, hot?.port]);
  if (pair.error || port.error || (pair.data && !hot)) return props.otherwise ?? null; // a report on disk has neither
  return <Drawn {...props} pair={pair.data} port={port.data} />;
}

function Drawn(props: Omit<Props, "port"> & { pair?: QPView; port?: PortView }) {
  const { info, pair, port, from, to } = props;
  const { box, width } = useWidth(900);
  if (!pair || !port) return <div ref={box} class="passage" style={{ height: "330px" }} />;
  const node = info.topology.nodes.find((n) => n.name === port.port.node);
  const limits = node && node.config >= 0 ? info.topology.configs?.[node.config] : undefined;
  const samples = port.series.filter((s) => s[0] < to && s[0] + s[1] > from);
  const longest = samples.reduce((a, b) => (b[3] > (a?.[3] ?? 0) ? b : a), samples[0]);
  const chosen = props.at !== undefined && props.at >= from && props.at <= to ? props.at : undefined;
  const at = chosen ?? Math.max(from, Math.min(to, longest ? longest[0] + longest[1] / 2 : from));
  const now = samples.find((s) => s[0] <= at && at < s[0] + s[1]) ?? (at >= to ? samples[samples.length - 1] : undefined);
  const held = now?.[3] ?? 0;
  const peak = longest?.[3] ?? 0;
  const low = limits?.wred_min_bytes ?? 0;
  const high = limits?.wred_max_bytes ?? 0;
  // One scale for a port in all views: to its peak of the run, or a threshold near it.
  const run = Math.max(peak, port.port.queue_peak_bytes);
  const tank = Math.max(run, high > 0 && high < 4 * run ? 1.1 * high : 0, low > 0 && low < 4 * run ? 1.1 * low : 0, 1);
  const rates = pair.sent.at_ps.length > 0 ? pair.sent : undefined;
  const line = Math.max(pair.qp.line_bps, 1);
  const before = rates ? rates.at_ps.findLastIndex((t) => t <= at) : -1;
  const rate = rates ? (before < 0 ? 0 : rates.values[before]) : undefined;

  // The stations.
  const all = whole(info, pair, port.port.port);
  // Packets of a NIC with ports in several planes take the other planes as well.
  const host = info.topology.nodes.findIndex((n) => n.name === pair.qp.from.split("/")[0]);
  const leaves = (info.topology.nics.find((n) => n.name === pair.qp.from)?.links ?? []).map((l) => info.topology.links[l]).map((l) => info.topology.nodes[l.a === host ? l.b : l.a].name);
  const others = [...new Set(leaves)].filter((n) => !all.some((s) => s.nodes.includes(n)));
  const boxes = [
    { name: pair.qp.from.split("/")[0], note: pair.qp.from.split("/")[1] ?? "", hot: false },
    ...all.map((s, i) => ({
      name: s.nodes[0],
      note: i === 0 && !s.hot && others.length > 0 ? `or ${others.length > 1 ? f.plural(others.length, "other") : others[0]}` : s.hot ? port.port.name.split(" → ")[0].split(":")[1] ?? "" : s.nodes.length > 1 ? `and ${s.nodes.length - 1} more` : "",
      hot: s.hot,
    })),
    { name: pair.qp.to.split("/")[0], note: pair.qp.to.split("/")[1] ?? "", hot: false },
  ];
  const small = width < 620;
  const pitch = width / boxes.length;
  const wide = Math.min(small ? pitch - 8 : 116, pitch - 8);
  const centre = (i: number) => pitch * (i + 0.5);
  const fits = (s: string) => (s.length * 6.6 > wide - 4 ? { fontSize: `${Math.max(8, (wide - 4) / (0.6 * s.length))}px` } : undefined);
  const [deep, top] = [104, 14]; // of the queue that is drawn
  const y = top + deep; // of the boxes
  const level = (v: number) => y - (Math.min(v, tank) / tank) * deep;
  const h = boxes.findIndex((b) => b.hot);
  const leftward = h > boxes.length / 2; // where labels of the queue have room
  /** beside is at which side of the queue a threshold has room: where the queue's own words are not. */
  const beside = (v: number) => leftward || Math.abs(Math.min(y - 14, level(v)) - (top + deep / 2 + 4)) > 22;

  // The lanes below.
  const some = (k: number) => samples.some((s) => s[k] > 0);
  const name = port.port.name.split(" → ")[0];
  const lanes: { key: string; name: string; note: string; high: number }[] = [
    { key: "queue", name: "Queue", note: small ? f.bytes(peak) : `${name}, here at most ${f.bytes(peak)}`, high: 74 },
    ...(some(4) ? [{ key: "marks", name: "ECN marks", note: small ? "" : `at ${name}`, high: 34 }] : []),
    ...(some(5) ? [{ key: "paused", name: "PFC paused", note: small ? "" : `share of a sample, at ${name}`, high: 34 }] : []),
    ...(rates ? [{ key: "rate", name: "Sending rate", note: small ? f.rate(line) : `queue pair ${pair.qp.qp}`, high: 62 }] : []),
  ];
  const left = small ? 98 : Math.min(0.3 * width, Math.max(120, 16 + 6.2 * Math.max(...lanes.map((l) => l.note.length))));
  const x = (t: number) => left + ((Math.max(from, Math.min(to, t)) - from) / Math.max(1, to - from)) * (width - left - 8);
  const start = y + 76;
  let below = start;
  const placed = lanes.map((l) => {
    const p = { ...l, y: below };
    below += l.high + 14;
    return p;
  });
  const steps = (k: number, of: number, p: { y: number; high: number }) =>
    samples
      .map((s, i) => {
        const v = p.y + p.high - (s[k] / of) * p.high;
        return `${i === 0 ? "M" : "L"}${x(s[0])} ${v}H${x(s[0] + s[1])}`;
      })
      .join("");
  const pick = (e: MouseEvent) => {
    const b = (e.currentTarget as Element).getBoundingClientRect();
    const t = from + ((e.clientX - b.left - left) / (width - left - 8)) * (to - from);
    if (t >= from && e.clientY - b.top > start - 10) set({ at: Math.round(Math.min(to, t)) });
  };
  const close = high > low && low > 0 && high <= tank && Math.abs(Math.min(y - 14, level(low) + 4) - Math.min(y - 14, level(high) + 4)) < 13; // one label
  // A threshold is named at the emptier end.
  const filled = (a: number, b: number) => samples.filter((s) => s[0] < b && s[0] + s[1] > a).reduce((n, s) => n + s[3] * s[1], 0);
  const clear = filled(to - (to - from) / 5, to) <= filled(from, from + (to - from) / 5);
  const [clearFrom, clearTo] = clear ? [to - 130 * ((to - from) / (width - left)), to] : [from, from + 130 * ((to - from) / (width - left))];
  const most = Math.max(low, ...samples.filter((s) => s[0] < clearTo && s[0] + s[1] > clearFrom).map((s) => s[3]));
  const topLane = Math.max(peak, low < 4 * peak ? low : 0, 1);
  return (
    <div ref={box} class="passage" data-testid="passage" data-at={at} data-bytes={held} data-value={rate ?? ""}>
      <svg width={width} height={below + 24} onClick={pick} role="img"
        aria-label={`${boxes.map((b) => b.name).join(", then ")}. At ${f.time(at)}: ${f.bytes(held)} queued at ${name}${rate === undefined ? "" : `, sending at ${f.rate(rate)}`}.`}>
        <path class="cable" d={`M${centre(0)} ${y + 20}H${centre(boxes.length - 1)}`} />
        {h >= 0 && (
          <g>
            <rect class="tank" x={centre(h) - wide / 2} y={top} width={wide} height={deep} />
            <text class="small" x={centre(h)} y={top - 3} text-anchor="middle">
              {tank > run ? `scale to ${f.bytes(tank)}` : `peak ${f.bytes(run)}`}
            </text>
            <rect class="held" x={centre(h) - wide / 2} width={wide} style={{ y: level(held), height: y - level(held), fill: held === 0 ? "var(--q-empty)" : "var(--q-mid)" }} />
            {[["WRED min", low], ["WRED max", high]].map(([words, v]) =>
              Number(v) > 0 && Number(v) <= tank && !(small && h < 2 && !beside(Number(v))) ? (
                <g>
                  <path class="limit" d={`M${centre(h) - wide / 2 - 5} ${level(Number(v))}h${wide + 10}`} />
                  {!(close && v === high) && (
                    <text class="small" x={centre(h) + (beside(Number(v)) ? 1 : -1) * (wide / 2 + 9)} y={Math.min(y - 14, level(Number(v)) + 4)} text-anchor={beside(Number(v)) ? "start" : "end"}>
                      {small ? f.bytes(Number(v)) : close ? `WRED ${f.bytes(low)} to ${f.bytes(high)}` : `${words} ${f.bytes(Number(v))}`}
                    </text>
                  )}
                </g>
              ) : null,
            )}
            <text class="b" x={centre(h) + (leftward ? -1 : 1) * (wide / 2 + 9)} y={top + deep / 2} text-anchor={leftward ? "end" : "start"}>
              {f.bytes(held)}
            </text>
            <text class="small" x={centre(h) + (leftward ? -1 : 1) * (wide / 2 + 9)} y={top + deep / 2 + 15} text-anchor={leftward ? "end" : "start"}>
              {small ? "queued" : `queued at ${name}`}
            </text>
          </g>
        )}
        {rate !== undefined && h !== 0 && (
          <g>
            <text class="small" x={centre(0) - wide / 2} y={y - 32}>
              sends at
            </text>
            <text class="b" x={centre(0) - wide / 2} y={y - 15} style={small ? { fontSize: "11px" } : undefined}>
              {f.rate(rate)}
            </text>
            <rect class="full" x={centre(0) - wide / 2} y={y - 8} width={wide} height={5} />
            <rect class="sent" x={centre(0) - wide / 2} y={y - 8} height={5} style={{ width: (wide * Math.min(1, rate / line)) }} />
          </g>
        )}
        {boxes.map((b, i) => (
          <g>
            <rect class={b.hot ? "station hot" : "station"} x={centre(i) - wide / 2} y={y} width={wide} height={40} rx={6} />
            <text class="b" x={centre(i)} y={y + (b.note ? 17 : 24)} text-anchor="middle" style={fits(b.name)}>
              {b.name}
            </text>
            <text class="small" x={centre(i)} y={y + 32} text-anchor="middle">
              {b.note}
            </text>
          </g>
        ))}
        {f.axis(from, to, small ? 3 : 8).map((t) => (
          <g>
            <path class="grid" d={`M${x(t.at)} ${start}V${below}`} />
            <text class="small" x={Math.min(x(t.at), width - 22)} y={below + 15} text-anchor="middle">
              {t.label}
            </text>
          </g>
        ))}
        {props.span && (
          <rect class="span" x={x(props.span[0])} y={start} width={Math.max(1, x(props.span[1]) - x(props.span[0]))} height={below - start} />
        )}
        {placed.map((p) => (
          <g data-lane={p.key}>
            <text class="b" x={0} y={p.y + 14}>
              {p.name}
            </text>
            <text class="small" x={0} y={p.y + 29}>
              {p.note}
            </text>
            {p.key === "queue" && (
              <>
                {samples.length > 0 && <path class="queue" d={`${steps(3, topLane, p)}V${p.y + p.high}H${x(samples[0][0])}Z`} />}
                {low > 0 && low <= topLane && <path class="limit" d={`M${left} ${p.y + p.high - (low / topLane) * p.high}H${width - 8}`} />}
                {low > 0 && low <= topLane && !(small && most > 0.8 * topLane) && (
                  <text class="small over" x={clear ? width - 10 : left + 4} y={p.y + Math.max(9, p.high - (most / topLane) * p.high - 4)} text-anchor={clear ? "end" : "start"}>
                    WRED min {f.bytes(low)}
                  </text>
                )}
              </>
            )}
            {p.key === "marks" &&
              samples
                .filter((s) => s[4] > 0)
                .map((s) => {
                  const most = Math.max(...samples.map((q) => q[4]));
                  const v = (s[4] / most) * p.high;
                  return <rect class="mark" x={x(s[0])} y={p.y + p.high - v} width={Math.max(1.5, x(s[0] + s[1]) - x(s[0]) - 1)} height={v} />;
                })}
            {p.key === "paused" && samples.length > 0 && <path class="pause" d={`${steps(5, 1, p)}V${p.y + p.high}H${x(samples[0][0])}Z`} />}
            {p.key === "rate" && rates && (
              <>
                <path class="limit" d={`M${left} ${p.y}H${width - 8}`} />
                <path class="rate" d={rateLine(rates, from, to, x, (v) => p.y + p.high - (Math.min(v, line) / line) * p.high)} />
                <text class="small over" x={width - 10} y={p.y + 12} text-anchor="end">
                  line rate {f.rate(line)}
                </text>
              </>
            )}
            <path class="axis" d={`M${left} ${p.y + p.high}H${width - 8}`} />
          </g>
        ))}
        <path class="cursor" d={`M${x(at)} ${start - 8}V${below}`} />
        <text class="b now" x={Math.max(left + 20, Math.min(width - 40, x(at)))} y={start - 12} text-anchor="middle">
          {f.timeWithin(at, from, to)}
        </text>
      </svg>
    </div>
  );
}

/** rateLine is a rate in steps, 0 before its first sample. */
export function rateLine(s: { at_ps: number[]; values: number[] }, from: number, to: number, x: (t: number) => number, y: (v: number) => number) {
  const first = s.at_ps.findLastIndex((t) => t <= from);
  let path = `M${x(from)} ${y(first < 0 ? 0 : s.values[first])}`;
  for (let i = first + 1; i < s.at_ps.length && s.at_ps[i] < to; i++) path += `H${x(s.at_ps[i])}V${y(s.values[i])}`;
  return `${path}H${x(Math.min(to, s.at_ps[s.at_ps.length - 1]))}`;
}
