import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Grid, type Info, type Pauses, type PortView, type QPView, view } from "./api";
import { Chart } from "./chart";
import { heat, heatStops, ink, lines } from "./colour";
import * as f from "./format";
import { arrange, type Box, type Cable, ends } from "./layout";
import { standing } from "./places";
import { address, here, set, useData, usePlace } from "./state";

const metrics: Record<string, string> = {
  util: "utilisation",
  queue: "queue depth",
  marks: "ECN marks",
  pause: "PFC pause",
};

/** Values are a grid's: a byte per port and column of time, port by port. */
interface Values {
  cols: number;
  bytes: Uint8Array;
}

const decode = (g: Grid): Values => ({
  cols: g.cols,
  bytes: Uint8Array.from(atob(g.data), (c) => c.charCodeAt(0)),
});

/** pausedAt lists the ports that are paused in a column, with the port whose congestion it is. */
export function pausedAt(pauses: Pauses | undefined, t: number): Map<number, number> {
  const on = new Map<number, number>();
  for (const [port, cause, first, last] of pauses?.spans ?? [])
    if (first <= t && t <= last && !on.has(port)) on.set(port, cause);
  return on;
}

/** tree orders paused ports by the port that is to blame, roots first. */
export function tree(on: Map<number, number>): { port: number; depth: number; root: boolean }[] {
  const children = new Map<number, number[]>();
  for (const [port, cause] of on) children.set(cause, [...(children.get(cause) ?? []), port]);
  const out: { port: number; depth: number; root: boolean }[] = [];
  const walk = (cause: number, depth: number, seen: Set<number>) => {
    for (const port of children.get(cause) ?? []) {
      if (seen.has(port)) continue;
      out.push({ port, depth, root: false });
      walk(port, depth + 1, new Set(seen).add(port));
    }
  };
  for (const cause of children.keys()) {
    if (on.has(cause)) continue;
    out.push({ port: cause, depth: 0, root: true });
    walk(cause, 1, new Set([cause]));
  }
  return out;
}

