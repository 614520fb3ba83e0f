import type { ComponentChildren } from "preact";
import type { Answer, Info } from "./api";
import type { EndPicture, FailurePicture, LinkPicture, PausePicture, PortPicture, RatePicture } from "./contract";
import * as f from "./format";
import { address } from "./state";
import { standalone } from "./api";

const W = 360; // of a picture's own coordinates
const H = 78;

const to = (info: Info, what: string, args: Record<string, string | number | undefined>) =>
  address(standalone() ? [what] : ["run", info.name, what], args);

/** around is a window of time, a twentieth of the step, with a time in its middle. */
function around(info: Info, at: number) {
  const step = info.span_ps;
  const from = Math.max(0, Math.min(step * 0.95, at - step / 40));
  return { from: Math.round(from), to: Math.round(from + step / 20), at: Math.round(at) };
}

/** Pictures are the port, the rank and the pause to look at, small; each leads to its time. */
export function Pictures({ info, data, beside }: { info: Info; data: Answer; beside?: ComponentChildren }) {
  const { failure, port, link, pause, rate } = data;
  // Ranks that end at one time, but for chance, show nothing.
  const ends = data.ends && data.ends.last_ps - data.ends.first_ps >= 0.005 * info.summary.step_time_ps ? data.ends : undefined;
  const count = Number(!!failure || !!port) + Number(!!link) + Number(!!ends) + Number(!!pause || !!rate);
  if (count === 0) return <>{beside}</>;
  return (
    <>
      <div class="head">
        <h2>Where and when</h2>
      </div>
      <div class="grid3 small" data-testid="moments">
        {failure ? <Failure info={info} p={failure} /> : port && <Port info={info} p={port} />}
        {link && <Link info={info} p={link} />}
        {ends && <Ends info={info} p={ends} />}
        {pause ? <Pause info={info} p={pause} /> : rate && <Rate info={info} p={rate} />}
        {count < 3 && beside}
      </div>
      {count >= 3 && beside && <div class="row">{beside}</div>}
    </>
  );
}

/** Axis is ticks of time below a picture. */
function Axis({ from, to }: { from: number; to: number }) {
  const all = f.axis(from, to, 4);
  return (
    <>
      <path class="axis" d={`M0 ${H}H${W}`} />
      {all.map((t, i) => {
        const x = ((t.at - from) / Math.max(1, to - from)) * W;
        return (
          <text
            x={Math.min(W, x)}
            y={H + 14}
            text-anchor={x < 8 ? "start" : x > W - 24 || i === all.length - 1 ? "end" : "middle"}
          >
            {t.label}
          </text>
        );
      })}
    </>
  );
}

function Port({ info, p }: { info: Info; p: PortPicture }) {
  const step = p.width_ps * p.queue_bytes.length;
  const top = Math.max(p.peak_bytes, p.wred_min_bytes, 1); // a queue below WRED min looks short
  const y = (b: number) => H - (b / top) * (H - 16);
  const w = W / p.queue_bytes.length;
  const area = p.queue_bytes.map((b, i) => `H${i * w}V${y(b)}H${(i + 1) * w}`).join("");
  const line = p.wred_min_bytes > 0;
  const calm = Math.max(...p.queue_bytes.slice(0, 40)) < p.wred_min_bytes; // room for words
  const above = Math.max(p.wred_min_bytes, calm ? 0 : Math.max(...p.queue_bytes.slice(-48)));
  return (
    <a class="card" href={to(info, "fabric", { metric: "queue", port: p.port, ...around(info, p.at_ps) })}>
      <h3>
        Queue at {p.name.split(" → ")[0]}: {f.bytes(p.peak_bytes)}
      </h3>
      <p class="note">{p.longest ? "the longest of the run" : `to ${p.name.split(" → ")[1] ?? "its peer"}`}</p>
      <svg viewBox={`0 0 ${W} ${H + 18}`} role="img" aria-label={`queue of ${p.name} over the step`}>
        <path d={`M0 ${H}${area}V${H}Z`} fill={line && p.peak_bytes < p.wred_min_bytes ? "var(--q-below)" : "var(--c-rate_not_given_back)"} />
        {line && (
          <>
            <path d={`M0 ${y(p.wred_min_bytes)}H${W}`} stroke="var(--ink)" stroke-dasharray="2 3" />
            <text
              class="over"
              x={calm ? 0 : W}
              y={y(above) - 4}
              text-anchor={calm ? "start" : "end"}
            >
              WRED min {f.bytes(p.wred_min_bytes)}
            </text>
          </>
        )}
        <Axis from={0} to={step} />
      </svg>
    </a>
  );
}

