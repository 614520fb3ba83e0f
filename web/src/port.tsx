import { useMemo } from "preact/hooks";
import { type Info, type PortRow, type PortView, type QPView, type QueueConfig, standalone, view } from "./api";
import { Chart } from "./chart";
import { ink, lines } from "./colour";
import { byFlow, NotSimulated, unsimulated } from "./flow";
import * as f from "./format";
import { address, set, useData } from "./state";

export function PortPanel({
  info,
  port,
  cursor,
  qp,
}: {
  info: Info;
  port: number;
  cursor: number;
  qp?: number;
}) {
  const { data, error } = useData(() => view<PortView>(info.name, `port?id=${port}`), [info.name, port]);
  const shown = useMemo(() => {
    if (!data) return undefined;
    const x: number[] = [];
    const value: number[][] = [[], [], [], []];
    for (const s of data.series) {
      x.push(s[0]);
      for (let i = 0; i < 4; i++) value[i].push(s[i + 2]);
    }
    const last = data.series[data.series.length - 1];
    if (last) {
      x.push(last[0] + last[1]); // a sample holds to its end
      for (let i = 0; i < 4; i++) value[i].push(last[i + 2]);
    }
    return { x, value };
  }, [data]);
  const curves = useMemo(() => {
    if (!shown) return undefined;
    const node = info.topology.nodes.find((n) => n.name === data!.port.node);
    const q = node && node.config >= 0 ? info.topology.configs?.[node.config] : undefined;
    const flat = (v: number) => shown.x.map(() => v);
    const queue = [{ label: "queue", values: shown.value[1], colour: ink("--q-mid"), fill: `${ink("--q-mid")}52` }];
    const limits = !q
      ? []
      : ([
          ["WRED min", q.wred_min_bytes, ink("--ink-3")],
          ["WRED max", q.wred_max_bytes, ink("--q-max")],
        ] as [string, number, string][]);
    const peak = Math.max(...shown.value[1], 1);
    return {
      config: q,
      queue: [
        ...queue,
        ...limits
          .filter((l) => l[1] > 0 && l[1] < 20 * peak)
          .map((l) => ({ label: l[0], values: flat(l[1]), colour: l[2], dash: [6, 4] })),
      ],
      far: limits.filter((l) => l[1] >= 20 * peak).map((l) => `${l[0]} ${f.bytes(l[1])}`),
      use: [
        { label: "utilization", values: shown.value[0], colour: ink("--o-transfer") },
        { label: "paused", values: shown.value[3], colour: ink("--c-pause") },
      ],
      marks: [{ label: "marks", values: shown.value[2], colour: ink("--c-rate_not_given_back") }],
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
  const fromHost = data.port.role === "host";
  return (
    <div class="panel" data-testid="port-panel">
      <h3>{data.port.name}</h3>
      <p>
        {f.rate(data.port.rate_bps)}, {f.bytes(data.port.wire_bytes)} on the wire,{" "}
        {byFlow(info) && `at most ${f.percent(Math.max(0, ...shown.value[0]))} of line rate in a sample`}
        {!byFlow(info) && !fromHost &&
          `${f.count(data.port.ecn_marks)} packets marked, longest queue ${f.bytes(data.port.queue_peak_bytes)}, `}
        {!byFlow(info) && `paused ${f.time(data.port.paused_ps)}`}
      </p>
      {byFlow(info) && <NotSimulated info={info} what="queues, ECN marks and PFC pauses" />}
      {!fromHost && <Ingress port={data.port} config={curves.config} />}
      {!fromHost && !byFlow(info) && (
        <Chart
          title="longest queue per sample"
          stepped
          x={shown.x}
          curves={curves.queue}
          format={f.bytes}
          cursor={cursor}
        />
      )}
      {!fromHost && !byFlow(info) && curves.far.length > 0 && <p class="hint">beyond the picture: {curves.far.join(", ")}</p>}
      <Chart
        title={byFlow(info) ? "share of line rate" : "share of line rate, and of time paused"}
        stepped
        x={shown.x}
        curves={byFlow(info) ? curves.use.slice(0, 1) : curves.use}
        format={f.percent}
        cursor={cursor}
        max={1}
        height={140}
      />
      {data.port.ecn_marks > 0 && (
        <Chart
          title="packets marked per sample"
          stepped
          x={shown.x}
          curves={curves.marks}
          format={(v) => f.count(Math.round(v))}
          cursor={cursor}
          height={130}
        />
      )}
      {byFlow(info) ? (
        data.flow_count > 0 && <h4>{f.plural(data.flow_count, "queue pair")} use{data.flow_count === 1 && "s"} it</h4>
      ) : fromHost ? (
        <p class="hint">Waits are looked at in switches; this is a NIC's own port.</p>
      ) : (
        <h4>{f.count(data.flow_count)} queue pairs went through, by the time their packets waited here</h4>
      )}
      <ul class="flows">
        {data.flows.slice(0, 30).map((x) => (
          <li>
            <button aria-pressed={x.qp === qp} onClick={() => set({ qp: x.qp === qp ? undefined : x.qp })}>
              {x.from} → {x.to}
            </button>{" "}
            {!byFlow(info) && `waited ${f.time(x.wait_ps / Math.max(1, x.packets))} per packet · `}
            <a href={address(standalone() ? ["packet"] : ["run", info.name, "packet"], { qp: x.qp })}>{byFlow(info) ? "messages" : "packets"}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Ingress says how much of what came in by a port was held, and when that pauses the sender: xOFF and xON are
 * thresholds of an ingress, whose bytes lie in the queues of many egress ports. */
function Ingress({ port, config }: { port: PortRow; config?: QueueConfig }) {
  if (port.ingress_peak_bytes === 0) return null;
  return (
    <p class="hint" data-testid="ingress">
      Its ingress held {f.bytes(port.ingress_peak_bytes)} at most
      {config?.lossless &&
        (config.xoff_bytes > 0
          ? `; it pauses its sender above xOFF, ${f.bytes(config.xoff_bytes)}, until xON` +
            (config.xon_bytes > 0 ? `, ${f.bytes(config.xon_bytes)}` : "")
          : "; its xOFF depends on the free buffer")}
      .
    </p>
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

/** PacketsOf leads to the messages and packets of a queue pair. */
const PacketsOf = ({ info, qp }: { info: Info; qp: number }) => (
  <a href={address(standalone() ? ["packet"] : ["run", info.name, "packet"], { qp })}>Messages and packets.</a>
);

export function QPPanel({ info, data, cursor }: { info: Info; data: QPView; cursor: number }) {
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
  const sent = useMemo(() => [{ label: "sent", values: data.sent.values, colour: lines[0] }], [data]);
  return (
    <div class="panel" data-testid="qp-panel">
      <h3>
        {data.qp.from} → {data.qp.to}
      </h3>
      <p>
        {byFlow(info)
          ? unsimulated("marks, rate reductions and retransmissions")
          : `${f.count(data.qp.ce_marked_packets)} of its packets were marked, congestion control reduced its rate ${f.count(data.qp.rate_cuts)} times, ${f.count(data.qp.retransmitted_packets)} packets were retransmitted.`}{" "}
        <PacketsOf info={info} qp={data.qp.qp} />
        {` Path: ${data.path.map((p) => info.ports[p.port].name).join(", ") || "not sampled"}`}
      </p>
      {data.sent.at_ps.length > 1 && (
        <Chart
          stepped
          title="Sending rate: the bytes that it sent, headers and retransmissions included"
          x={data.sent.at_ps}
          curves={sent}
          format={f.rate}
          cursor={cursor}
          max={data.qp.line_bps}
          height={140}
        />
      )}
      {charts.map((c) => (
        <Chart
          key={c.signal.name}
          stepped
          title={`${control?.title}: ${c.signal.doc}`}
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
