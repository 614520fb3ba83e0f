import { useEffect, useMemo, useState } from "preact/hooks";
import { type Answer, type Grid, type Info, type Pauses, type QPView, standalone, view } from "./api";
import type { Tiers as Held } from "./contract";
import { Canvas, type Label, type Values } from "./canvas";
import { type Limits, load } from "./colour";
import { losing as loses } from "./answer";
import * as domains from "./domains";
import { fabric } from "./failures";
import { byFlow, unsimulated } from "./flow";
import * as f from "./format";
import { Lanes } from "./lanes";
import { States, statesAt } from "./linkstates";
import { chosen, Lost, lossOf } from "./lost";
import { Mover, useMotion } from "./motion";
import { type Paused, pausedAt, PauseRoots, PauseTree } from "./pauses";
import { PortPanel, QPPanel } from "./port";
import { here, set, useData, usePlace } from "./state";
import { useWidth } from "./stepbar";
import { Culprits, QueueScale, Tiers } from "./tiers";
import { CastKey, castOf, delayed } from "./victims";
import { useWindowed, WindowChip } from "./windowed";

const metrics: Record<string, string> = {
  util: "utilization",
  queue: "queue depth",
  marks: "ECN marks",
  pause: "PFC pause",
};

const most: Record<string, string> = {
  util: "Busiest ports",
  queue: "Longest queues",
  marks: "Where most is marked",
  pause: "Ports paused longest",
};

/** decode makes a grid of its text: megabytes, therefore without a call for each. */
function decode(g: Grid): Values {
  const text = atob(g.data);
  const n = text.length / 2;
  const [codes, bytes] = [new Uint16Array(g.ports * g.cols), new Uint8Array(g.ports * g.cols)];
  const unit = g.scale <= 1 ? 1e-4 : 1;
  const full = Math.log1p(g.scale / unit);
  const value = (code: number) => unit * Math.expm1((code / 65535) * full);
  const shades = Uint8Array.from({ length: 65536 }, (_, code) => (code > 0 ? Math.max(1, Math.round((value(code) / g.scale) * 255)) : 0));
  for (let i = 0; i < n; i++) {
    const at = g.rows[Math.floor(i / g.cols)] * g.cols + (i % g.cols);
    codes[at] = (text.charCodeAt(i) << 8) | text.charCodeAt(n + i);
    bytes[at] = shades[codes[at]];
  }
  return { cols: g.cols, codes, bytes, worth: (i) => value(codes[i]) };
}

/** busiest is the column of time, of some, in which most goes on at a port, and of those the one in which most goes on at
 * all. */
export function busiest(v: Values | undefined, port = -1, first = 0, last = (v?.cols ?? 1) - 1): number {
  if (!v) return 0;
  const sums = new Float64Array(v.cols);
  for (let i = 0, col = 0; i < v.bytes.length; i++) {
    sums[col] += v.bytes[i];
    if (++col === v.cols) col = 0;
  }
  const own = (i: number) => (port >= 0 ? v.bytes[port * v.cols + i] : 0);
  let best = Math.max(0, Math.min(first, v.cols - 1));
  for (let i = best; i <= Math.min(last, v.cols - 1); i++) if (own(i) > own(best) || (own(i) === own(best) && sums[i] > sums[best])) best = i;
  return best;
}

/** Times are the columns of time of the drawing: of the run, or of the window that a view chose. */
interface Times {
  cols: number;
  from: number; // ps
  step: number; // of all columns, ps
}

/** columnAt is the column of a time. */
const columnAt = ({ cols, from, step }: Times, ps: number) => Math.max(0, Math.min(cols - 1, Math.floor(((ps - from) / step) * cols)));

const drawn = 64; // switches that are drawn one by one before tiers are shown first

/** Fabric is the topology of small fabrics; of others tiers first, the topology on request or where one port is shown. */
export function Fabric({ info }: { info: Info }) {
  const { args } = usePlace();
  const large = info.topology.nodes.filter((n) => n.role !== "host").length > drawn;
  const asked = args.get("view") ?? (args.get("metric") === "lost" || args.has("port") || args.has("qp") ? "topology" : "");
  if (large ? asked !== "topology" : asked === "tiers")
    return (
      <Tiers info={info} toTopology={<button onClick={() => set({ view: "topology" }, false)}>Topology</button>} />
    );
  return <Topology info={info} />;
}