/** Failure is the losses of a failed link, with the time shaded in which it was down. */
function Failure({ info, p }: { info: Info; p: FailurePicture }) {
  const step = p.width_ps * p.lost.length;
  const most = Math.max(1, ...p.lost);
  const w = W / p.lost.length;
  const x = (ps: number) => (ps / Math.max(1, step)) * W;
  return (
    <a class="card" href={to(info, "fabric", { at: Math.round((p.down_ps + p.routes_ps) / 2) })}>
      <h3>Drops on a failed link: {f.count(p.drops)}</h3>
      <p class="note">
        {p.name}, down {f.time(p.down_ps)} to {f.time(p.up_ps)}
      </p>
      <svg viewBox={`0 0 ${W} ${H + 18}`} role="img" aria-label={`drops of ${p.link} over the step`}>
        <rect x={x(p.down_ps)} y={14} width={Math.max(1, x(p.up_ps) - x(p.down_ps))} height={H - 14} fill="var(--bad)" opacity="0.1" />
        {p.lost.map((n, i) => (n > 0 ? <rect x={i * w} y={H - (n / most) * (H - 30)} width={Math.max(1, w)} height={(n / most) * (H - 30)} fill="var(--bad)" /> : null))}
        <path d={`M${x(p.routes_ps)} 14V${H}`} stroke="var(--ink)" stroke-dasharray="2 3" />
        <text class="over" x={Math.min(W - 96, x(p.routes_ps) + 4)} y={24}>
          {p.routes_ps < p.up_ps ? "routes leave it" : "up again"}
        </text>
        <Axis from={0} to={step} />
      </svg>
    </a>
  );
}

function Link({ info, p }: { info: Info; p: LinkPicture }) {
  const y = (share: number) => H - Math.min(1, share) * (H - 16);
  const w = W / p.load.length;
  const area = p.load.map((v, i) => `H${i * w}V${y(v)}H${(i + 1) * w}`).join("");
  return (
    <a class="card" href={to(info, "fabric", { metric: "util", port: p.port, ...around(info, p.at_ps) })}>
      <h3>Busiest link: {f.percent(p.mean)} of line rate</h3>
      <p class="note">{p.name}</p>
      <svg viewBox={`0 0 ${W} ${H + 18}`} role="img" aria-label={`load of ${p.name} over the step`}>
        <path d={`M0 ${H}${area}V${H}Z`} fill="var(--l4)" />
        <path d={`M0 ${y(1)}H${W}`} stroke="var(--ink-3)" stroke-dasharray="2 3" />
        <text class="over" x={W} y={y(1) - 4} text-anchor="end">
          line rate {f.rate(info.ports[p.port].rate_bps)}
        </text>
        <Axis from={0} to={p.width_ps * p.load.length} />
      </svg>
    </a>
  );
}

