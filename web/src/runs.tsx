import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as api from "./api";
import { names } from "./causes";
import { causeColour } from "./colour";
import * as f from "./format";
import { Life } from "./life";
import { address, example, set, useData, usePlace } from "./state";

const orders: Record<string, [string, (a: api.Entry, b: api.Entry) => number]> = {
  at: ["newest first", (a, b) => (a.at < b.at ? 1 : -1)],
  step: ["shortest step first", (a, b) => a.step_time_ps - b.step_time_ps],
  name: ["by name", (a, b) => a.name.localeCompare(b.name)],
};

/** Runs is the lobby: what runs, and what has run, grouped by scenario. */
export function Runs() {
  const place = usePlace();
  const filter = place.args.get("filter") ?? "";
  const sort = orders[place.args.get("sort") ?? ""] ? place.args.get("sort")! : "at";
  const [tick, again] = useState(0);
  const { data, error } = useData(api.runs, [tick]);
  const jobs = useData(api.jobs, [tick]);
  const studies = useData(api.studies, [tick]);
  const [chosen, choose] = useState<string[]>([]);
  const { data: gone = [] } = useData(api.deleted, [tick]);
  const [failed, fail] = useState("");
  const running = (jobs.data ?? []).filter((j) => j.state === "running").length;
  useEffect(() => {
    const timer = setInterval(() => again((t) => t + 1), running > 0 ? 700 : 5000);
    return () => clearInterval(timer);
  }, [running > 0]);
  const last = useRef<api.Entry[]>([]);
  if (data) last.current = data;
  const groups = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = last.current.filter((e) => {
      const text = `${e.name} ${e.title} ${e.lb} ${e.main_cause} ${(e.sets ?? []).join(" ")} ${e.error ?? ""}`;
      return words.every((w) => text.toLowerCase().includes(w));
    });
    const out = new Map<string, api.Entry[]>();
    for (const e of fits.sort(orders[sort][1])) {
      const key = e.error ? "" : e.title;
      out.set(key, [...(out.get(key) ?? []), e]);
    }
    // What cannot be read comes last.
    return [...out].sort((a, b) => Number(a[0] === "") - Number(b[0] === ""));
  }, [data, filter, sort]);
  const done = (p: Promise<unknown>, then: () => void) =>
    p.then(
      () => {
        fail("");
        then();
        again((t) => t + 1);
      },
      (e: Error) => fail(e.message),
    );
  const whole = last.current.filter((e) => !e.error);
  return (
    <section aria-label="Runs" class="wrap lobby">
      <h1 class="finding">
        {whole.length > 0
          ? `${f.plural(whole.length, "run")} of ${f.plural(new Set(whole.map((e) => e.title)).size, "scenario")}`
          : data && !last.current.length
            ? "How a training step crosses a fabric"
            : "Runs"}
      </h1>
      <div class="bar">
        <a class="button primary" href={address(["new"])}>
          New run
        </a>
        {last.current.length > 0 && (
          <>
            <input
              type="search"
              aria-label="filter"
              value={filter}
              onInput={(e) => set({ filter: e.currentTarget.value || undefined })}
              placeholder="filter: name, cause, …"
            />
            <select aria-label="order" value={sort} onChange={(e) => set({ sort: e.currentTarget.value })}>
              {Object.entries(orders).map(([k, [name]]) => (
                <option value={k}>{name}</option>
              ))}
            </select>
            <a
              class={`button ${chosen.length < 2 ? "off" : ""}`}
              aria-disabled={chosen.length < 2}
              href={chosen.length < 2 ? undefined : address(["compare"], { runs: chosen.join(",") })}
            >
              Compare {chosen.length || ""}
            </a>
            {chosen.length < 2 && <span class="note">tick two or more runs to compare them</span>}
          </>
        )}
      </div>
      {[error, failed].filter(Boolean).map((e) => (
        <p class="error" role="alert">
          {e}
        </p>
      ))}
      <div role="status">
        {gone.map((name) => (
          <p class="undo" data-testid="undo">
            {name} is deleted.{" "}
            <button onClick={() => done(api.restore(name), () => {})}>Undo</button>{" "}
            <span class="note">Files are removed when the server ends.</span>
          </p>
        ))}
      </div>
      <Jobs list={jobs.data ?? []} done={() => again((t) => t + 1)} />
      {data && last.current.length === 0 && gone.length === 0 && (
        <>
          <p class="lede" data-testid="empty">
            No runs yet. Start one, or write some with <code>railyard run</code>. Meanwhile, the life of one step, with the figures of
            an example: four GPUs train a small model. <a href={address(["run", example])}>Look at the example as a run</a>.
          </p>
          {(studies.data ?? []).length === 0 && <Story />}
        </>
      )}
      <Studies list={studies.data ?? []} />
      <Legend list={whole} />
      <div class="groups" data-testid="runs">
        {groups.map(([title, list]) => {
          const most = Math.max(1, ...list.map((e) => e.step_time_ps));
          // Runs by packets are not measured against estimates.
          const packets = list.some((e) => !e.fidelity);
          const ranked = list.filter((e) => e.complete && !e.outcome && (!packets || !e.fidelity));
          const best = Math.min(...ranked.map((e) => e.step_time_ps));
          return (
            <section class={list.length > 1 ? "group many" : "group"} aria-label={title || "unreadable"}>
              <h2>
                {title || "Cannot be read"} <span class="note">{list.length > 1 && f.plural(list.length, "run")}</span>
                {title && list.length > 2 && (
                  <a class="all" href={address(["compare"], { runs: list.map((e) => e.name).join(",") })}>
                    compare all
                  </a>
                )}
              </h2>
              <div class="cards">
                {list.map((e) => (
                  <Run
                    e={e}
                    most={most}
                    best={ranked.length > 1 && ranked.includes(e) ? best : -1}
                    chosen={chosen.includes(e.name)}
                    choose={(on) => choose(on ? [...chosen, e.name] : chosen.filter((n) => n !== e.name))}
                    remove={() =>
                      done(api.remove(e.name), () => choose(chosen.filter((n) => n !== e.name)))
                    }
                  />
                ))}
              </div>
            </section>
          );
        })}
      </div>
    </section>
  );
}