/** Topology draws nodes and links at a time. */
function Topology({ info }: { info: Info }) {
  const place = usePlace();
  const losing = place.args.get("metric") === "lost";
  const flows = byFlow(info);
  const { data: answer, error: unanswered } = useData(() => view<Answer>(info.name, "answer"), [info.name]);
  const failure = answer?.failure;
  const metric = losing || flows ? "util" : (place.args.get("metric") ?? (failure ? "util" : telling(info)));
  const port = place.args.has("port") ? Number(place.args.get("port")) : undefined;
  const qp = place.args.has("qp") ? Number(place.args.get("qp")) : undefined;
  const open = useMemo(
    () => new Set((place.args.get("open") ?? "").split("|").filter(Boolean)),
    [place.args.get("open")],
  );
  const [playing, play] = useState(false);
  const start = () => {
    if (!playing && t >= high) move(low);
    play(!playing);
  };
  const [speed, faster] = useState(12);
  const [begin, end] = [place.args.get("from"), place.args.get("to")].map(Number);
  const windowed = place.args.has("from") && place.args.has("to") && end > begin;
  const apart = windowed && !standalone(); // a file has the columns of the run alone
  const from = apart ? Math.max(0, Math.min(begin, info.span_ps - 1)) : 0;
  const times = { cols: info.cols, from, step: apart ? Math.max(1, Math.min(end, info.span_ps) - from) : info.span_ps };
  const [low, high] = windowed ? [columnAt(times, begin), columnAt(times, end - 1)] : [0, times.cols - 1];
  const within = apart ? `&from=${from}&to=${from + times.step}` : "";
  const grid = useData(() => view<Grid>(info.name, `grid?metric=${metric}${within}`), [info.name, metric, within]);
  const data = useMemo(() => (grid.data ? decode(grid.data) : undefined), [grid.data]);
  // Pauses are drawn on the load of links.
  const loads = useData(metric === "pause" ? () => view<Grid>(info.name, `grid?metric=util${within}`) : null, [info.name, metric, within]);
  const load = useMemo(() => (loads.data ? decode(loads.data) : undefined), [loads.data]);
  const cast = useMemo(() => castOf(info, answer?.victim), [info, answer]);
  const worst = metric === "queue" ? answer?.place?.port : undefined;
  // A failure is shown while the link is down and routes still use it.
  const peak = useMemo(
    () =>
      failure && answer?.place && !windowed ? columnAt(times, answer.place.at_ps) : busiest(data, worst, low, high),
    [data, worst, failure, low, high],
  );
  const limits = useMemo(() => limitsOf(info), [info]);
  const queues = metric === "queue" && grid.data ? { scale: grid.data.scale, limits } : undefined;
  const t = place.args.has("at") ? columnAt(times, Number(place.args.get("at")) || 0) : peak;
  /** move shows a column: the address has the time at which it begins. */
  const move = (to: number) => set({ at: Math.ceil(times.from + (Math.max(low, Math.min(high, to)) / times.cols) * times.step) });
  const whole = useMemo(() => fabric(info.topology), [info.topology]);
  const needed = info.summary.ecn_marks + info.summary.drops > 0; // only a queue's finding is of the answer's port
  const overall = useMemo(() => (answer || unanswered || !needed ? finding(info, answer) : ["…", ""]), [info, answer, unanswered]);
  const said = useWindowed(info) ?? overall;
  const offered = useMemo(
    () =>
      info.ports
        .filter((p) => p.wire_bytes > 0)
        .sort((a, b) => b.queue_peak_bytes - a.queue_peak_bytes || b.wire_bytes - a.wire_bytes)
        .filter((p, i) => i < 400 || p.port === port),
    [info, port],
  );
  // The same element while nothing of it changes: 400 options are not compared in every frame.
  const choice = useMemo(
    () => (
            <label>
              port{" "}
              <select
                value={port ?? ""}
                onChange={(e) => set({ port: e.currentTarget.value, qp: undefined })}
              >
                <option value="">choose a link, or click one</option>
                {offered.map((p) => (
                  <option value={p.port}>{p.name}</option>
                ))}
              </select>
            </label>
    ),
    [offered, port],
  );
  const gone = losing ? (place.args.get("gone") ?? "") : "";
  const loss = useMemo(() => (losing ? lossOf(whole, gone) : undefined), [whole, gone, losing]);
  const pauses = useData(() => view<Pauses>(info.name, "pauses"), [info.name]);
  const path = useData(qp === undefined ? null : () => view<QPView>(info.name, `qp?id=${qp}`), [
    info.name,
    qp,
  ]);
  const width = times.step / times.cols;
  const now = times.from + t * width;
  // A time that another view chose is shown as it is, else the middle of the column.
  const asked = Number(place.args.get("at") ?? -1);
  const shown = asked >= now && asked < now + width ? asked : now + width / 2;
  const labels = useMemo(() => (losing ? [] : named(info, metric, t, shown, data, answer?.place?.port, answer?.failure)), [info, metric, t, shown, data, losing, answer]);
  const moving = useMotion(info);
  const run = columnAt({ cols: info.cols, from: 0, step: info.span_ps }, shown); // of the run's columns
  const on = useMemo(() => pausedAt(pauses.data, run), [pauses.data, run]);
  const changes = (info.topology.changes ?? []).length > 0;
  // Of a column the middle counts, as for pauses.
  const states = useMemo(() => statesAt(info, now + width / 2), [info, now, width]);
  const span = {
    from: Math.floor(now),
    to: Math.max(Math.floor(now) + 1, Math.floor(now + width)),
  };

  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => {
      const { args } = here();
      const at = args.has("at") ? columnAt(times, Number(args.get("at")) || 0) : peak; // without a time the busiest is shown
      if (at >= high) play(false);
      else move(at + 1);
    }, 1000 / speed);
    return () => clearInterval(timer);
  }, [playing, speed, peak, within]);

  return (
    <section class="fabric" aria-label="Fabric">
      <h1 class="finding" data-testid="finding">
        {losing ? "What a failure cuts off" : said[0]}
      </h1>
      {!losing && (said[1] || windowed) && (
        <p class="lede">
          {said[1]} <WindowChip />
        </p>
      )}
      <div class="bar">
        <label>
          show{" "}
          <select
            value={losing ? "lost" : metric}
            onChange={(e) => set({ metric: e.currentTarget.value, gone: undefined })}
          >
            {Object.entries(metrics)
              .filter(([k]) => !flows || k === "util")
              .map(([k, v]) => (
              <option value={k}>{v}</option>
            ))}
            <option value="lost">what a failure cuts off</option>
          </select>
        </label>
        {!losing && (
          <button onClick={() => set({ view: "tiers", port: undefined, qp: undefined }, false)}>Tiers</button>
        )}
        {!losing && (
          <>
            {queues ? <QueueScale lines of={limits.find((l) => l.wred_min_bytes > 0)} /> : <Legend metric={metric} grid={grid.data} />}
            <button onClick={() => move(t - 1)} aria-label="one step back">
              ◀︎
            </button>
            <button onClick={start} aria-pressed={playing}>
              {playing ? "pause" : "play"}
            </button>
            <button onClick={() => move(t + 1)} aria-label="one step on">
              ▶︎
            </button>
            {t !== peak && <button onClick={() => set({ at: undefined })}>{failure ? "during the failure" : "busiest moment"}</button>}
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
              min={low}
              max={high}
              value={t}
              aria-label="time"
              aria-valuetext={f.time(shown)}
              onInput={(e) => move(Number(e.currentTarget.value))}
            />
            <output>
              {f.time(shown)} of {f.time(info.span_ps)}
            </output>
          </>
        )}
      </div>
      {!grid.data && !grid.error && <p class="loading">Loading {f.plural(info.ports.length, "port")}…</p>}
      {grid.error && (
        <p class="error" role="alert">
          {grid.error}
        </p>
      )}
      <div class="split">
        <div>
          <Canvas
            info={info}
            data={losing ? undefined : (load ?? data)}
            cast={losing ? undefined : cast}
            t={t}
            open={open}
            port={losing ? undefined : port}
            path={losing ? undefined : path.data}
            motion={losing ? undefined : moving.motion}
            on={losing ? none : on}
            states={states}
            loss={loss}
            labels={labels}
            queues={queues}
            fail={(name) => set({ gone: chosen(gone, name) }, false)}
          />
          {!losing && <Mover {...moving} />}
          <Key info={info} losing={losing} changes={changes} metric={metric} victim={answer?.victim} grouped={info.topology.nodes.length > drawn} />
          {!losing && !flows && (
            <Below info={info} from={times.from} to={times.from + times.step} now={shown} />
          )}
        </div>
        {losing && loss ? (
          <aside>
            <Lost whole={whole} loss={loss} gone={gone} open={open} />
          </aside>
        ) : (
          <aside>
            {choice}
            {changes && <States info={info} states={states} />}
            {on.size > 0 && <PauseTree info={info} on={on} />}
            {info.summary.pfc_pauses > 0 && (metric === "pause" || on.size > 0) && (
              <PauseRoots info={info} {...(on.size > 0 && !playing ? span : {})} />
            )}
            {port !== undefined && <PortPanel info={info} port={port} cursor={shown} qp={qp} />}
            {qp !== undefined && path.data && <QPPanel info={info} data={path.data} cursor={shown} />}
            {port === undefined && (
              <>
                <Busiest info={info} data={data} t={t} metric={metric} />
                {!flows && info.summary.pfc_pauses === 0 && <Holders info={info} />}
                <p class="hint">
                  Select a link to see its queue with the thresholds drawn in, and the flows in it. A dashed
                  box is a group: click it to open it.
                </p>
              </>
            )}
          </aside>
        )}
      </div>
    </section>
  );
}