function Ends({ info, p }: { info: Info; p: EndPicture }) {
  const late = p.last_ps - p.median_ps;
  const wide = p.last_ps - p.first_ps;
  const most = Math.max(...p.counts);
  const tallest = p.counts.indexOf(most);
  const w = W / p.counts.length;
  const x = (ps: number) => (wide > 0 ? ((ps - p.first_ps) / wide) * W : W);
  return (
    <a class="card" href={to(info, "time", { ...around(info, p.last_ps), rank: p.rank })}>
      <h3>Last rank: {p.name}</h3>
      <p class="note">
        {late > 0 && `${f.time(late)} after the median; `}
        {f.plural(p.ranks, "rank")} end within {f.time(wide)}
      </p>
      <svg viewBox={`0 0 ${W} ${H + 18}`} role="img" aria-label="when ranks ended, as a histogram">
        {p.counts.map((n, i) =>
          n === 0 ? null : (
            <rect
              x={i * w + 0.5}
              width={w - 1}
              y={H - Math.max(2, (n / most) * (H - 18))}
              height={Math.max(2, (n / most) * (H - 18))}
              fill={i === p.counts.length - 1 ? "var(--c-hash_collision)" : "var(--o-data-parallel)"}
            />
          ),
        )}
        <text x={tallest * w < W / 2 ? tallest * w : (tallest + 1) * w} y={H - (H - 18) - 4} text-anchor={tallest * w < W / 2 ? "start" : "end"}>
          {f.plural(most, "rank")}
        </text>
        {wide > 0 && late > 0 && <path d={`M${x(p.median_ps)} 18V${H}`} stroke="var(--ink)" stroke-dasharray="2 3" />}
        {wide > 0.001 * p.last_ps ? (
          <Axis from={p.first_ps} to={p.last_ps} />
        ) : (
          <>
            <path class="axis" d={`M0 ${H}H${W}`} />
            <text x={0} y={H + 14}>
              {f.time(p.first_ps)}
            </text>
            <text x={W} y={H + 14} text-anchor="end">
              +{f.time(wide)}
            </text>
          </>
        )}
      </svg>
    </a>
  );
}

function Pause({ info, p }: { info: Info; p: PausePicture }) {
  const row = Math.min(30, H / p.ports.length);
  const x = (ps: number) => ((ps - p.from_ps) / Math.max(1, p.to_ps - p.from_ps)) * W;
  return (
    <a
      class="card"
      href={to(info, "fabric", { metric: "pause", ...around(info, p.at_ps), port: p.ports[0].port })}
    >
      <h3>Longest PFC pause: {f.time(p.pause_ps)}</h3>
      <p class="note">
        {f.plural(p.ports.length - 1, "port")} up from the root, {p.ports[0].name}
      </p>
      <svg viewBox={`0 0 ${W} ${H + 18}`} role="img" aria-label="the longest pause and the ports it was paused for">
        {p.ports.map((l, i) => (
          <>
            {(l.spans ?? []).map(([a, b]) => (
              <rect
                x={x(a)}
                width={Math.max(0.7, x(b) - x(a))}
                y={i * row + 13}
                height={Math.max(3, row - 16)}
                fill="var(--c-pause)"
              />
            ))}
            <text x={0} y={i * row + 10} class={i === 0 ? "b" : ""}>
              {i === 0 ? `root: ${l.name}` : l.name}
            </text>
          </>
        ))}
        <Axis from={p.from_ps} to={p.to_ps} />
      </svg>
    </a>
  );
}

function Rate({ info, p }: { info: Info; p: RatePicture }) {
  const step = info.span_ps;
  const at = p.at_ps ?? [];
  const top = Math.max(p.line_bps, 1);
  const y = (v: number) => H - (v / top) * (H - 14);
  const x = (ps: number) => (ps / step) * W;
  const path = at.map((t, i) => `${i === 0 ? `M0 ${y(0)}` : ""}H${x(t)}V${y(Math.min(top, p.values[i]))}`).join("");
  return (
    <a class="card" href={to(info, "fabric", { qp: p.qp, metric: "queue" })}>
      <h3>
        {f.plural(p.rate_cuts, "rate reduction")} on queue pair {p.qp}
      </h3>
      <p class="note">
        Its sending rate, {p.from} → {p.to} · {info.summary.pfc_pauses === 0 ? "no PFC pauses in this run" : ""}
      </p>
      <svg viewBox={`0 0 ${W} ${H + 18}`} role="img" aria-label="sending rate of the queue pair over the step">
        <path d={`M0 ${y(top)}H${W}`} stroke="var(--ink-3)" stroke-dasharray="2 3" />
        <text x={W} y={y(top) - 4} text-anchor="end">
          line rate {f.rate(top)}
        </text>
        {at.length > 0 && <path d={`${path}H${W}`} fill="none" stroke="var(--c-rate_not_given_back)" stroke-width="1.5" />}
        <Axis from={0} to={step} />
      </svg>
    </a>
  );
}