/** Legend names the causes that the runs' bars have. */
function Legend({ list }: { list: api.Entry[] }) {
  const present = names.filter(([key]) =>
    list.some((e) => (e.causes ?? []).some((c) => c.key === key && c.time_ps >= 0.01 * e.step_time_ps)),
  );
  return present.length === 0 ? null : (
    <p class="kinds" data-testid="legend">
      {present.map(([key, name]) => (
        <span>
          <i style={{ background: causeColour(key) }} />
          {name}
        </span>
      ))}
      {list.some((e) => (e.bubble_ps ?? 0) >= 0.01 * e.step_time_ps) && (
        <span>
          <i style={{ background: "var(--o-bubble)" }} />
          pipeline bubble
        </span>
      )}
    </p>
  );
}

/** Story is the life of the server's own run: the front page where there is none. */
function Story() {
  const { data, error } = useData(() => api.view<api.Info>(example, "info"), []);
  if (error) return <p class="note">{error}</p>;
  return data ? <Life info={data} /> : <p class="loading">Simulating the example…</p>;
}

/** Studies are those of the folder, also those that run. */
function Studies({ list }: { list: api.StudyEntry[] }) {
  if (list.length === 0) return null;
  return (
    <section class="group many" aria-label="Studies" data-testid="studies">
      <h2>
        Studies <span class="note">{list.length > 1 && f.plural(list.length, "study").replace("studys", "studies")}</span>
      </h2>
      <div class="cards">
        {list.map((e) => (
          <article class={`card run ${e.error ? "broken" : ""}`} data-study={e.name}>
            <h3>
              <a href={address(["study", e.name])}>{e.name}</a>
            </h3>
            {e.error && <p class="error">{e.error}</p>}
            {e.state && (
              <>
                <p class="note">
                  {f.plural(e.state.points, "point")} of {e.state.scenario.split("/").pop()}
                  {e.state.seeds > 1 && ` · ${e.state.seeds} seeds`} · {f.when(e.state.at)}
                </p>
                {e.state.open > 0 ? (
                  <p class="state running">
                    <i />
                    <span>
                      {f.count(e.state.trials - e.state.open)} of {f.plural(e.state.trials, "trial")}
                    </span>
                    <progress max={e.state.trials} value={e.state.trials - e.state.open} aria-label="share of trials" />
                  </p>
                ) : (
                  <p class="note">
                    {f.plural(e.state.trials, "trial")}, {e.state.failed > 0 ? `${f.count(e.state.failed)} failed` : "all ended"}
                  </p>
                )}
                {e.best.length > 0 && (
                  <code>
                    {e.tied > 0 ? `${f.count(e.tied + 1)} points tie, one of them: ` : "best: "}
                    {e.best.map((x) => "--set " + x).join(" ")}
                  </code>
                )}
              </>
            )}
          </article>
        ))}
      </div>
    </section>
  );
}

