import type { JSX } from "preact";
import { type Info, type PortView, type QPView, view } from "./api";
import * as f from "./format";
import { ordered, rateLine } from "./passage";
import { address, set, useData } from "./state";
import { useWidth } from "./stepbar";

interface Props {
  info: Info;
  qp: number;
  from: number; // window in ps
  to: number;
  at?: number;
  span?: [number, number]; // of the message, shaded
  otherwise?: JSX.Element; // where the run has no path of it
}

/** Course is the path of a queue pair in a run of flows: how full each port was, how many queue pairs use it, and the
 * rate that was left for this one. A click sets the time. */
export function Course(props: Props) {
  const { info, qp } = props;
  const pair = useData(() => view<QPView>(info.name, `qp?id=${qp}`), [info.name, qp]);
  const hops = pair.data && ordered(info, pair.data.path);
  const ports = useData(
    hops ? () => Promise.all(hops.map((h) => view<PortView>(info.name, `port?id=${h.port}`))) : null,
    [info.name, pair.data],
  );
  if (pair.error || ports.error || (pair.data && hops!.length === 0 && pair.data.sent.at_ps.length === 0)) return props.otherwise ?? null;
  return <Lanes {...props} pair={pair.data} ports={ports.data} />;
}

/** loadOf is the mean load of a port in a window. */
function loadOf(p: PortView, from: number, to: number): number {
  const part = (s: number[]) => Math.max(0, Math.min(to, s[0] + s[1]) - Math.max(from, s[0]));
  return p.series.reduce((n, s) => n + s[2] * part(s), 0) / Math.max(1, to - from);
}

function Lanes(props: Props & { pair?: QPView; ports?: PortView[] }) {
  const { info, pair, ports, from, to } = props;
  const { box, width } = useWidth(900);
  if (!pair || !ports) return <div ref={box} class="passage" style={{ height: "330px" }} />;
  const [a, b] = props.span ?? [from, to];
  const loads = ports.map((p) => loadOf(p, a, b));
  const most = loads.indexOf(Math.max(...loads));
  const shared = ports[most];
  const small = width < 620;
  const left = small ? 166 : Math.min(0.36 * width, Math.max(170, 7 * Math.max(0, ...ports.map((p) => p.port.name.length)) + 16));
  const x = (t: number) => left + ((Math.max(from, Math.min(to, t)) - from) / Math.max(1, to - from)) * (width - left - 8);
  const line = Math.max(pair.qp.line_bps, 1);
  const at = props.at !== undefined && props.at >= from && props.at <= to ? props.at : undefined;
  const high = ports.length < 4 ? 60 : 38;
  const [top, pitch] = [30, high + 18];
  const bottom = top + pitch * (ports.length + 1) - 8;
  const y = (lane: number) => top + pitch * lane + high;
  const area = (p: PortView, base: number) =>
    p.series
      .filter((s) => s[0] < to && s[0] + s[1] > from)
      .map((s) => `M${x(s[0])} ${base}v${-s[2] * high}H${x(s[0] + s[1])}V${base}z`)
      .join("");
  const now = (p: PortView) => p.series.find((s) => s[0] <= at! && at! < s[0] + s[1])?.[2] ?? 0;
  const sends = pair.sent.at_ps.findLastIndex((t) => t <= at!);
  const rows = [
    { key: "rate", name: "Sending rate", note: at === undefined ? `queue pair ${pair.qp.qp}` : f.rate(sends < 0 ? 0 : pair.sent.values[sends]) },
    ...ports.map((p, i) => ({
      key: "load",
      name: p.port.name,
      note: `${at === undefined ? `load ${f.percent(loads[i])}` : f.percent(now(p))}, ${f.plural(p.flow_count, "queue pair")}`,
    })),
  ];
  const pick = (e: MouseEvent) => {
    const r = (e.currentTarget as Element).getBoundingClientRect();
    const t = from + ((e.clientX - r.left - left) / (width - left - 8)) * (to - from);
    if (t >= from) set({ at: Math.round(Math.min(to, t)) });
  };
  return (
    <div ref={box} class="passage course" data-testid="course">
      <svg width={width} height={bottom + 24} onClick={pick} role="img"
        aria-label={`Sending rate of queue pair ${pair.qp.qp}, and load of ${ports.map((p, i) => `${p.port.name} ${f.percent(loads[i])}`).join(", ")}`}>
        {f.axis(from, to, small ? 3 : 8).map((t) => (
          <g>
            <path class="grid" d={`M${x(t.at)} ${top - 8}V${bottom}`} />
            <text class="small" x={Math.min(x(t.at), width - 22)} y={bottom + 15} text-anchor="middle">
              {t.label}
            </text>
          </g>
        ))}
        {props.span && <rect class="span" x={x(a)} y={top - 8} width={Math.max(1, x(b) - x(a))} height={bottom - top + 8} />}
        {rows.map((r, i) => (
          <g data-lane={r.key}>
            <text class={i === 0 || i - 1 === most ? "b" : ""} x={0} y={y(i) - high + 13}>
              {small ? r.name.split(" → ")[0] : r.name}
            </text>
            <text class="small" x={0} y={y(i) - high + 28}>
              {r.note}
            </text>
            <path class="limit" d={`M${left} ${y(i) - high}H${width - 8}`} />
            {i === 0 ? (
              <path class="rate" d={rateLine(pair.sent, from, to, x, (v) => y(0) - (Math.min(v, line) / line) * high)} />
            ) : (
              <path class={i - 1 === most ? "load most" : "load"} d={area(ports[i - 1], y(i))} />
            )}
            <path class="axis" d={`M${left} ${y(i)}H${width - 8}`} />
          </g>
        ))}
        <text class="small" x={width - 10} y={top - 13} text-anchor="end">
          line rate {f.rate(line)}
        </text>
        {at !== undefined && (
          <>
            <path class="cursor" d={`M${x(at)} ${top - 8}V${bottom}`} />
            <text class="b now" x={Math.max(left + 20, Math.min(width - 150, x(at)))} y={top - 13} text-anchor="middle">
              {f.timeWithin(at, from, to)}
            </text>
          </>
        )}
      </svg>
      {shared && shared.flow_count > 1 && (
        <p class="note" data-testid="sharing">
          <a href={address(["run", info.name, "fabric"], { view: "topology", port: shared.port.port, qp: pair.qp.qp })}>{shared.port.name}</a>, the
          fullest port of its path, also carries{" "}
          {shared.flows
            .filter((o) => o.qp !== pair.qp.qp)
            .slice(0, 5)
            .map((o) => `${o.from} → ${o.to}`)
            .join(", ")}
          {shared.flow_count > 6 && ` and ${f.count(shared.flow_count - 6)} more`}.
        </p>
      )}
    </div>
  );
}