/** Below is what the fabric does over the step, or the window that is chosen; a click sets the time that is drawn. */
function Below({ info, from, to, now }: { info: Info; from: number; to: number; now: number }) {
  const { box, width } = useWidth(900);
  return (
    <div class="below" ref={box}>
      <Lanes info={info} from={from} to={to} width={width} left={width < 500 ? 98 : 184} cursor={now} axis />
    </div>
  );
}

/** Holders ranks the ports that held most bytes for longest, of the window that is chosen or the run. */
function Holders({ info }: { info: Info }) {
  const { args } = usePlace();
  const [from, to] = [args.get("from"), args.get("to")];
  const what = from && to && !standalone() ? `tiers?from=${from}&to=${to}` : "tiers";
  const { data } = useData(() => view<Held>(info.name, what), [info.name, what]);
  return data && data.culprits.length > 0 ? <Culprits info={info} data={data} /> : null;
}

/** telling is the metric that the finding is of. */
function telling({ summary: s }: Info): string {
  if (s.pause_roots?.roots?.length) return "pause";
  return s.ecn_marks + s.drops > 0 ? "queue" : "util";
}

/** finding is what the fabric's ports say of the whole step, and more of it: the root of its pauses, else the port of
 *  the answer, else its longest queue, else its busiest link. */
