import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Answer, type Info, type PortView, standalone, view } from "./api";
import { ink, type Limits, lineTokens, load, queueStep, queueTokens, rgb, table } from "./colour";
import type { Tier, Tiers as Figures } from "./contract";
import { byFlow, unsimulated } from "./flow";
import * as f from "./format";
import { PauseRoots } from "./pauses";
import { set, useData, usePlace } from "./state";
import { useWidth } from "./stepbar";

const rows = ["p50", "p90", "p99", "max"];
const shareHeight = 22;
const gap = 12;

/** Matrix draws tiers: quantiles over time from one image a tier, the share above WRED min as heights below. */
function Matrix({ data, metric, at, flows }: { data: Figures; metric: string; at?: number; flows: boolean }) {
  const rowHeight = flows ? 19 : 13; // the shares' room goes to the rows
  const tierHeight = rows.length * rowHeight + (flows ? 0 : shareHeight) + gap;
  const { box, width } = useWidth(900);
  const canvas = useRef<HTMLCanvasElement>(null);
  const card = useRef<HTMLDivElement>(null);
  const place = usePlace();
  const left = width < 500 ? 112 : 176;
  const w = Math.max(60, width - left);
  const flowsHigh = 52; // the messages under way, below the tiers
  const height = data.tiers.length * tierHeight + flowsHigh + 20;
  const x = (ps: number) => left + ((ps - data.from_ps) / Math.max(1, data.to_ps - data.from_ps)) * w;
  const theme = document.documentElement.dataset.theme;
  useLayoutEffect(() => {
    const c = canvas.current;
    if (!c) return;
    const scale = devicePixelRatio || 1;
    c.width = width * scale;
    c.height = height * scale;
    const g = c.getContext("2d")!;
    g.scale(scale, scale);
    g.imageSmoothingEnabled = false;
    const queue = queueTokens.map((t) => rgb(ink(t)));
    const ramp = table(load()).map((s) => s.match(/\d+/g)!.map(Number));
    const cols = data.tiers[0]?.above.length ?? 0;
    const top = Math.max(0.02, ...data.tiers.flatMap((t) => t.above)); // one scale for all tiers
    const cell = document.createElement("canvas");
    cell.width = cols;
    cell.height = rows.length;
    const image = new ImageData(cols, rows.length);
    data.tiers.forEach((t, n) => {
      const y = n * tierHeight;
      for (let r = 0; r < rows.length; r++)
        for (let k = 0; k < cols; k++) {
          const [a, b, d] =
            metric === "util" ? ramp[Math.round(255 * t.load[r][k])] : queue[queueStep(t.queue_bytes[r][k], t)];
          image.data.set([a, b, d, 255], 4 * (r * cols + k));
        }
      cell.getContext("2d")!.putImageData(image, 0, 0);
      g.drawImage(cell, left, y, w, rows.length * rowHeight);
      g.fillStyle = ink("--bg");
      for (let r = 1; r < rows.length; r++) g.fillRect(left, y + r * rowHeight - 0.5, w, 1);
      const base = y + rows.length * rowHeight + shareHeight;
      g.fillStyle = ink("--line");
      if (!flows) g.fillRect(left, base, w, 1);
      g.fillStyle = ink("--share");
      for (let k = 0; k < cols && !flows; k++) {
        const h = (t.above[k] / top) * (shareHeight - 6);
        if (h > 0) g.fillRect(left + (k * w) / cols, base - Math.max(1, h), w / cols + 0.3, Math.max(1, h));
      }
      g.font = "600 12px system-ui, sans-serif";
      g.fillStyle = ink("--ink");
      g.textAlign = "left";
      g.fillText(t.name.length * 7 > left - 34 ? t.name.replace("aggregation", "agg") : t.name, 0, y + 11);
      g.font = "11px system-ui, sans-serif";
      g.fillStyle = ink("--ink-3");
      g.fillText(f.plural(t.ports, "port"), 0, y + 27);
      g.textAlign = "right";
      rows.forEach((name, r) => g.fillText(name, left - 6, y + (r + 0.5) * rowHeight + 4));
      if (flows) return; // they have no queues
      const most = Math.max(...t.above);
      g.textAlign = "left";
      g.fillStyle = most > 0 ? ink("--bad") : ink("--ink-3");
      const k = t.above.findLastIndex((v) => v > 0.2 * most); // right of the bars that are tall
      const words = most > 0 ? `peak ${f.percent(most)} of ports` : "0 ports";
      g.fillText(
        words,
        most > 0 ? Math.min(left + w - 130, left + ((k + 1.5) * w) / cols + 4) : left + 4,
        base - 4,
      );
      g.fillStyle = ink("--ink-3");
      g.textAlign = "right";
      g.fillText(t.wred_min_bytes > 0 ? `≥ ${f.bytes(t.wred_min_bytes)}` : "no WRED", left - 6, base - 3);
    });
    // Finished messages explain an empty rest.
    const base = data.tiers.length * tierHeight + flowsHigh - gap;
    const deep = flowsHigh - gap - 6;
    const high = Math.max(1, ...data.flows);
    g.fillStyle = ink("--o-data-parallel");
    data.flows.forEach((v, k) => g.fillRect(left + (k * w) / data.flows.length, base - (v / high) * deep, w / data.flows.length + 0.3, (v / high) * deep));
    g.fillStyle = ink("--line");
    g.fillRect(left, base, w, 1);
    g.font = "600 12px system-ui, sans-serif";
    g.fillStyle = ink("--ink");
    g.textAlign = "left";
    g.fillText("messages", 0, base - deep + 11);
    g.font = "11px system-ui, sans-serif";
    g.fillStyle = ink("--ink-3");
    g.fillText("under way", 0, base - deep + 27);
    g.textAlign = "right";
    g.fillText(f.count(high), left - 6, base - deep + 9);
    g.fillText("0", left - 6, base);
    g.fillStyle = ink("--ink-3");
    const y = data.tiers.length * tierHeight + flowsHigh + 10;
    for (const t of f.axis(data.from_ps, data.to_ps, width < 500 ? 3 : 7)) {
      g.textAlign = t.at === data.from_ps ? "left" : x(t.at) > width - 30 ? "right" : "center";
      g.fillText(t.label, x(t.at), y);
    }
  }, [data, metric, width, theme]);
  // Drag chooses a window for all views, a click a time.
  const drag = useRef<number | undefined>(undefined);
  const [part, choose] = useState<[number, number] | undefined>(undefined);
  const timeAt = (e: PointerEvent) => {
    const r = canvas.current!.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (e.clientX - r.left - left) / w));
    return Math.round(data.from_ps + share * (data.to_ps - data.from_ps));
  };
  /** hover shows the figures of a tier at a time, beside the pointer. */
  const hover = (e?: PointerEvent) => {
    const el = card.current;
    if (!el) return;
    const r = canvas.current!.getBoundingClientRect();
    const n = e ? Math.floor((e.clientY - r.top) / tierHeight) : -1;
    const t = e ? data.from_ps + ((e.clientX - r.left - left) / w) * (data.to_ps - data.from_ps) : -1;
    const k = Math.floor((t - data.from_ps) / data.width_ps);
    const tier = data.tiers[n];
    el.hidden = !e || t < data.from_ps || k < 0 || k >= data.flows.length || (!tier && n !== data.tiers.length);
    if (el.hidden || !e) return;
    const show = (i: number) => (metric === "util" ? f.percent(tier.load[i][k]) : f.bytes(tier.queue_bytes[i][k]));
    el.textContent = tier
      ? [`${tier.name}, ${f.time(t)}`, rows.map((q, i) => `${q} ${show(i)}`).join(" · "), ...(flows || tier.wred_min_bytes === 0 ? [] : [`${f.percent(tier.above[k])} of ${f.plural(tier.ports, "port")} ≥ ${f.bytes(tier.wred_min_bytes)}`])].join("\n")
      : `${f.plural(data.flows[k], "message")} under way, ${f.time(t)}`;
    el.style.left = `${Math.max(4, Math.min(e.clientX + 12, innerWidth - 330))}px`;
    el.style.top = `${e.clientY + 16}px`;
  };
  const column = at === undefined ? -1 : Math.floor((at - data.from_ps) / data.width_ps);
  const inside = column >= 0 && column < (data.tiers[0]?.above.length ?? 0);
  return (
    <div ref={box} class="matrix" data-testid="tiers">
      <div style={{ position: "relative" }}>
        <canvas
          ref={canvas}
          style={{ width: `${width}px`, height: `${height}px`, touchAction: "pan-y" }}
          role="img"
          aria-label="quantiles of the ports of each tier over time"
          onPointerDown={(e) => {
            drag.current = timeAt(e);
            canvas.current!.setPointerCapture(e.pointerId);
          }}
          onPointerMove={(e) => {
            if (drag.current === undefined) return hover(e);
            hover();
            const t = timeAt(e);
            choose([Math.min(drag.current, t), Math.max(drag.current, t)]);
          }}
          onPointerLeave={() => hover()}
          onPointerUp={(e) => {
            const t = timeAt(e);
            const [a, b] = [Math.min(drag.current ?? t, t), Math.max(drag.current ?? t, t)];
            drag.current = undefined;
            choose(undefined);
            if (b - a > (data.to_ps - data.from_ps) / 100) set({ from: a, to: b }, false);
            else set({ at: t });
          }}
        />
        <div class="hovercard" ref={card} hidden data-testid="hover" />
        {inside && <i class="cursor" style={{ transform: `translateX(${x(at!)}px)`, height: `${height - 18}px` }} />}
        {part && (
          <i
            class="chosen"
            style={{ left: `${x(part[0])}px`, width: `${x(part[1]) - x(part[0])}px`, height: `${height - 18}px` }}
          />
        )}
      </div>
      <div class="bar">
        <input
          class="scrub quiet"
          type="range"
          min={data.from_ps}
          max={data.to_ps}
          step={Math.max(1, Math.round(data.width_ps))}
          value={at ?? data.from_ps}
          aria-label="time"
          aria-valuetext={f.time(at ?? data.from_ps)}
          onInput={(e) => set({ at: Number(e.currentTarget.value) })}
        />
        {(place.args.has("from") || place.args.has("to")) && (
          <button onClick={() => set({ from: undefined, to: undefined })}>Whole step</button>
        )}
      </div>
      <p class="note" aria-live="polite" data-testid="column">
        {inside
          ? `${f.time(at!)}: ` +
            data.tiers
              .map(
                (t) =>
                  `${t.name} ` +
                  (metric === "util"
                    ? `median ${f.percent(t.load[0][column])}, max ${f.percent(t.load[3][column])}`
                    : `p99 ${f.bytes(t.queue_bytes[2][column])}, max ${f.bytes(t.queue_bytes[3][column])}`),
              )
              .join("; ")
          : "Hover for figures, click to set the time of all views; drag to choose a window for all views."}
      </p>
    </div>
  );
}