/** Run is a run's card: its step as a bar by cause, as long as its share of the longest of its group. */
function Run(props: {
  e: api.Entry;
  most: number;
  best: number;
  chosen: boolean;
  choose: (on: boolean) => void;
  remove: () => void;
}) {
  const { e, most, best } = props;
  if (e.error)
    return (
      <article class="card run broken" data-run={e.name}>
        <h3>{e.name}</h3>
        <p class="error">{e.error}</p>
      </article>
    );
  // The last rank's bubble is computing of others on the critical path.
  const causes = (e.causes ?? []).flatMap((c) => {
    const bubble = c.key === "compute" ? Math.min(e.bubble_ps ?? 0, c.time_ps) : 0;
    return bubble > 0 ? [{ ...c, time_ps: c.time_ps - bubble }, { key: "bubble", time_ps: bubble }] : [c];
  });
  const sets = (e.sets ?? []).filter((x) => !x.startsWith("seed="));
  const names = causes.map((c) => `${c.key.replaceAll("_", " ")} ${f.time(c.time_ps)}`).join(", ");
  const over = best > 0 ? e.step_time_ps / best - 1 : 0;
  const lost = causes.filter((c) => !["compute", "bubble", "line_rate"].includes(c.key)).reduce((n, c) => n + c.time_ps, 0);
  return (
    <article class="card run" data-run={e.name}>
      <div class="top-row">
        <h3>
          <a href={address(["run", e.name])}>{e.name}</a>
        </h3>
        <label class="tick">
          <input
            type="checkbox"
            aria-label={`compare ${e.name}`}
            checked={props.chosen}
            onChange={(x) => props.choose(x.currentTarget.checked)}
          />
          compare
        </label>
      </div>
      <p class="figure">
        <b>{f.time(e.step_time_ps)}</b>{" "}
        <span class="note">
          {[
            best > 0 && e.complete && (over === 0 ? "shortest" : over > 0 ? f.changePercent(over) : ""),
            e.mfu && `MFU ${f.percent(e.mfu)}`,
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
        {e.outcome && <span class="tag">{e.outcome}</span>}
        {!e.complete && <span class="tag">incomplete</span>}
        {e.fidelity && <span class="tag">{e.fidelity}</span>}
      </p>
      <div class="splitbar" role="img" aria-label={`step by cause: ${names}`} title={names}>
        {causes.map((c) => (
          <span style={{ width: `${(100 * c.time_ps) / most}%`, background: c.key === "bubble" ? "var(--o-bubble)" : causeColour(c.key) }} />
        ))}
      </div>
      <p class="note">
        {e.main_cause?.startsWith("bound by")
          ? f.begin(e.main_cause)
          : e.main_cause
            ? `Main cause: ${e.main_cause}`
            : causes.length === 0
              ? "No account of the step"
              : lost < 0.02 * e.step_time_ps
                ? "At line rate"
                : "No main cause"}
      </p>
      {sets.length > 0 && <code>{sets.map((x) => "--set " + x).join(" ")}</code>}
      <p class="note">
        {f.plural(e.gpus, "GPU")} · {e.lb} · seed {e.seed} · {f.when(e.at)}
      </p>
      <div class="foot">
        <a href={address(["new"], { from: e.name })}>change and run</a>
        <button class="plain" aria-label={`delete ${e.name}`} onClick={props.remove}>
          delete
        </button>
      </div>
    </article>
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
            <b>{j.run ?? j.title}</b> {(j.sets ?? []).length > 0 && <code>{j.sets!.map((x) => "--set " + x).join(" ")}</code>} {j.state}
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
                    so far:{" "}
                    {j.so_far.fidelity === "flow"
                      ? "queues, marks, pauses and drops not simulated at flow fidelity"
                      : `${f.count(j.so_far.ecn_marks)} marks, ${f.count(j.so_far.pfc_pauses)} pauses, ` +
                        `${f.count(j.so_far.drops)} drops, longest queue ${f.bytes(j.so_far.queue_peak_bytes)}`}
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
  const [dropped, drop] = useState<{ name: string; text: string } | undefined>(undefined);
  const [sets, change] = useState("");
  const [error, fail] = useState("");
  const [needs, estimate] = useState("");
  const [follow, follows] = useState<string | undefined>(undefined);
  const [port, captures] = useState<string | undefined>(undefined);
  const [end, until] = useState("200");
  const text = useRef("");
  const box = useRef<HTMLDivElement>(null);
  const shipped = Object.keys(about.data?.scenarios ?? {}).sort();
  const name = picked || (shipped.includes("three-flows.yaml") ? "three-flows.yaml" : (shipped[0] ?? ""));
  const base = dropped?.text ?? (from ? info.data?.manifest.scenario : about.data?.scenarios[name]);
  const lines = () =>
    sets
      .split("\n")
      .map((s) => s.trim())
      .filter(Boolean);
  const settings = useRef<() => string[]>(lines);
  settings.current = lines;
  const check = async (t: string) => {
    const r = await api.check(t, settings.current());
    estimate(r.ok ? (r.estimate ?? "") : "");
    return r;
  };
  useEffect(() => {
    if (!box.current || base === undefined || !schema.data || !about.data) return;
    let close: (() => void) | undefined;
    let live = true;
    text.current = base;
    import("./editor").then((m) => {
      if (live && box.current)
        close = m.edit(box.current, base, schema.data as never, about.data!.names ?? {}, check, (t, e) => {
          text.current = t;
          fail(e);
        });
    });
    return () => {
      live = false;
      close?.();
    };
  }, [base, schema.data, about.data]);
  useEffect(() => {
    if (!text.current) return;
    const timer = setTimeout(() => check(text.current).then((r) => fail(r.ok ? "" : (r.error ?? ""))), 400);
    return () => clearTimeout(timer);
  }, [sets]);
  const go = () =>
    api
      .start(text.current || base || "", lines(), { // the editor may not be there yet
        follow: (follow ?? "").split(/[\s,]+/).filter(Boolean),
        capture: (port ?? "").split(/[\s,]+/).filter(Boolean),
        from_ps: 0,
        to_ps: Math.round(Number(end) * 1e6) || 0,
        stop: false,
      })
      .then(
        () => (location.hash = address(["runs"])),
        (e: Error) => fail(e.message),
      );
  return (
    <section aria-label="Start a run" class="wrap">
      <h1 class="finding">{from ? `Change ${from} and run it again` : "Start a run"}</h1>
      {info.error && (
        <p class="error" role="alert">
          {info.error}
        </p>
      )}
      <div class="bar">
        {!from && (
          <label>
            scenario{" "}
            <select
              value={dropped ? "" : name}
              onChange={(e) => {
                drop(undefined);
                pick(e.currentTarget.value);
              }}
            >
              {dropped && <option value="">{dropped.name}</option>}
              {shipped.map((n) => (
                <option>{n}</option>
              ))}
            </select>
          </label>
        )}
        <button class="button primary" onClick={go} disabled={!base || !!error}>
          Run
        </button>
        <span class="note" data-testid="estimate" aria-live="polite">
          {needs && `Estimate: ${needs}`}
        </span>
      </div>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <div
        class="editor"
        ref={box}
        data-testid="editor"
        onDragOver={(e) => e.preventDefault()}
        onDrop={(e) => {
          const file = e.dataTransfer?.files[0];
          if (!file) return;
          e.preventDefault();
          if (file.size > 1 << 20) return fail(`${file.name} has ${f.bytes(file.size)}, at most 1 MB are read`);
          file.text().then((t) => drop({ name: file.name, text: t }));
        }}
      />
      <p class="note">Ctrl-Space completes keys and values. A file dropped here replaces the text.</p>
      <div class="options">
        <label class="wideopt">
          settings, one per line, as <code>lb=spray</code>
          <textarea rows={2} value={sets} onInput={(e) => change(e.currentTarget.value)} aria-label="changes" />
        </label>
        <fieldset>
          <legend>Record</legend>
          <label>
            <input
              type="checkbox"
              checked={follow !== undefined}
              onChange={(e) => follows(e.currentTarget.checked ? "0/longest-wait" : undefined)}
            />{" "}
            follow packets
          </label>
          {follow !== undefined && (
            <input
              value={follow}
              aria-label="packets to follow"
              title="QP/longest-wait: the packet of a queue pair that waits longest; QP/+N: the packet after the first N of a queue pair; QP/PSN by its number"
              onInput={(e) => follows(e.currentTarget.value)}
            />
          )}
          <label>
            <input
              type="checkbox"
              checked={port !== undefined}
              onChange={(e) => captures(e.currentTarget.checked ? "" : undefined)}
            />{" "}
            capture ports
          </label>
          {port !== undefined && (
            <>
              <input
                value={port}
                placeholder="rail-1:Eth3"
                aria-label="ports to capture"
                onInput={(e) => captures(e.currentTarget.value)}
              />
              <label>
                until{" "}
                <input
                  type="number"
                  min={1}
                  value={end}
                  aria-label="end of the capture, µs"
                  onInput={(e) => until(e.currentTarget.value)}
                />{" "}
                µs
              </label>
            </>
          )}
        </fieldset>
      </div>
    </section>
  );
}
