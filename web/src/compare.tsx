import { useEffect, useMemo, useState } from "preact/hooks";
import * as api from "./api";
import { type Info, type Total, view } from "./api";
import { Bars, Waterfall } from "./causes";
import { Chart } from "./chart";
import { lines } from "./colour";
import { ManyRuns } from "./many";
import { controls, cuts } from "./control";
import { byFlow, unsimulated } from "./flow";
import * as f from "./format";
import { address, set, useData, usePlace } from "./state";

type Row = [name: string, get: (i: Info) => number, show: (v: number) => string];

const rows: Row[] = [
  ["step time", (i) => i.summary.step_time_ps, f.time],
  ["compute", (i) => i.summary.compute_ps, f.time],
  ["exposed tensor parallel", (i) => i.summary.exposed_tp_ps, f.time],
  ["exposed data parallel", (i) => i.summary.exposed_dp_ps, f.time],
  ["exposed pipeline parallel", (i) => i.summary.exposed_pp_ps, f.time],
  ["exposed context parallel", (i) => i.summary.exposed_cp_ps, f.time],
  ["exposed expert parallel", (i) => i.summary.exposed_ep_ps, f.time],
  ["waiting for data", (i) => i.summary.exposed_data_loading_ps ?? 0, f.time],
  ["writing checkpoints", (i) => i.summary.exposed_checkpoint_ps ?? 0, f.time],
  ["transfers and waits", (i) => i.summary.exposed_other_ps, f.time],
  ["pipeline bubble", (i) => i.summary.bubble_ps, f.time],
  ["MFU", (i) => i.summary.mfu ?? 0, f.percent],
  ["mean message", (i) => i.summary.flow_completion_ps.mean, f.time],
  ["slowest message", (i) => i.summary.flow_completion_ps.max, f.time],
  ["busiest link", (i) => i.summary.links.max_utilisation, f.percent],
  ["longest queue", (i) => i.summary.queue_peak_bytes, f.bytes],
  ["ECN marks", (i) => i.summary.ecn_marks, f.count],
  ["CNPs", (i) => i.summary.cnps, f.count],
  ["rate reductions", (i) => controls(i.summary).reduce((n, c) => n + cuts(c), 0), f.count],
  ["PFC pauses", (i) => i.summary.pfc_pauses, f.count],
  ["time paused", (i) => i.summary.pfc_pause_ps, f.time],
  ["drops", (i) => i.summary.drops, f.count],
  ["retransmitted", (i) => i.summary.retransmissions, f.count],
  ["out of order", (i) => i.summary.out_of_order, f.count],
];

/** packets are the figures that flows do not have. */
const packets = new Set([
  "longest queue",
  "ECN marks",
  "CNPs",
  "rate reductions",
  "PFC pauses",
  "time paused",
  "drops",
  "retransmitted",
  "out of order",
]);
/** neither are figures of which more is neither better nor worse. */
const neither = new Set(["compute", "busiest link", "ECN marks", "CNPs", "rate reductions", "out of order"]);

/** unlike names what makes the step times of runs differ in the work itself: such runs say nothing of the fabric. */
function unlike(all: Info[]): string[] {
  const kinds: [string, (i: Info) => unknown][] = [
    ["the model", (i) => i.summary.parameters ?? 0],
    ["the tokens of a step", (i) => i.summary.tokens ?? 0],
    ["the steps", (i) => i.summary.steps ?? 1],
    ["the number of GPUs", (i) => i.summary.training_gpus || i.summary.gpus],
    ["the bytes sent", (i) => (i.summary.parameters ? 0 : i.summary.network_bytes)],
  ];
  return kinds.filter(([, get]) => new Set(all.map(get)).size > 1).map(([name]) => name);
}

/** doubt warns of runs by flows, with the largest error to expect of them, as railyard compare does. */
function doubt(all: Info[]): string {
  const flows = all.filter(byFlow);
  const [e] = flows.flatMap((i) => i.summary.expected_error ?? []).sort((a, b) => b.worst - a.worst);
  if (!e) return "";
  const few = e.cases < 5; // a small error of few cases promises nothing
  const error = few && e.worst < 0.1 ? "error unknown, measured in few cases" : `error up to ${f.percent(e.worst)} in ${few ? "few" : "measured"} cases`;
  const whose = flows.length < all.length ? `: ${flows.map((i) => i.name).join(", ")}` : "";
  return `Simulated as flows, ${error}${whose}. Smaller differences may not be real.`;
}