/** Tiers is the fabric beyond 64 switches: quantiles, shares above thresholds, and who holds the bytes. */
export function Tiers({ info, toTopology }: { info: Info; toTopology: preact.JSX.Element }) {
  const place = usePlace();
  const flows = byFlow(info);
  const metric = flows || place.args.get("metric") === "util" ? "util" : "queue";
  const [from, to] = [place.args.get("from"), place.args.get("to")];
  const query = !standalone() && from && to ? `tiers?from=${from}&to=${to}` : "tiers";
  const { data: answer } = useData(() => view<Answer>(info.name, "answer"), [info.name]);
  const { data: fresh, error } = useData(() => view<Figures>(info.name, query), [info.name, query]);
  const [data, keep] = useState<Figures | undefined>(undefined);
  useEffect(() => {
    if (fresh) keep(fresh); // what is shown stays until the next is there
  }, [fresh]);
  const at = place.args.has("at") ? Number(place.args.get("at")) : undefined;
  const found = useMemo(() => data && (flows ? loads(info, data) : finding(data)), [data]);
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data) return <p class="loading">Loading {f.plural(info.ports.length, "port")}…</p>;
  const switches = info.topology.nodes.filter((n) => n.role !== "host").length;
  return (
    <section aria-label="Fabric">
      <p class="eyebrow">
        Fabric · {f.plural(switches, "switch").replace(/switchs$/, "switches")}, {f.plural(data.ports, "port")}
        {data.groups.length > 0 && `, ${f.plural(data.groups.length, "pod")}`}
      </p>
      <h1 data-testid="verdict">{flows ? found!.title : caused(info, found!.title)}</h1>
      <p class="lede">
        {found!.more}
        {answer?.place && ` Most is lost at ${answer.place.name}.`}
      </p>
      <div class="bar">
        {!flows && (
          <button aria-pressed={metric === "queue"} onClick={() => set({ metric: "queue" })}>
            Queue
          </button>
        )}
        <button aria-pressed={metric === "util"} onClick={() => set({ metric: "util" })}>
          Load
        </button>
        {toTopology}
        <Scale metric={metric} data={data} />
      </div>
      <div class="split">
        <div>
          <Matrix data={data} metric={metric} at={at} flows={flows || metric === "util"} />
          <p class="note">
            A row is a quantile over all ports of a tier, idle ones too, in a column of {f.time(data.width_ps)}.{" "}
            {flows ? "The load of flows is shown." : metric === "queue" && "Red: share of ports above WRED min, all tiers to one scale."}{" "}
            {metric === "queue" && data.sample_ps > 0 && `Queues are the longest of a sample, of ${f.time(data.sample_ps)} or longer.`}
          </p>
        </div>
        <aside>
          {flows ? <Hottest info={info} /> : <Culprits info={info} data={data} />}
          {info.summary.pfc_pauses > 0 && (
            <PauseRoots info={info} {...(from && to ? { from: Number(from), to: Number(to) } : {})} />
          )}
          {!flows && data.groups.length > 0 && <Groups data={data} />}
        </aside>
      </div>
    </section>
  );
}

