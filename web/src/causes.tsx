import type { Info } from "./api";
import { causeColour } from "./colour";
import * as f from "./format";
import { useWidth } from "./stepbar";

// The causes of an account in the order of bars; names as causes.go has them.
export const names: [string, string][] = [
  ["compute", "compute"],
  ["line_rate", "line rate"],
  ["latency", "latency"],
  ["rate_not_given_back", "CC recovering"],
  ["window_too_small", "window limit"],
  ["waiting_for_credit", "credit wait"],
  ["hash_collision", "ECMP hash collision"],
  ["spray_imbalance", "spray imbalance"],
  ["oversubscription", "oversubscription"],
  ["failed_capacity", "failed capacity"],
  ["slow_link", "slow link"],
  ["incast", "incast"],
  ["pause", "PFC pauses"],
  ["sent_again", "retransmission"],
  ["reordering", "reordering treated as loss"],
  ["reorder_memory", "reorder memory overflow"],
  ["trimmed", "trimmed packets"],
  ["shared_nic", "shared NIC or NVLink port"],
  ["storage_media", "storage media"],
  ["storage_nic", "storage servers' NICs"],
  ["one_port", "one port of a bundle"],
  ["pcie", "PCIe"],
  ["host_cores", "host cores"],
  ["late", "late rank"],
  ["slow_rank", "slow rank"],
  ...outside(),
];

/** outside lists the causes that extensions add, as the page carries them. */
function outside(): [string, string][] {
  return JSON.parse(document.getElementById("railyard-causes")?.textContent || "[]");
}

/** isSlowest reports whether a message is the one that the run explains. */
export function isSlowest({ summary: s }: Info, m: Flow): boolean {
  const x = s.slowest_flow;
  return !!x && x.from === m.from && x.to === m.to && x.bytes === m.bytes && x.time_ps === m.done_ps - m.posted_ps;
}

/** slowestOf is the message of a list that the run explains, else its first, which took longest. */
export const slowestOf = <T extends Flow>(info: Info, list: T[]): T | undefined => list.find((m) => isSlowest(info, m)) ?? list[0];

interface Flow {
  from: string;
  to: string;
  bytes: number;
  posted_ps: number;
  done_ps: number;
  causes?: object;
}

/** costs is what a cause costs in an account, as all views give it: its own time and that of CC recovering after it. */
export function costs(account: Record<string, number> | undefined, key: string): number {
  if (!account) return 0;
  if (key !== "rate_not_given_back") return (account[key + "_ps"] ?? 0) + (account[key + "_reaction_ps"] ?? 0);
  return Object.entries(account).reduce((n, [k, ps]) => (k.endsWith("_reaction_ps") ? n - ps : n), account.rate_not_given_back_ps ?? 0);
}

const of = (i: Info, key: string) => costs(i.summary.chain, key);
const letters = (all: string[]) => Math.max(0, ...all.map((s) => s.length));