export function Fabric({ info }: { info: Info }) {
  const place = usePlace();
  const metric = place.args.get("metric") ?? "util";
  const cols = info.cols;
  const t = Math.min(cols - 1, Number(place.args.get("t") ?? 0) || 0);
  const port = place.args.has("port") ? Number(place.args.get("port")) : undefined;
  const qp = place.args.has("qp") ? Number(place.args.get("qp")) : undefined;
  const open = useMemo(
    () => new Set((place.args.get("open") ?? "").split("|").filter(Boolean)),
    [place.args.get("open")],
  );
  const [playing, play] = useState(false);
  const [speed, faster] = useState(12);
  const grid = useData(() => view<Grid>(info.name, `grid?metric=${metric}`), [info.name, metric]);
  const data = useMemo(() => (grid.data ? decode(grid.data) : undefined), [grid.data]);
  const pauses = useData(() => view<Pauses>(info.name, "pauses"), [info.name]);
  const path = useData(qp === undefined ? null : () => view<QPView>(info.name, `qp?id=${qp}`), [
    info.name,
    qp,
  ]);
  const step = info.summary.step_time_ps;
  const now = (t / cols) * step;
  const on = useMemo(() => pausedAt(pauses.data, t), [pauses.data, t]);

  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => {
      const at = Number(here().args.get("t") ?? 0);
      if (at >= cols - 1) play(false);
      else set({ t: at + 1 });
    }, 1000 / speed);
    return () => clearInterval(timer);
  }, [playing, speed]);

  return (
    <section class="fabric" aria-label="Fabric">
      <div class="bar">
        <label>
          colour{" "}
          <select value={metric} onChange={(e) => set({ metric: e.currentTarget.value })}>
            {Object.entries(metrics).map(([k, v]) => (
              <option value={k}>{v}</option>
            ))}
          </select>
        </label>
        <Legend metric={metric} grid={grid.data} />
        <button onClick={() => set({ t: Math.max(0, t - 1) })} aria-label="one step back">
          ◀︎
        </button>
        <button onClick={() => play(!playing)} aria-pressed={playing}>
          {playing ? "pause" : "play"}
        </button>
        <button onClick={() => set({ t: Math.min(cols - 1, t + 1) })} aria-label="one step on">
          ▶︎
        </button>
        <label>
          speed{" "}
          <select value={speed} onChange={(e) => faster(Number(e.currentTarget.value))}>
            {[4, 12, 30, 60].map((s) => (
              <option value={s}>{s} steps/s</option>
            ))}
          </select>
        </label>
        <input
          class="scrub"
          type="range"
          min={0}
          max={cols - 1}
          value={t}
          aria-label="time"
          aria-valuetext={f.time(now)}
          onInput={(e) => set({ t: Number(e.currentTarget.value) })}
        />
        <output>
          {f.time(now)} of {f.time(step)}
        </output>
      </div>
      {grid.error && (
        <p class="error" role="alert">
          {grid.error}
        </p>
      )}
      <div class="split">
        <Canvas info={info} data={data} t={t} open={open} port={port} path={path.data} on={on} />
        <aside>
          <label>
            port{" "}
            <select value={port ?? ""} onChange={(e) => set({ port: e.currentTarget.value, qp: undefined })}>
              <option value="">choose a link, or click one</option>
              {info.ports
                .filter((p) => p.wire_bytes > 0)
                .sort((a, b) => b.queue_peak_bytes - a.queue_peak_bytes)
                .slice(0, 400)
                .map((p) => (
                  <option value={p.port}>{p.name}</option>
                ))}
            </select>
          </label>
          {on.size > 0 && (
            <details open>
              <summary>{on.size} paused ports at this moment: who paused whom</summary>
              <ol class="tree" data-testid="pause-tree">
                {tree(on)
                  .slice(0, 60)
                  .map((p) => (
                    <li style={{ marginLeft: `${p.depth}em` }}>
                      {p.root ? "root: " : "pauses "}
                      {p.port < 0 ? (
                        "a server that takes its data too slowly"
                      ) : (
                        <a href={address(place.path, { ...Object.fromEntries(place.args), port: p.port })}>
                          {info.ports[p.port].name}
                        </a>
                      )}
                    </li>
                  ))}
              </ol>
            </details>
          )}
          {port !== undefined && <PortPanel info={info} port={port} cursor={now} qp={qp} />}
          {qp !== undefined && path.data && <QPPanel info={info} data={path.data} cursor={now} />}
          {port === undefined && on.size === 0 && (
            <p class="hint">
              Select a link to see its queue with the thresholds drawn in, and the flows in it. A dashed box
              is a group: click it to open it.
            </p>
          )}
        </aside>
      </div>
    </section>
  );
}

function Legend({ metric, grid }: { metric: string; grid?: Grid }) {
  const top = !grid
    ? ""
    : metric === "queue"
      ? f.bytes(grid.scale)
      : metric === "marks"
        ? f.count(Math.round(grid.scale))
        : "100 %";
  return (
    <span class="legend">
      0 <span class="ramp" style={{ background: `linear-gradient(to right, ${heatStops.join(",")})` }} />{" "}
      {top}
    </span>
  );
}

function Canvas(props: {
  info: Info;
  data?: Values;
  t: number;
  open: Set<string>;
  port?: number;
  path?: QPView;
  on: Map<number, number>;
}) {
  const box = useRef<HTMLCanvasElement>(null);
  const [size, resize] = useState({ w: 800, h: 460 });
  const layout = useMemo(
    () => arrange(props.info, size.w, size.h, props.open),
    [props.info, size, props.open],
  );
  useEffect(() => {
    const el = box.current?.parentElement;
    if (!el) return;
    const watch = new ResizeObserver(() =>
      resize({ w: Math.max(400, el.clientWidth), h: Math.max(320, Math.min(560, window.innerHeight - 260)) }),
    );
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  const values = useMemo(() => {
    const on = new Set(props.path?.path.map((p) => p.port));
    return { on };
  }, [props.path]);
  useEffect(() => {
    const c = box.current;
    if (c) draw(c, size, layout, props, values.on);
  });
  const under = (e: MouseEvent): { hit?: Box; best?: Cable } => {
    const r = box.current!.getBoundingClientRect();
    const [x, y] = [e.clientX - r.left, e.clientY - r.top];
    const hit = layout.boxes.find((b) => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h);
    if (hit) return { hit };
    let best: Cable | undefined;
    let least = 8;
    layout.cables.forEach((cable, i) => {
      const [ax, ay, bx, by] = ends(cable, (i % 5) - 2);
      const k = Math.max(
        0,
        Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1)),
      );
      const d = Math.hypot(x - ax - k * (bx - ax), y - ay - k * (by - ay));
      if (d < least) [best, least] = [cable, d];
    });
    return { best };
  };
  const pick = (e: MouseEvent) => {
    const { hit, best } = under(e);
    if (hit?.group) set({ open: [...props.open, hit.opens].join("|") }, false);
    else if (best) set({ port: hottest(best, props.data, props.t), qp: undefined }, false);
  };
  const name = (e: MouseEvent) => {
    const { hit, best } = under(e);
    const port = best && props.info.ports[hottest(best, props.data, props.t)];
    box.current!.title = hit
      ? hit.group
        ? `${hit.label}: ${hit.nodes.length} ${hit.noun}; click to open`
        : [hit.label, hit.role, standing(props.info.topology.nodes[hit.nodes[0]])].filter(Boolean).join(", ")
      : port
        ? port.name + (best.links.length > 1 ? `, the busiest of ${best.links.length} cables` : "")
        : "";
  };
  return (
    <div class="canvas">
      <canvas
        ref={box}
        onClick={pick}
        onMouseMove={name}
        role="img"
        aria-label={
          `the fabric: ${props.info.topology.nodes.length} nodes, ${props.info.topology.links.length} links; ` +
          "links can be chosen in the list beside it"
        }
      />
      {props.open.size > 0 && <button onClick={() => set({ open: undefined })}>close all groups</button>}
    </div>
  );
}