/** caused begins a title with the leading cause. */
const caused = ({ leading }: Info, title: string): string =>
  leading ? `${f.begin(leading)}: ${title.charAt(0).toLowerCase()}${title.slice(1)}` : title;

/** loads is what the loads of the tiers say, of a run that simulates no queues. */
function loads(info: Info, d: Figures): { title: string; more: string } {
  const peak = (t: Tier, r: number) => Math.max(0, ...t.load[r]);
  const uneven = (t: Tier) => peak(t, 1) - peak(t, 0);
  const most = [...d.tiers].sort((a, b) => peak(b, 0) - peak(a, 0))[0];
  const top = [...d.tiers].sort((a, b) => uneven(b) - uneven(a))[0];
  if (!top || peak(top, 3) === 0) return { title: "No port sends in this window.", more: "" };
  const tenth = `The busiest tenth of ${top.name} ports reaches ${f.percent(peak(top, 1))} of line rate, the median port ${f.percent(peak(top, 0))}.`;
  const full = `The median ${most.name} port reaches ${f.percent(peak(most, 0))} of line rate.`;
  const some = uneven(top) >= 0.1;
  const none = unsimulated("queues, ECN marks and PFC pauses");
  // A tier that is full as a whole comes before one with full ports.
  if (!some || peak(most, 0) >= 0.9) return { title: full, more: some ? `${tenth} ${none}` : none };
  return { title: caused(info, tenth), more: none };
}