/** Bars are runs, the fastest first, as their steps by cause; A and B are outlined. */
export function Bars(props: { infos: Info[]; a: Info; b?: Info; choose: (name: string) => void }) {
  const { box, width } = useWidth(600);
  const all = [...props.infos].sort((x, y) => x.summary.step_time_ps - y.summary.step_time_ps);
  const top = Math.max(...all.map((i) => i.summary.step_time_ps), 1);
  const present = names.filter(([k]) => all.some((i) => of(i, k) >= 0.002 * top));
  const left = Math.min(width * 0.36, 28 + letters(all.map((i) => i.name)) * 7.4);
  const right = 128;
  const x = (ps: number) => left + (ps / top) * (width - left - right);
  const row = all.length > 10 ? 24 : 36;
  const ticks = f.axis(0, top, 5);
  const base = all.length * row + 6;
  const clip = (s: string) => {
    const n = Math.floor((left - 26) / 7);
    return s.length > n ? s.slice(0, n - 1) + "…" : s;
  };
  return (
    <div>
      <h2>Step by cause</h2>
      <p class="kinds">
        {present.map(([k, name]) => (
          <span>
            <i style={{ background: causeColour(k) }} />
            {name}
          </span>
        ))}
      </p>
      <div class="plot" ref={box}>
        <svg width={width} height={base + 22} role="img" aria-label="steps of the runs by cause">
          {ticks.map((t) => (
            <>
              <path class="grid" d={`M${x(t.at)} 0V${base}`} />
              <text x={x(t.at)} y={base + 14} text-anchor={t.at === 0 ? "start" : "middle"}>
                {t.label}
              </text>
            </>
          ))}
          {all.map((i, n) => {
            const y = n * row + 6;
            let at = 0;
            const mark = i === props.a ? "A" : i === props.b ? "B" : "";
            const d = i.summary.step_time_ps - props.a.summary.step_time_ps;
            return (
              <g
                data-run={i.name}
                class="pick"
                onClick={() => i !== props.a && props.choose(i.name)}
              >
                <title>{`${i.name}: ${f.time(i.summary.step_time_ps)}`}</title>
                <text class="b" x={0} y={y + row / 2}>
                  {mark}
                </text>
                <text class={mark ? "b" : ""} x={16} y={y + row / 2}>
                  {clip(i.name)}
                </text>
                {(i.summary.chain ? names : []).map(([k, name]) => {
                  const ps = of(i, k);
                  if (ps <= 0) return null;
                  const from = x(at);
                  at += ps;
                  return (
                    <rect
                      data-cause={k}
                      data-ps={ps}
                      x={from}
                      y={y}
                      width={Math.max(0.3, x(at) - from - (x(at) - from > 3 ? 1 : 0))}
                      height={row - 14}
                      fill={causeColour(k)}
                    >
                      <title>{`${name} ${f.time(ps)}`}</title>
                    </rect>
                  );
                })}
                {!i.summary.chain && (
                  <rect
                    x={left}
                    y={y}
                    width={x(i.summary.step_time_ps) - left}
                    height={row - 14}
                    fill="var(--o-wait)"
                  />
                )}
                {mark && (
                  <rect
                    x={left - 2}
                    y={y - 2.5}
                    width={x(i.summary.step_time_ps) - left + 4}
                    height={row - 9}
                    fill="none"
                    stroke="var(--ink)"
                    rx={2}
                  />
                )}
                <text x={width - 60} y={y + row / 2} text-anchor="end" fill="var(--ink-3)">
                  {i === props.a ? "–" : f.change(d)}
                </text>
                <text class="b" x={width} y={y + row / 2} text-anchor="end">
                  {f.time(i.summary.step_time_ps)}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
      {all.length > 2 && (
        <label class="note">
          B{" "}
          <select value={props.b?.name} onChange={(e) => props.choose(e.currentTarget.value)}>
            {all
              .filter((i) => i !== props.a)
              .map((i) => (
                <option>{i.name}</option>
              ))}
          </select>
        </label>
      )}
    </div>
  );
}

/** Waterfall is the change of each cause from A to B: what ends the step earlier goes left, and is judged where both do
 * the same work. */
export function Waterfall({ a, b, judge = true }: { a: Info; b: Info; judge?: boolean }) {
  const { box, width } = useWidth(600);
  const [from, to] = [a.summary.step_time_ps, b.summary.step_time_ps];
  if (!a.summary.chain || !b.summary.chain)
    return (
      <div>
        <h2>From A to B</h2>
        <p class="empty" data-testid="no-causes">
          No causes to compare:{" "}
          {[a, b]
            .filter((i) => !i.summary.chain)
            .map((i) => `${i.name} ${i.summary.complete ? "records no critical path (an earlier version wrote it)" : "did not complete"}`)
            .join(", ")}
          . Completed runs of this version have them.
        </p>
      </div>
    );
  // What the step loses first, the largest change first; then what it needs.
  const steps = names
    .map(([key, name]) => ({ key, name, d: of(b, key) - of(a, key), needs: key === "compute" || key === "line_rate" }))
    .filter((s) => Math.abs(s.d) >= 0.0005 * from)
    .sort((x, y) => Number(x.needs) - Number(y.needs) || Math.abs(y.d) - Math.abs(x.d));
  const listed = steps.reduce((n, s) => n + s.d, 0);
  if (Math.abs(to - from - listed) >= 1e-4 * from) steps.push({ key: "rest", name: "below 0.05 %", d: to - from - listed, needs: true });
  let at = from;
  const levels = steps.map((s) => {
    const was = at;
    at += s.d;
    return { ...s, was, is: at };
  });
  const all = [from, to, ...levels.map((l) => l.is)];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  // The axis is broken where nothing changes, and says so.
  const start = low > 0.4 * high ? low - 0.25 * (high - low || high) : 0;
  const left = Math.min(width * 0.36, 190);
  const x = (ps: number) => left + ((ps - start) / Math.max(1, high - start)) * (width - left - 80);
  const row = 30;
  const rows = levels.length + 2;
  const base = rows * row + 4;
  const ticks = f.axis(start, high, 4);
  const whole = (i: Info, name: string, n: number) => {
    const y = n * row + 4;
    const end = x(i.summary.step_time_ps);
    return (
      <>
        <text class="b" x={0} y={y + 14}>
          {name}
        </text>
        <path
          d={start > 0 ? `M${left} ${y}H${end}V${y + 20}H${left}l5 -5l-5 -5l5 -5z` : `M${left} ${y}H${end}V${y + 20}H${left}z`}
          fill="var(--c-compute)"
        />
        <text class="b" x={end + 6} y={y + 14}>
          {f.time(i.summary.step_time_ps)}
        </text>
      </>
    );
  };
  return (
    <div>
      <h2>From A to B</h2>
      <p class="note">
        Change of each cause along the critical path.
        {start > 0 && ` Broken axis: starts at ${f.time(start)}.`}
      </p>
      <div class="plot" ref={box} data-testid="waterfall">
        <svg width={width} height={base + 22} role="img" aria-label="change of the step by cause, from A to B">
          {ticks.map((t) => (
            <>
              <path class="grid" d={`M${x(t.at)} 0V${base}`} />
              <text x={x(t.at)} y={base + 14} text-anchor="middle">
                {t.label}
              </text>
            </>
          ))}
          {whole(a, "A", 0)}
          {levels.map((l, i) => {
            const y = (i + 1) * row + 4;
            const [x0, x1] = [x(Math.min(l.was, l.is)), x(Math.max(l.was, l.is))];
            return (
              <g data-cause={l.key} data-ps={l.d}>
                <path class="axis" d={`M${x(l.was)} ${y - 10}V${y}`} />
                <text x={0} y={y + 14}>
                  {l.name}
                </text>
                <rect
                  x={x0}
                  y={y}
                  width={Math.max(1, x1 - x0)}
                  height={20}
                  fill={l.key === "rest" ? "var(--line-2)" : causeColour(l.key)}
                />
                <text class={l.needs || !judge ? "" : l.d < 0 ? "gain" : "loss"} x={x1 + 6} y={y + 14}>
                  {f.change(l.d)}
                </text>
              </g>
            );
          })}
          {whole(b, "B", rows - 1)}
        </svg>
      </div>
    </div>
  );
}