function finding(info: Info, answer?: Answer): [string, string] {
  const { summary: s, ports } = info;
  const roots = s.pause_roots;
  const failure = answer?.failure;
  if (failure)
    return [
      `Link ${f.whole(failure.link)} is down from ${f.time(failure.down_ps)} to ${f.time(failure.up_ps)}.`,
      `${loses(failure)}${failure.qp >= 0 ? `; queue pair ${failure.qp}, ${failure.from} → ${failure.to}, retransmits ${f.count(failure.retransmitted_packets)}` : ""}.`,
    ];
  if (answer?.victim) return delayed(info, answer.victim);
  if (roots?.roots?.[0] && roots.paused_ps > 0)
    return [
      `${roots.roots[0].name} causes ${f.percent(roots.roots[0].pause_ps / roots.paused_ps)} of the pause time.`,
      `${f.plural(s.pfc_pauses, "PFC pause")} stop${s.pfc_pauses === 1 ? "s" : ""} ${f.plural(roots.paused_ports, "port")} for ${f.time(roots.paused_ps)} in sum, for the bytes of ${f.plural(roots.flow_count, "flow")}.`,
    ];
  const longest = ports.reduce<(typeof ports)[number] | undefined>(
    (top, p) => (p.role !== "host" && p.queue_peak_bytes > (top?.queue_peak_bytes ?? 0) ? p : top),
    undefined,
  );
  if (longest && s.ecn_marks + s.drops > 0) {
    const worst = answer?.place && ports[answer.place.port];
    const other = worst && worst !== longest && worst.queue_peak_bytes < longest.queue_peak_bytes;
    return [
      worst && worst.queue_peak_bytes > 0
        ? `${f.begin(answer!.losses[0].name)} ${answer!.losses[0].key === "rate_not_given_back" ? "after the queue " : ""}at ${f.whole(worst.name)}, which reaches ${f.bytes(worst.queue_peak_bytes)}.`
        : `The longest queue is ${f.bytes(longest.queue_peak_bytes)} at ${f.whole(longest.name)}.`,
      `Ports above WRED min mark ${f.plural(s.ecn_marks, "packet")}; ${s.drops > 0 ? f.plural(s.drops, "packet") : "none"} ${s.drops === 1 ? "is" : "are"} dropped, no port is paused.` +
        (other ? ` The longest queue, ${f.bytes(longest.queue_peak_bytes)} at ${longest.name}, is not where the answer's time is lost.` : ""),
    ];
  }
  const busy = s.links.hottest?.[0];
  if (!busy) return ["No link carries packets.", ""];
  return [`The busiest link is ${busy.name}, at ${f.percent(busy.utilisation)} over the step.`, byFlow(info) ? unsimulated("queues, ECN marks and PFC pauses") : ""];
}