const at = (data: Values | undefined, port: number, t: number) => data?.bytes[port * data.cols + t] ?? 0;

/** hottest is the direction with the larger value among a cable's. */
function hottest(c: Cable, data: Values | undefined, t: number): number {
  let best = c.links[0].from_a;
  let top = -1;
  for (const l of c.links)
    for (const p of [l.from_a, l.from_b]) if (at(data, p, t) > top) [best, top] = [p, at(data, p, t)];
  return best;
}

function draw(
  c: HTMLCanvasElement,
  size: { w: number; h: number },
  layout: ReturnType<typeof arrange>,
  props: { info: Info; data?: Values; t: number; port?: number; on: Map<number, number> },
  path: Set<number>,
) {
  const scale = devicePixelRatio || 1;
  if (c.width !== size.w * scale || c.height !== size.h * scale) {
    c.width = size.w * scale;
    c.height = size.h * scale;
    c.style.width = `${size.w}px`;
    c.style.height = `${size.h}px`;
  }
  const g = c.getContext("2d")!;
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, size.w, size.h);
  const calm = ink("--line");
  const strokes = layout.cables.map((cable, i) => {
    const s = { cable, i, value: 0, chosen: false, onPath: false, paused: false };
    for (const l of cable.links)
      for (const p of [l.from_a, l.from_b]) {
        s.value = Math.max(s.value, at(props.data, p, props.t));
        s.chosen ||= p === props.port;
        s.onPath ||= path.has(p);
        s.paused ||= props.on.has(p);
      }
    return s;
  });
  strokes.sort((a, b) => a.value - b.value); // the busy ones on top
  strokes.forEach(({ cable, i, value, chosen, onPath, paused }) => {
    const [ax, ay, bx, by] = ends(cable, (i % 5) - 2);
    g.strokeStyle = value === 0 ? calm : heat(value / 255);
    g.lineWidth = value === 0 ? 0.7 : 1 + (value / 255) * 3;
    if (path.size > 0 && !onPath) g.globalAlpha = 0.15;
    g.beginPath();
    g.moveTo(ax, ay);
    g.lineTo(bx, by);
    g.stroke();
    if (paused || chosen || onPath) {
      g.strokeStyle = paused ? ink("--bad") : ink("--accent");
      g.lineWidth = paused ? 3 : 1.5;
      g.setLineDash(paused ? [4, 3] : onPath ? [] : [8, 3]);
      g.stroke();
      g.setLineDash([]);
    }
    g.globalAlpha = 1;
  });
  g.font = "11px system-ui, sans-serif";
  g.textAlign = "center";
  g.textBaseline = "middle";
  for (const b of layout.boxes) {
    g.fillStyle = ink("--panel");
    g.strokeStyle = ink("--text");
    g.lineWidth = 1;
    g.setLineDash(b.group ? [4, 3] : []);
    g.beginPath();
    if (b.w > 8) g.roundRect(b.x, b.y, b.w, b.h, 4);
    else g.rect(b.x, b.y, b.w, b.h);
    g.fill();
    g.stroke();
    g.setLineDash([]);
    g.fillStyle = ink("--text");
    if (b.role === "host" && !b.group && b.w > 40 && b.h > 40) server(g, props.info, b);
    else if (b.w < 30 && b.w > 11 && b.h > 40) {
      g.save();
      g.translate(b.x + b.w / 2, b.y + b.h / 2);
      g.rotate(-Math.PI / 2);
      g.fillText(b.short, 0, 0, b.h - 4);
      g.restore();
    } else if (b.w > 30)
      g.fillText(
        text(g, b),
        b.x + b.w / 2,
        b.y + b.h / 2,
        b.w - 4,
      );
  }
  captions(g, layout.boxes);
}

