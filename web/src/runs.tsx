import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as api from "./api";
import * as f from "./format";
import { address, set, useData, usePlace } from "./state";

type Key = "title" | "at" | "step_time_ps" | "gpus" | "mfu" | "lb" | "ecn_marks" | "pfc_pauses";
const heads: [Key, string][] = [
  ["title", "run"],
  ["step_time_ps", "step time"],
  ["mfu", "MFU"],
  ["gpus", "GPUs"],
  ["lb", "load balancing"],
  ["ecn_marks", "ECN marks"],
  ["pfc_pauses", "pauses"],
  ["at", "written"],
];

const figures = new Set<Key>(["step_time_ps", "mfu", "gpus", "ecn_marks", "pfc_pauses"]);

export function Runs() {
  const place = usePlace();
  const filter = place.args.get("filter") ?? "";
  const sort = (place.args.get("sort") ?? "at") as Key;
  const down = place.args.get("down") !== "0";
  const [tick, again] = useState(0);
  const { data, error } = useData(api.runs, [tick]);
  const jobs = useData(api.jobs, [tick]);
  const [chosen, choose] = useState<string[]>([]);
  const running = (jobs.data ?? []).filter((j) => j.state === "running").length;
  useEffect(() => {
    const timer = setInterval(() => again((t) => t + 1), running > 0 ? 700 : 5000);
    return () => clearInterval(timer);
  }, [running > 0]);
  const last = useRef<api.Entry[]>([]);
  if (data) last.current = data;
  const rows = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = last.current.filter((e) =>
      words.every((w) => `${e.name} ${e.title} ${e.lb} ${e.error ?? ""}`.toLowerCase().includes(w)),
    );
    return [...fits].sort((a, b) => (a[sort] < b[sort] ? -1 : a[sort] > b[sort] ? 1 : 0) * (down ? -1 : 1));
  }, [data, filter, sort, down]);
  return (
    <section aria-label="Runs">
      <div class="bar">
        <a class="button" href={address(["new"])}>
          start a run
        </a>
        <label>
          filter{" "}
          <input
            value={filter}
            onInput={(e) => set({ filter: e.currentTarget.value })}
            placeholder="name, load balancing…"
          />
        </label>
        <a
          class={`button ${chosen.length < 2 ? "off" : ""}`}
          aria-disabled={chosen.length < 2}
          href={chosen.length < 2 ? undefined : address(["compare"], { runs: chosen.join(",") })}
        >
          compare {chosen.length || ""}
        </a>
      </div>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <Jobs list={jobs.data ?? []} done={() => again((t) => t + 1)} />
      {data && last.current.length === 0 && (
        <p class="hint" data-testid="empty">
          There are no runs here yet. Start one, or write some with <code>railyard run</code>.
        </p>
      )}
      {last.current.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="list of runs">
          <table data-testid="runs">
            <thead>
              <tr>
                <th>
                  <span class="hidden">compare</span>
                </th>
                {heads.map(([k, name]) => (
                  <th
                    class={figures.has(k) ? "n" : ""}
                    aria-sort={k === sort ? (down ? "descending" : "ascending") : "none"}
                  >
                    <button onClick={() => set({ sort: k, down: k === sort && down ? "0" : undefined })}>
                      {name}
                      {k === sort ? (down ? " ▾" : " ▴") : ""}
                    </button>
                  </th>
                ))}
                <th>
                  <span class="hidden">again</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((e) => (
                <tr class={e.error ? "broken" : ""}>
                  <td>
                    {!e.error && (
                      <input
                        type="checkbox"
                        aria-label={`compare ${e.name}`}
                        checked={chosen.includes(e.name)}
                        onChange={(x) =>
                          choose(
                            x.currentTarget.checked
                              ? [...chosen, e.name]
                              : chosen.filter((n) => n !== e.name),
                          )
                        }
                      />
                    )}
                  </td>
                  <td>
                    {e.error ? (
                      <>
                        {e.name}
                        <p class="error">{e.error}</p>
                      </>
                    ) : (
                      <a href={address(["run", e.name])}>{e.name}</a>
                    )}
                    {!e.error && !e.complete && <span class="tag">incomplete</span>}
                  </td>
                  <td class="n">{e.error ? "" : f.time(e.step_time_ps)}</td>
                  <td class="n">{e.mfu ? f.percent(e.mfu) : ""}</td>
                  <td class="n">{e.gpus || ""}</td>
                  <td>{e.lb}</td>
                  <td class="n">{e.error ? "" : f.count(e.ecn_marks)}</td>
                  <td class="n">{e.error ? "" : f.count(e.pfc_pauses)}</td>
                  <td class="when">{f.when(e.at)}</td>
                  <td class="when">
                    {!e.error && <a href={address(["new"], { from: e.name })}>change and run</a>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Jobs({ list, done }: { list: api.Simulation[]; done: () => void }) {
  if (list.length === 0) return null;
  return (
    <ul class="jobs" aria-label="simulations that were started here">
      {list.slice(0, 8).map((j) => {
        const share =
          j.total_bytes > 0
            ? j.delivered_bytes / j.total_bytes
            : j.operations > 0
              ? 1 - j.operations_left / j.operations
              : 0;
        return (
          <li>
            <b>{j.title}</b> {j.state}
            {j.state === "running" && (
              <>
                {" "}
                <progress value={share} max={1} aria-label={`${j.title}: ${f.percent(share)}`} />{" "}
                {f.percent(share)}, {f.time(j.now_ps)} simulated, {(j.hops_per_second / 1e6).toFixed(1)} M
                hops/s
                {j.seconds_left > 0 && `, about ${Math.ceil(j.seconds_left)} s left`}{" "}
                <button onClick={() => api.stop(j.id).then(done)}>cancel</button>
                {j.so_far && (
                  <p class="hint" data-testid="so-far">
                    so far: {f.count(j.so_far.ecn_marks)} marks, {f.count(j.so_far.pfc_pauses)} pauses,{" "}
                    {f.count(j.so_far.drops)} drops, longest queue {f.bytes(j.so_far.queue_peak_bytes)}
                    {j.so_far.hottest?.[0] &&
                      `, busiest link ${j.so_far.hottest[0].name} at ${f.percent(j.so_far.hottest[0].utilisation)}`}
                    {(j.so_far.collectives ?? [])
                      .slice(0, 3)
                      .map(
                        (c) =>
                          `; ${f.count(c.count)} x ${c.name}, ${f.time(c.time_ps)} on average, ` +
                          `busbw ${(c.busbw_bytes_per_second / 1e9).toFixed(1)} GB/s`,
                      )}
                  </p>
                )}
              </>
            )}
            {j.error && <span class="error"> {j.error}</span>}
            {j.run && (
              <>
                {" "}
                <a href={address(["run", j.run])}>
                  {j.state === "running" ? "look at what there is" : "look at it"}
                </a>
              </>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** New is the editor that starts a run: a shipped scenario, or that of another run. */
export function New() {
  const place = usePlace();
  const from = place.args.get("from");
  const about = useData(api.about, []);
  const schema = useData(api.schema, []);
  const info = useData(from ? () => api.view<api.Info>(from, "info") : null, [from]);
  const [picked, pick] = useState("");
  const [sets, change] = useState("");
  const [error, fail] = useState("");
  const text = useRef("");
  const box = useRef<HTMLDivElement>(null);
  const shipped = Object.keys(about.data?.scenarios ?? {}).sort();
  const name = picked || (shipped.includes("three-flows.yaml") ? "three-flows.yaml" : (shipped[0] ?? ""));
  const base = from ? info.data?.manifest.scenario : about.data?.scenarios[name];
  useEffect(() => {
    if (!box.current || base === undefined || !schema.data) return;
    let close: (() => void) | undefined;
    let live = true;
    text.current = base;
    import("./editor").then((m) => {
      if (live && box.current)
        close = m.edit(box.current, base, schema.data as never, api.check, (t, e) => {
          text.current = t;
          fail(e);
        });
    });
    return () => {
      live = false;
      close?.();
    };
  }, [base, schema.data]);
  const go = () =>
    api
      .start(
        text.current,
        sets
          .split("\n")
          .map((s) => s.trim())
          .filter(Boolean),
      )
      .then(
        () => (location.hash = address(["runs"])),
        (e: Error) => fail(e.message),
      );
  return (
    <section aria-label="Start a run">
      <h2>{from ? `Change ${from} and run it again` : "Start a run"}</h2>
      {info.error && (
        <p class="error" role="alert">
          {info.error}
        </p>
      )}
      <div class="bar">
        {!from && (
          <label>
            scenario{" "}
            <select value={name} onChange={(e) => pick(e.currentTarget.value)}>
              {shipped.map((n) => (
                <option>{n}</option>
              ))}
            </select>
          </label>
        )}
        <button class="button" onClick={go} disabled={!base}>
          run
        </button>
        <span class="hint">Ctrl-Space completes keys and values.</span>
      </div>
      <div class="editor" ref={box} data-testid="editor" />
      <label>
        change single values, one per line, as <code>lb=spray</code>
        <textarea rows={2} value={sets} onInput={(e) => change(e.currentTarget.value)} aria-label="changes" />
      </label>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </section>
  );
}