const none: Map<number, Paused> = new Map();

/** Key says what the shapes in the drawing are. */
function Key(props: { info: Info; losing: boolean; changes: boolean; metric: string; victim?: Answer["victim"]; grouped: boolean }) {
  const { info, losing, changes, metric, victim, grouped } = props;
  const all = info.topology.domains ?? [];
  const by = [...new Set(all.map((d) => `${d.by}, ${domains.speed(d)}`))];
  return (
    <p class="kinds key">
      <span>
        <i style={{ background: "var(--fine)" }} />
        NIC
      </span>
      <span>
        <i style={{ background: "var(--c-compute)" }} />
        GPU
      </span>
      {by.length > 0 && (
        <span>
          <i style={{ background: "var(--line-2)", height: "3px", verticalAlign: "3px" }} />
          {by.slice(0, 3).join("; ")}
          {by.length > 3 && " and others"}
        </span>
      )}
      {all.some((d) => d.nodes.length > 1) && (
        <span>
          <i class="frame" />
          servers that share it
        </span>
      )}
      {losing ? (
        <>
          <span>
            <i style={{ background: "var(--ink)" }} />
            failed
          </span>
          <span>
            <i style={{ background: "var(--bad)" }} />
            cut off
          </span>
          <span>
            <i style={{ background: "#e69f00" }} />
            goes on with fewer cables
          </span>
        </>
      ) : (
        <>
          {victim && <CastKey v={victim} />}
          {info.summary.pfc_pauses > 0 && metric !== "pause" && (
            <span>
              <i class="paused" />
              paused by PFC
            </span>
          )}
          {info.topology.nodes.length > 1 && <span>▸ direction of what is shown</span>}
          {grouped && <span>a band: links of a group, right half up, left half down, divided by their ports' shares</span>}
          {changes && (
            <>
              <span>
                <i class="down" />
                link down
              </span>
              <span>
                <i class="slow" />
                below its rate
              </span>
            </>
          )}
        </>
      )}
    </p>
  );
}

/** limitsOf is the thresholds of each port's queue; of a server none. */
function limitsOf(info: Info): Limits[] {
  const by = new Map(info.topology.nodes.map((n) => [n.name, info.topology.configs?.[n.config]]));
  return info.ports.map((p) => by.get(p.node) ?? { wred_min_bytes: 0, wred_max_bytes: 0 });
}

/** topPorts are the ports with the largest values of a column, in one pass: a large fabric has too many to sort in a
 * frame. */
function topPorts(info: Info, data: Values, t: number, n: number): number[] {
  const at = (p: number) => data.codes[p * data.cols + t] ?? 0;
  const top: number[] = [];
  for (let p = 0, v: number, least = 0; p < info.ports.length; p++) {
    if ((v = at(p)) <= least) continue;
    const i = top.findIndex((q) => at(q) < v);
    top.splice(i < 0 ? top.length : i, 0, p);
    if (top.length > n) top.pop();
    if (top.length === n) least = at(top[n - 1]);
  }
  return top;
}

/** worth is a value of the grid in words. */
function worth(metric: string, v: number): string {
  if (metric === "queue") return f.bytes(Math.round(v));
  return metric === "marks" ? f.count(Math.round(v)) : f.percent(v);
}

/** named are the links to name in the drawing: the root of pauses, and the largest values of the time. */
function named(info: Info, metric: string, t: number, now: number, data?: Values, worst = -1, failure?: Answer["failure"]): Label[] {
  const root = metric === "pause" ? info.summary.pause_roots?.roots?.[0] : undefined;
  const first: Label[] = root ? [{ port: root.port, words: `root: ${root.name}`, root: true }] : [];
  if (failure && failure.down_ps <= now && now < failure.up_ps) first.push({ port: failure.port, words: `${failure.name.split(" → ")[0]} down`, bold: true });
  if (!data) return first;
  // The port of the title is named too.
  const title = !root && metric === "queue" && data.bytes[worst * data.cols + t] > 0 ? [worst] : [];
  const others = topPorts(info, data, t, 3).filter((p) => p !== title[0]);
  return first.concat(
    [...title, ...others.slice(0, 3 - title.length - first.length)].map((p) => ({
      port: p,
      words: `${info.ports[p].name.split(" → ")[0]} ${worth(metric, data.worth(p * data.cols + t))}`,
      root: false,
      bold: p === title[0],
    })),
  );
}

/** Busiest lists the ports with most of what is shown at a moment: where to look first, also by keyboard. */
function Busiest(props: { info: Info; data?: Values; t: number; metric: string }) {
  const { info, data, t } = props;
  if (!data) return null;
  const top = topPorts(info, data, t, 6);
  return (
    <div class="panel" data-testid="busiest">
      <h3>{most[props.metric]} at this time</h3>
      {top.length === 0 ? (
        <p>None. The busiest moment is where most goes on.</p>
      ) : (
        <table class="tight">
          <tbody>
            {top.map((p) => (
              <tr>
                <td>
                  <button class="plain" onClick={() => set({ port: p, qp: undefined }, false)}>
                    {info.ports[p].name}
                  </button>
                </td>
                <td class="n">{worth(props.metric, data.worth(p * data.cols + t))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function Legend({ metric, grid }: { metric: string; grid?: Grid }) {
  if (metric === "pause")
    return (
      <span class="kinds legend" data-testid="pause-legend">
        <span>
          <i class="paused" />
          paused by PFC
        </span>
        <span>
          <i style={{ background: "var(--ink)", height: "4px", verticalAlign: "3px" }} />
          root
        </span>
        <span>
          load 0 <span class="ramp" style={{ background: `linear-gradient(to right, ${load().join(",")})` }} /> 100 %
        </span>
      </span>
    );
  const top = !grid
    ? ""
    : metric === "queue"
      ? f.bytes(grid.scale)
      : metric === "marks"
        ? f.count(Math.round(grid.scale))
        : "100 %";
  return (
    <span class="legend">
      0 <span class="ramp" style={{ background: `linear-gradient(to right, ${load().join(",")})` }} />{" "}
      {top}
    </span>
  );
}