/** Hot is a busy link with two of the queue pairs that use it. */
function Hot({ info, name, load }: { info: Info; name: string; load: number }) {
  const port = info.ports.findIndex((p) => p.name === name);
  const { data } = useData(port < 0 || standalone() ? null : () => view<PortView>(info.name, `port?id=${port}`), [info.name, port]);
  return (
    <tr>
      <td>
        <button class="plain" onClick={() => set({ view: "topology", port }, false)}>
          {name}
        </button>
        {(data?.flows ?? []).slice(0, 2).map((x) => (
          <div class="note">
            {x.from} → {x.to}
          </div>
        ))}
      </td>
      <td class="n">{data ? f.count(data.flow_count) : ""}</td>
      <td class="n">{f.percent(load)}</td>
    </tr>
  );
}

/** Hottest are the busiest links of the whole step. */
function Hottest({ info }: { info: Info }) {
  const all = info.summary.links.hottest ?? [];
  return (
    <div data-testid="culprits">
      <h2>Busiest links</h2>
      <p class="note">By load over the step, with queue pairs that use them</p>
      <table>
        <thead>
          <tr>
            <th>port</th>
            <th class="n">queue pairs</th>
            <th class="n">load</th>
          </tr>
        </thead>
        <tbody>
          {all.map((h) => (
            <Hot info={info} name={h.name} load={h.utilisation} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** finding is what the queues of the tiers say. */
function finding(d: Figures): { title: string; more: string } {
  const top = [...d.tiers].sort((a, b) => b.held_share - a.held_share)[0];
  const above = [...d.tiers].sort((a, b) => Math.max(...b.above) - Math.max(...a.above))[0];
  if (!top || top.held_share === 0) return { title: "No port queues bytes at the end of a sample.", more: "" };
  const empty = d.tiers.every((t) => t.queue_bytes[0].every((b) => b === 0));
  const most = Math.max(...above.above);
  return {
    title: `${f.begin(top.name)} ports hold ${f.percent(top.held_share)} of queued bytes.`,
    more:
      (empty ? "The median port is empty at every time. " : "") +
      (most > 0 ? `At most ${f.percent(most)} of ${above.name} ports are above WRED min at once; ` : "") +
      `${f.count(d.half_ports)} of ${f.plural(d.ports, "port")} hold half of all queued bytes.`,
  };
}

function Scale({ metric, data }: { metric: string; data: Figures }) {
  if (metric === "util")
    return (
      <span class="legend note">
        0 <span class="ramp" style={{ background: `linear-gradient(to right, ${load().join(",")})` }} /> 100 % of line rate
      </span>
    );
  return <QueueScale of={data.tiers.find((x) => x.wred_min_bytes > 0)} />;
}

/** QueueScale is the colours of queues with the thresholds that they stand for. */
export function QueueScale({ of: t, lines }: { of?: Limits; lines?: boolean }) {
  const words = t
    ? [
        "empty",
        "below WRED min",
        `≥ ${f.bytes(t.wred_min_bytes)}`,
        `≥ ${f.bytes((t.wred_min_bytes + t.wred_max_bytes) / 2)}`,
        `≥ WRED max ${f.bytes(t.wred_max_bytes)}`,
      ]
    : ["empty", "queued"];
  return (
    <span class="kinds">
      {words.map((w, i) => (lines && i === 3 ? null : (
        <span>
          <i style={{ background: `var(${(lines ? lineTokens : queueTokens)[i]})` }} />
          {w}
        </span>
      )))}
    </span>
  );
}

/** pairs are up to two of the flows' ends, each once, with their number. */
function pairs(flows: { from: string; to: string }[]): [string, number][] {
  const by = new Map<string, number>();
  for (const x of flows) by.set(`${x.from} → ${x.to}`, (by.get(`${x.from} → ${x.to}`) ?? 0) + 1);
  return [...by].slice(0, 2);
}

/** reached reports whether a queue reached a threshold; without one no port is a culprit. */
function reached(info: Info, data: Figures): boolean {
  const marks = (info.topology.configs ?? []).map((c) => c.wred_min_bytes).filter((b) => b > 0);
  const s = info.summary;
  return marks.length === 0 || s.ecn_marks + s.pfc_pauses + s.drops > 0 || data.culprits.some((c) => c.queue_peak_bytes >= Math.min(...marks));
}

/** Culprits are the ports by bytes held × time, with the flows that waited longest there. */
export function Culprits({ info, data }: { info: Info; data: Figures }) {
  const windowed = usePlace().args.has("from") && !standalone();
  if (!reached(info, data)) {
    const longest = data.culprits.reduce((a, b) => (b.queue_peak_bytes > a.queue_peak_bytes ? b : a), data.culprits[0]);
    const least = Math.min(...(info.topology.configs ?? []).map((c) => c.wred_min_bytes).filter((b) => b > 0));
    return (
      <div data-testid="culprits">
        <h2>No culprit</h2>
        <p class="note">
          No queue reached WRED min ({f.bytes(least)}) or xOFF.
          {longest && ` The longest was ${f.bytes(longest.queue_peak_bytes)} at ${longest.name}.`}
        </p>
      </div>
    );
  }
  return (
    <div data-testid="culprits">
      <h2>Culprits</h2>
      <p class="note">Ports by bytes held × time, {data.culprits.length === 0 ? "none in this window" : "with the flows that waited longest"}{windowed && "; peaks are of the run"}</p>
      <table>
        <thead>
          <tr>
            <th>port</th>
            <th class="n">flows</th>
            <th class="n" title="longest queue of the run">
              peak
            </th>
            <th class="n">held</th>
          </tr>
        </thead>
        <tbody>
          {data.culprits.slice(0, 5).map((c) => (
            <tr>
              <td>
                <button class="plain" onClick={() => set({ view: "topology", port: c.port, metric: "queue" }, false)}>
                  {c.name}
                </button>
                {pairs(c.flows).map(([name, n]) => (
                  <div class="note">
                    {name}
                    {n > 1 && ` × ${n}`}
                  </div>
                ))}
              </td>
              <td class="n">{f.count(c.flow_count)}</td>
              <td class="n">{f.bytes(c.queue_peak_bytes)}</td>
              <td class="n">{f.percent(c.held_share)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Groups is the share of ports with a peak above WRED min, by pod and tier. */
function Groups({ data }: { data: Figures }) {
  const used = data.tiers.map((_, t) => t).filter((t) => data.groups.some((g) => g.above[t] >= 0));
  const most = Math.max(...data.groups.flatMap((g) => g.above), 0.01);
  const ramp = table(load());
  return (
    <div data-testid="groups">
      <h2>Ports above WRED min, by pod</h2>
      <p class="note">Share of the pod's ports in a tier, those of cores to it too; scale 0 to {f.percent(most)}</p>
      <table class="heat">
        <thead>
          <tr>
            <th />
            {used.map((t) => (
              <th>{data.tiers[t].name.replace("aggregation", "agg")}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.groups.map((g) => (
            <tr>
              <th scope="row">{g.name}</th>
              {used.map((t) =>
                g.above[t] < 0 ? (
                  <td />
                ) : (
                  <td
                    style={{ background: ramp[Math.round((127 * g.above[t]) / most)] }} // half of the ramp: words are legible on it
                  >
                    {f.percent(g.above[t])}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