/** Following is a simulation that runs: its progress, until its run is there to compare. */
function Following({ id, runs }: { id: string; runs: string }) {
  const [tick, again] = useState(0);
  const jobs = useData(api.jobs, [tick]);
  const job = (jobs.data ?? []).find((j) => j.id === id);
  useEffect(() => {
    if (job?.state === "done" && job.run) set({ runs: `${runs},${job.run}`, job: undefined });
    if (job && job.state !== "running") return;
    const timer = setTimeout(() => again((t) => t + 1), 500);
    return () => clearTimeout(timer);
  }, [jobs.data]);
  if (!job) return jobs.data ? <p class="hint">The server has no simulation {id} any more.</p> : null;
  const share = job.total_bytes > 0 ? job.delivered_bytes / job.total_bytes : 0;
  return (
    <div class="panel" data-testid="following">
      <p class={`state ${job.state === "running" ? "running" : "failed"}`}>
        <i />
        <span>
          {(job.sets ?? []).join(" ")}: {job.state}
          {job.state === "running" && `, ${f.percent(share)} delivered, ${f.time(job.now_ps)} simulated`}
          {job.seconds_left > 0 && `, about ${Math.ceil(job.seconds_left)} s left`}
        </span>
        {job.state === "running" && <button onClick={() => api.stop(id)}>Cancel</button>}
      </p>
      <progress max={1} value={share} aria-label="share of bytes delivered" />
      {job.error && <p class="error">{job.error}</p>}
    </div>
  );
}

/** apart is the title of runs that do different work: neither is better. */
const apart = (a: Info, b: Info) =>
  `${f.whole(a.name)} takes ${f.time(a.summary.step_time_ps)} and ${f.whole(b.name)} ${f.time(b.summary.step_time_ps)}, for different work.`;

const few = 12; // settings listed before the rest is folded

const beside = 6; // runs that stand side by side; more become points

/** Compare puts runs side by side, or shows many as points. */
export function Compare() {
  const names = (usePlace().args.get("runs") ?? "").split(",").filter(Boolean);
  return names.length > beside ? <ManyRuns runs={names} /> : <Beside />;
}

