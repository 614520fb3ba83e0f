import { useMemo } from "preact/hooks";
import { type Info, type Total, view } from "./api";
import { Chart } from "./chart";
import { lines } from "./colour";
import { controls, cuts } from "./control";
import * as f from "./format";
import { address, useData, usePlace } from "./state";

type Row = [name: string, get: (i: Info) => number, show: (v: number) => string];

const rows: Row[] = [
  ["step time", (i) => i.summary.step_time_ps, f.time],
  ["computing", (i) => i.summary.compute_ps, f.time],
  ["exposed tensor parallel", (i) => i.summary.exposed_tp_ps, f.time],
  ["exposed data parallel", (i) => i.summary.exposed_dp_ps, f.time],
  ["exposed pipeline parallel", (i) => i.summary.exposed_pp_ps, f.time],
  ["exposed context parallel", (i) => i.summary.exposed_cp_ps, f.time],
  ["exposed expert parallel", (i) => i.summary.exposed_ep_ps, f.time],
  ["waiting for data", (i) => i.summary.exposed_data_loading_ps ?? 0, f.time],
  ["saving checkpoints", (i) => i.summary.exposed_checkpoint_ps ?? 0, f.time],
  ["other exposed communication", (i) => i.summary.exposed_other_ps, f.time],
  ["pipeline bubble", (i) => i.summary.bubble_ps, f.time],
  ["MFU", (i) => i.summary.mfu ?? 0, f.percent],
  ["mean message", (i) => i.summary.flow_completion_ps.mean, f.time],
  ["slowest message", (i) => i.summary.flow_completion_ps.max, f.time],
  ["busiest link", (i) => i.summary.links.max_utilisation, f.percent],
  ["longest queue", (i) => i.summary.queue_peak_bytes, f.bytes],
  ["ECN marks", (i) => i.summary.ecn_marks, f.count],
  ["CNPs", (i) => i.summary.cnps, f.count],
  ["cuts by congestion control", (i) => controls(i.summary).reduce((n, c) => n + cuts(c), 0), f.count],
  ["PFC pauses", (i) => i.summary.pfc_pauses, f.count],
  ["time paused", (i) => i.summary.pfc_pause_ps, f.time],
  ["drops", (i) => i.summary.drops, f.count],
  ["sent again", (i) => i.summary.retransmissions, f.count],
  ["out of order", (i) => i.summary.out_of_order, f.count],
];

/** Compare puts runs side by side on one clock. */
export function Compare() {
  const place = usePlace();
  const names = (place.args.get("runs") ?? "").split(",").filter(Boolean);
  const { data, error } = useData(
    () =>
      Promise.all(
        names.map(async (n) => ({ info: await view<Info>(n, "info"), total: await view<Total>(n, "total") })),
      ),
    [names.join()],
  );
  const curves = useMemo(() => {
    if (!data || data.length === 0) return undefined;
    const end = Math.max(...data.map((d) => d.total.width_ps * d.total.cols.length));
    const x = Array.from({ length: 480 }, (_, i) => ((i + 0.5) * end) / 480);
    const of = (k: number) =>
      data.map((d, i) => ({
        label: d.info.name,
        colour: lines[i % lines.length],
        values: x.map((t) => d.total.cols[Math.floor(t / d.total.width_ps)]?.[k] ?? null),
      }));
    return { x, sent: of(0), marks: of(1), queue: of(3) };
  }, [data]);
  if (names.length === 0)
    return (
      <p class="hint">
        Choose runs in the <a href={address(["runs"])}>list</a> and press compare.
      </p>
    );
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data || !curves) return <p class="hint">loading…</p>;
  const settings = [...new Set(data.flatMap((d) => Object.keys(d.info.manifest.resolved)))]
    .filter((k) => new Set(data.map((d) => d.info.manifest.resolved[k])).size > 1)
    .sort();
  return (
    <section aria-label="Compare">
      <h2>{names.length} runs on one clock</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="figures of the runs">
        <table data-testid="compare">
          <thead>
            <tr>
              <th>
                <span class="hidden">figure</span>
              </th>
              {data.map((d) => (
                <th class="n">
                  <a href={address(["run", d.info.name])}>{d.info.name}</a>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, get, show]) => {
              const v = data.map((d) => get(d.info) ?? 0);
              if (v.every((x) => x === 0)) return null;
              return (
                <tr>
                  <th scope="row">{name}</th>
                  {v.map((x, i) => (
                    <td class="n">
                      {show(x)}
                      {i > 0 && v[0] > 0 && x !== v[0] && (
                        <small>
                          {" "}
                          {x > v[0] ? "+" : "−"}
                          {Math.abs(100 * (x / v[0] - 1)).toFixed(0)} %
                        </small>
                      )}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {settings.length > 0 && (
        <details open={settings.length <= 12} data-testid="settings">
          <summary>{settings.length} settings differ</summary>
          <table>
            <tbody>
              {settings.slice(0, 200).map((k) => (
                <tr>
                  <th scope="row" class="setting">
                    {k}
                  </th>
                  {data.map((d) => (
                    <td class="mono">{d.info.manifest.resolved[k] ?? "–"}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
      <Chart
        title="what servers send into the network"
        x={curves.x}
        curves={curves.sent}
        format={f.rate}
        height={200}
      />
      <Chart title="longest queue" x={curves.x} curves={curves.queue} format={f.bytes} height={180} />
      <Chart
        title="packets marked"
        x={curves.x}
        curves={curves.marks}
        format={(v) => f.count(Math.round(v))}
        height={180}
      />
    </section>
  );
}