/** captions says beside boxes that an open place has been spread into which place that is. */
function captions(g: CanvasRenderingContext2D, boxes: Box[]) {
  g.fillStyle = ink("--text");
  g.strokeStyle = ink("--back");
  g.lineWidth = 3;
  for (let i = 0, k = 0; i < boxes.length; i = k) {
    const { within, tier, y, h, x } = boxes[i];
    for (k = i; k < boxes.length && boxes[k].within === within && boxes[k].tier === tier; k++);
    const width = boxes[k - 1].x + boxes[k - 1].w - x;
    if (!within || g.measureText(within).width >= width) continue;
    g.strokeText(within, x + width / 2, y + h + 7);
    g.fillText(within, x + width / 2, y + h + 7);
  }
}

/** text is a box's, as much of it as there is room for. */
function text(g: CanvasRenderingContext2D, b: Box): string {
  if (!b.group) return b.label;
  const all = [`${b.label}: ${b.nodes.length} ${b.noun}`, `${b.short}: ${b.nodes.length} ${b.noun}`, b.short];
  return all.find((t) => g.measureText(t).width <= b.w - 4) ?? b.short;
}

/** server draws NICs, NVSwitch and GPUs of a server. */
function server(
  g: CanvasRenderingContext2D,
  info: Info,
  b: { x: number; y: number; w: number; h: number; label: string },
) {
  const gpus = info.topology.gpus_per_host;
  const nics = info.topology.nics.filter((n) => info.topology.nodes[n.host].name === b.label).length;
  const row = (n: number, y: number, h: number, colour: string) => {
    g.fillStyle = colour;
    for (let i = 0; i < n; i++)
      g.fillRect(b.x + 4 + (i * (b.w - 8)) / n, y, Math.max(1, (b.w - 8) / n - 2), h);
  };
  row(nics, b.y + 4, 7, "#009e73");
  if (gpus > 1) row(1, b.y + b.h - 32, 4, "#e69f00");
  row(gpus, b.y + b.h - 25, 9, "#0072b2");
  g.fillStyle = ink("--text");
  g.fillText(b.label, b.x + b.w / 2, b.y + b.h - 8, b.w - 4);
}