/** Beside puts runs side by side: what differs, their causes, and how the step changes from A to B. */
function Beside() {
  const place = usePlace();
  const names = (place.args.get("runs") ?? "").split(",").filter(Boolean);
  const job = place.args.get("job");
  // Runs that were deleted or cannot be read are named; the others are compared.
  const loaded = useData(async () => {
    const all = await Promise.allSettled(
      names.map(async (n) => ({ info: await view<Info>(n, "info"), total: await view<Total>(n, "total") })),
    );
    const lost = all.flatMap((r) => (r.status === "rejected" ? [(r.reason as Error).message] : []));
    const data = all.flatMap((r) => (r.status === "fulfilled" ? [r.value] : []));
    if (data.length === 0 && lost.length > 0) throw new Error(lost.join("\n"));
    return { data, lost };
  }, [names.join()]);
  const { data, lost } = loaded.data ?? {};
  const error = loaded.error;
  const curves = useMemo(() => {
    if (!data || data.length === 0) return undefined;
    const end = Math.max(...data.map((d) => d.total.width_ps * d.total.cols.length));
    const x = Array.from({ length: 480 }, (_, i) => ((i + 0.5) * end) / 480);
    const of = (k: number) =>
      data.map((d, i) => ({
        label: d.info.name,
        colour: lines[i % lines.length],
        // Flows have neither marks nor queues: no curve, instead of one at 0.
        values: x.map((t) => (k > 0 && byFlow(d.info) ? null : (d.total.cols[Math.floor(t / d.total.width_ps)]?.[k] ?? null))),
      }));
    return { x, sent: of(0), marks: of(1), queue: of(3) };
  }, [data]);
  if (names.length === 0)
    return (
      <p class="empty">
        Nothing to compare: no run is selected. Tick two or more in the <a href={address(["runs"])}>list</a>, then press compare.
      </p>
    );
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data || !curves) return <p class="loading">Loading {f.plural(names.length, "run")}…</p>;
  const infos = data.map((d) => d.info);
  const a = infos.find((i) => i.name === place.args.get("a")) ?? infos[0];
  const others = infos.filter((i) => i !== a);
  // A run of another fidelity is compared where there is no other.
  const other = (i: Info) => Number(fidelityOf(i) !== fidelityOf(a));
  const fastest = [...others].sort((x, y) => other(x) - other(y) || x.summary.step_time_ps - y.summary.step_time_ps)[0];
  const b = others.find((i) => i.name === place.args.get("b")) ?? fastest;
  const settings = settingsOf(infos)
    // What was chosen before what follows from it; what all runs have before what one algorithm has alone.
    .sort((x, y) => Number(follows(x)) - Number(follows(y)) || absent(x, infos) - absent(y, infos) || (x < y ? -1 : 1));
  const warned = unlike(infos);
  const bars = <Bars infos={infos} a={a} b={b} choose={(name) => set({ b: name })} />;
  return (
    <section aria-label="Compare" class="wrap">
      <p class="eyebrow">
        Compare · {f.plural(infos.length, "run")}
        {new Set(infos.map((i) => i.summary.name)).size === 1 && ` of ${infos[0].summary.name}`}
      </p>
      <h1 data-testid="verdict">{b && warned.length > 0 ? apart(a, b) : verdict(a, b)}</h1>
      {warned.length > 0 && (
        <p class="warn" role="alert" data-testid="unlike">
          These runs differ in {warned.join(" and ")}: step times do not compare the fabric.
        </p>
      )}
      {(lost ?? []).map((why) => (
        <p class="warn" data-testid="left-out">
          Not compared: {why}.
        </p>
      ))}
      {doubt(infos) && (
        <p class="warn" data-testid="doubt">
          {doubt(infos)}
        </p>
      )}
      {!b && !job && <Others of={a} />}
      {job && <Following id={job} runs={names.join(",")} />}
      {infos.length < 4 && b ? (
        <div class="sides">
          <div>
            {bars}
            <Results infos={infos} a={a} b={b} judge={warned.length === 0} />
          </div>
          <div>
            <Waterfall a={a} b={b} judge={warned.length === 0} />
            <Reading a={a} b={b} infos={infos} keys={settings} />
            {settings.length > 0 && <Settings keys={settings} infos={infos} a={a} b={b} />}
          </div>
        </div>
      ) : (
        <>
          <div class="split even">
            {bars}
            {b && <Waterfall a={a} b={b} judge={warned.length === 0} />}
          </div>
          {b && <Reading a={a} b={b} infos={infos} keys={settings} />}
          {settings.length > 0 && <Settings keys={settings} infos={infos} a={a} b={b} />}
          <Results infos={infos} a={a} b={b} judge={warned.length === 0} />
        </>
      )}
      <details>
        <summary>Over time</summary>
        <Chart
          title="Sent into the network by servers"
          x={curves.x}
          curves={curves.sent}
          format={f.rate}
          height={200}
        />
        <Chart title="Longest queue" x={curves.x} curves={curves.queue} format={f.bytes} height={180} />
        <Chart
          title="Packets marked"
          x={curves.x}
          curves={curves.marks}
          format={(v) => f.count(Math.round(v))}
          height={180}
        />
      </details>
    </section>
  );
}

/** lettered are runs with their letters in the comparison, A and B first. */
const lettered = (infos: Info[], a: Info, b?: Info): [string, Info][] => [
  ["A", a],
  ...(b ? [["B", b] as [string, Info]] : []),
  ...infos.filter((i) => i !== a && i !== b).map((i): [string, Info] => ["", i]),
];

/** Results are the figures of runs, with a column of the changes from A to B: green where B is better, red where it is
 * worse, and in ink where more is neither, or the runs do different work. */
function Results({ infos, a, b, judge }: { infos: Info[]; a: Info; b?: Info; judge: boolean }) {
  const all = lettered(infos, a, b);
  const change = (from: number, to: number, show: Row[2]) => {
    if (!(from > 0) || Number.isNaN(to)) return to > 0 ? "new" : "";
    if (Math.abs(to / from - 1) < 0.0005) return "=";
    return show === f.percent ? f.points(to - from) : f.changePercent(to / from - 1);
  };
  return (
    <div class="last">
      <div class="head">
        <h2>Results</h2>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="figures of the runs">
        <table class="narrow" data-testid="compare">
          <thead>
            <tr>
              <th>
                <span class="hidden">figure</span>
              </th>
              {all.flatMap(([letter, i]) => [
                <th class="n">
                  {letter && <b>{letter} </b>}
                  <a href={address(["run", i.name])}>{i.name}</a>
                </th>,
                letter === "B" && <th class="n">A to B</th>,
              ])}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, get, show]) => {
              const v = all.map(([, i]) => (packets.has(name) && byFlow(i) ? NaN : (get(i) ?? 0)));
              if (v.every((x) => !(x > 0))) return null;
              const slight = Math.abs(v[1] / v[0] - 1) < 0.005; // neither better nor worse
              const good = !judge || slight || neither.has(name) ? "" : v[1] < v[0] === (name !== "MFU") ? "gain" : "loss";
              const words = b && !Number.isNaN(v[0]) && !Number.isNaN(v[1]) ? change(v[0], v[1], show) : "";
              return (
                <tr>
                  <th scope="row">{name}</th>
                  {v.flatMap((x, k) => [
                    <td class="n">
                      {Number.isNaN(x) ? "–" : show(x)}
                      {!all[k][0] && v[0] > 0 && Math.abs(x / v[0] - 1) >= 0.0005 && <small> {change(v[0], x, show)}</small>}
                    </td>,
                    all[k][0] === "B" && <td class={`n delta ${words === "=" ? "" : good}`}>{words}</td>,
                  ])}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {infos.some(byFlow) && <p class="note">{unsimulated("figures of queues and packets without a value")}</p>}
    </div>
  );
}

/** Others offers runs to compare one with: those of its scenario first. */
function Others({ of }: { of: Info }) {
  const { data } = useData(api.runs, []);
  if (!data) return null;
  const rest = data.filter((e) => !e.error && e.name !== of.name && e.complete);
  const same = rest.filter((e) => e.title === of.summary.name);
  const list = (same.length > 0 ? same : rest).slice(0, 8);
  return (
    <div class="panel" data-testid="others">
      <p>
        Nothing to compare with yet: a comparison needs two runs or more.{" "}
        {list.length === 0
          ? "This folder has no other completed run: press Run this variant in the Answer, or start a run."
          : same.length > 0
            ? `Other runs of ${of.summary.name}:`
            : `No other run of ${of.summary.name} is here; runs of other scenarios compare the work as well as the fabric:`}
      </p>
      <p class="kinds">
        {list.map((e) => (
          <a class="button" href={address(["compare"], { runs: `${of.name},${e.name}` })}>
            {e.name} <small>{f.time(e.step_time_ps)}</small>
          </a>
        ))}
        <a class="button" href={address(["run", of.name, "answer"])}>
          Answer of {of.name}
        </a>
      </p>
    </div>
  );
}

/** fidelityOf names how a run was simulated. */
const fidelityOf = (i: Info) => i.summary.fidelity || "packet";

/** estimates is the title of runs of different fidelities: the difference is the estimate's error where nothing else
 * differs, and no gain in any case. */
function estimates(a: Info, b: Info): string {
  const [packet, flow] = byFlow(a) ? [b, a] : [a, b];
  const share = flow.summary.step_time_ps / Math.max(1, packet.summary.step_time_ps) - 1;
  const same = settingsOf([a, b]).every((k) => /fidelity/.test(k) || follows(k));
  const off = `${f.percent(Math.abs(share))} too ${share < 0 ? "short" : "long"} here`;
  return (
    `Fidelity ${fidelityOf(flow)} estimates ${f.time(flow.summary.step_time_ps)} (${flow.name})` +
    (same
      ? `: ${off}, ${f.time(packet.summary.step_time_ps)} with fidelity ${fidelityOf(packet)}.`
      : `; ${packet.name} takes ${f.time(packet.summary.step_time_ps)} with fidelity ${fidelityOf(packet)}. The fidelities differ, so this is no gain.`)
  );
}

/** settingsOf are the settings in which runs differ. What an entry of a list leaves empty is as if the run had no such
 * entry. */
const settingsOf = (infos: Info[]) => {
  const given = (d: Info, k: string) => d.manifest.resolved[k]?.replace(k.includes("].") ? /^(0[a-zA-Z]*|false)$/ : /^$/, "") ?? "";
  return [...new Set(infos.flatMap((d) => Object.keys(d.manifest.resolved)))].filter((k) => new Set(infos.map((d) => given(d, k))).size > 1);
};