function PortPanel({ info, port, cursor, qp }: { info: Info; port: number; cursor: number; qp?: number }) {
  const { data, error } = useData(() => view<PortView>(info.name, `port?id=${port}`), [info.name, port]);
  const shown = useMemo(() => {
    if (!data) return undefined;
    const x: number[] = [];
    const value: number[][] = [[], [], [], []];
    for (const s of data.series) {
      x.push(s[0] + s[1] / 2);
      for (let i = 0; i < 4; i++) value[i].push(s[i + 2]);
    }
    return { x, value };
  }, [data]);
  const curves = useMemo(() => {
    if (!shown) return undefined;
    const node = info.topology.nodes.find((n) => n.name === data!.port.node);
    const q = node && node.config >= 0 ? info.topology.configs?.[node.config] : undefined;
    const flat = (v: number) => shown.x.map(() => v);
    const queue = [{ label: "queue", values: shown.value[1], colour: lines[0], fill: "rgba(0,114,178,.15)" }];
    const limits = !q
      ? []
      : ([
          ["WRED min", q.wred_min_bytes, lines[4]],
          ["WRED max", q.wred_max_bytes, lines[1]],
          ["xOFF", q.xoff_bytes, lines[3]],
          ["xON", q.xon_bytes, lines[5]],
        ] as [string, number, string][]);
    const peak = Math.max(...shown.value[1], 1);
    return {
      queue: [
        ...queue,
        ...limits
          .filter((l) => l[1] > 0 && l[1] < 20 * peak)
          .map((l) => ({ label: l[0], values: flat(l[1]), colour: l[2], dash: [6, 4] })),
      ],
      far: limits.filter((l) => l[1] >= 20 * peak).map((l) => `${l[0]} ${f.bytes(l[1])}`),
      use: [
        { label: "utilisation", values: shown.value[0], colour: lines[2] },
        { label: "paused", values: shown.value[3], colour: lines[3] },
      ],
      marks: [{ label: "marks", values: shown.value[2], colour: lines[1] }],
    };
  }, [shown]);
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data || !curves || !shown) return <p class="hint">loading…</p>;
  if (shown.x.length === 0) return <p class="hint">Nothing went through {data.port.name}.</p>;
  return (
    <div class="panel" data-testid="port-panel">
      <h3>{data.port.name}</h3>
      <p>
        {f.rate(data.port.rate_bps)}, {f.bytes(data.port.wire_bytes)} on the wire,{" "}
        {f.count(data.port.ecn_marks)} packets marked, longest queue {f.bytes(data.port.queue_peak_bytes)},
        paused {f.time(data.port.paused_ps)}
      </p>
      <Chart title="queue" unit="bytes" x={shown.x} curves={curves.queue} format={f.bytes} cursor={cursor} />
      {curves.far.length > 0 && <p class="hint">beyond the picture: {curves.far.join(", ")}</p>}
      <Chart
        title="share of line rate, and of time paused"
        unit="share"
        x={shown.x}
        curves={curves.use}
        format={f.percent}
        cursor={cursor}
        max={1}
        height={140}
      />
      {data.port.ecn_marks > 0 && (
        <Chart
          title="packets marked per sample"
          unit="packets"
          x={shown.x}
          curves={curves.marks}
          format={(v) => f.count(Math.round(v))}
          cursor={cursor}
          height={130}
        />
      )}
      <h4>{data.flow_count} queue pairs went through, by the time their packets waited here</h4>
      <ul class="flows">
        {data.flows.slice(0, 30).map((x) => (
          <li>
            <button aria-pressed={x.qp === qp} onClick={() => set({ qp: x.qp === qp ? undefined : x.qp })}>
              {x.from} → {x.to}
            </button>{" "}
            waited {f.time(x.wait_ps / Math.max(1, x.packets))} per packet
          </li>
        ))}
      </ul>
    </div>
  );
}

/** inUnit writes a signal's values. */
function inUnit(unit: string): (v: number) => string {
  switch (unit) {
    case "bit/s":
      return f.rate;
    case "B":
      return f.bytes;
    case "s":
      return (v) => f.time(1e12 * v);
  }
  return (v) => v.toFixed(2);
}

function QPPanel({ info, data, cursor }: { info: Info; data: QPView; cursor: number }) {
  const control = info.summary.cc?.find((c) => c.service === data.qp.service);
  const charts = useMemo(
    () =>
      data.signals.flatMap((s, i) => {
        const signal = control?.signals?.find((x) => x.name === s.signal);
        if (!signal || s.at_ps.length < 2) return [];
        const colour = lines[i % lines.length];
        return [{ ...s, signal, curves: [{ label: s.signal, values: s.values, colour }] }];
      }),
    [data],
  );
  return (
    <div class="panel" data-testid="qp-panel">
      <h3>
        {data.qp.from} → {data.qp.to}
      </h3>
      <p>
        {f.count(data.qp.ce_marked_packets)} of its packets were marked, congestion control cut it{" "}
        {f.count(data.qp.rate_cuts)} times, {f.count(data.qp.retransmitted_packets)} packets were sent again.
        Path: {data.path.map((p) => info.ports[p.port].name).join(", ") || "not sampled"}
      </p>
      {charts.map((c) => (
        <Chart
          key={c.signal.name}
          title={`${control?.title}: ${c.signal.doc}`}
          unit={c.signal.unit || c.signal.name}
          x={c.at_ps}
          curves={c.curves}
          format={inUnit(c.signal.unit)}
          cursor={cursor}
          max={c.signal.name === "rate" ? data.qp.line_bps : undefined}
          height={140}
        />
      ))}
    </div>
  );
}