/** verdict says which of two runs ends first, and by how much. */
function verdict(a: Info, b: Info | undefined): string {
  if (!b) return `${a.name} takes ${f.time(a.summary.step_time_ps)}.`;
  if (fidelityOf(a) !== fidelityOf(b)) return estimates(a, b);
  const d = b.summary.step_time_ps - a.summary.step_time_ps;
  const share = Math.abs(d) / Math.max(1, a.summary.step_time_ps);
  if (share < 0.0005) return `${b.name} takes as long as ${a.name}.`;
  return `${b.name} finishes ${f.time(Math.abs(d))} (${share < 9.995 ? f.percent(share) : `× ${f.count(Math.round(share + 1))}`}) ${d < 0 ? "earlier" : "later"} than ${a.name}.`;
}

/** follows reports whether a value is computed from others, or names and describes the run alone. */
const follows = (key: string) => key.startsWith("computed.") || key === "name" || key === "about";

/** absent counts the runs that have no such setting. */
const absent = (key: string, infos: Info[]) => infos.filter((i) => i.manifest.resolved[key] === undefined).length;

/** Settings are what differs, before any result. */
function Settings({ keys, infos, a, b }: { keys: string[]; infos: Info[]; a: Info; b?: Info }) {
  const all = lettered(infos, a, b);
  const listed = Math.min(few, keys.filter((k) => absent(k, infos) === 0 && !follows(k)).length || few);
  const computed = keys.filter(follows).length;
  // Of runs of one scenario what was set differs, and the other values follow from it.
  const set = infos.every((i) => i.manifest.scenario === infos[0].manifest.scenario)
    ? [...new Set(infos.flatMap((i) => i.manifest.set ?? []))].filter((x) => !infos.every((i) => (i.manifest.set ?? []).includes(x)))
    : [];
  const few1 = set.length > 0 && set.length < keys.length - computed;
  const table = (some: string[]) => (
    <table class="narrow">
      <thead>
        <tr>
          <th>setting</th>
          {all.map(([letter, i]) => (
            <th class="n">
              {letter && <b>{letter} </b>}
              {i.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {some.map((k) => (
          <tr>
            <th scope="row" class="mono">
              {k}
            </th>
            {all.map(([, i]) => (
              <td class="n">{i.manifest.resolved[k] ?? "–"}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  return (
    <div data-testid="settings">
      <div class="head">
        <h2>
          {few1
            ? `${f.plural(set.length, "setting")} set: ${set.join(", ")}`
            : `${f.plural(keys.length - computed, "setting")} differ${keys.length - computed === 1 ? "s" : ""}`}
        </h2>
      </div>
      {few1 && <p class="note">{f.plural(keys.length - computed, "value")} differ with it.</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label="settings that differ">
        {table(keys.slice(0, listed))}
        {keys.length > listed && (
          <details>
            <summary>
              {keys.length - listed} more, some of one algorithm alone{computed > 0 && `, ${f.plural(computed, "computed value")}`}
            </summary>
            {table(keys.slice(listed, 300))}
          </details>
        )}
      </div>
    </div>
  );
}

/** Reading says what the sums of the waterfall mean, and how far one seed goes. */
function Reading({ a, b, infos, keys }: { a: Info; b: Info; infos: Info[]; keys: string[] }) {
  const [x, y] = [a.summary.chain, b.summary.chain];
  if (!x || !y) return null;
  const need = ["compute_ps", "line_rate_ps"].reduce((n, k) => n + (y[k] ?? 0) - (x[k] ?? 0), 0);
  const step = b.summary.step_time_ps - a.summary.step_time_ps;
  const seeds = infos.filter((i) => i.summary.seed !== a.summary.seed);
  const alone = keys.every((k) => k === "seed");
  const spread = Math.max(...infos.map((i) => i.summary.step_time_ps)) - Math.min(...infos.map((i) => i.summary.step_time_ps));
  return (
    <p class="note" data-testid="reading">
      Losses change by {f.change(step - need)}, the step by {f.change(step)}.
      {Math.abs(need) > 0.001 * a.summary.step_time_ps &&
        ` The other ${f.change(need)} are compute and line rate${unlike([a, b]).length > 0 ? " of other work" : need > 0 ? ": the critical path moves to work that lost time hid" : " that the critical path of B no longer contains"}.`}{" "}
      {alone && seeds.length > 0
        ? `Runs differ by seed alone: ${f.plural(infos.length, "seed")} spread over ${f.time(spread)}.`
        : seeds.length === 0
          ? "One seed each: run other seeds to see how far a difference is chance."
          : ""}
    </p>
  );
}
