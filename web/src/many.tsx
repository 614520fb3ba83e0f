import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import type { Many, ManyPoint } from "./contract";
import * as f from "./format";
import { figure, Heat, live, type Looked, Parallel, Pareto } from "./manyplots";
import { baseOf, Ranked } from "./ranked";
import { address, set, useData, usePlace } from "./state";

/** Study is a study of any number of points, also one that runs: it is asked for again while trials are open. */
export function Study({ name }: { name: string }) {
  const [tick, again] = useState(0);
  const { data, error } = useData(() => api.study(name), [name, tick]);
  const last = useRef<Many | undefined>(undefined);
  if (data) last.current = data;
  const open = (last.current?.study?.open ?? 0) > 0;
  useEffect(() => {
    if (!open) return;
    const timer = setInterval(() => again((t) => t + 1), 2000);
    return () => clearInterval(timer);
  }, [open]);
  if (error)
    return (
      <p class="error" role="alert" data-testid="broken">
        {error}
      </p>
    );
  return last.current ? <Points many={last.current} /> : <p class="loading">Loading {name}…</p>;
}

/** ManyRuns compares more runs than stand side by side. */
export function ManyRuns({ runs }: { runs: string[] }) {
  const { data, error } = useData(() => api.many(runs), [runs.join()]);
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  return data ? <Points many={data} /> : <p class="loading">Loading {f.plural(runs.length, "run")}…</p>;
}

/** keptOf reads which values are kept, as axis:value with commas between. */
const keptOf = (text: string | null, many: Many) =>
  new Map(
    (text ?? "")
      .split(",")
      .map((s) => s.split(":"))
      .map(([key, v]): [number, number] => [many.axes.findIndex((a) => a.key === key), Number(v)])
      .filter(([a, v]) => a >= 0 && v < many.axes[a].typed.length),
  );

/** Points are the settings that differ, then the pictures of all points, then the best as a table. */
function Points({ many }: { many: Many }) {
  const { args } = usePlace();
  const [over, look] = useState(-1);
  const pinned = many.points.findIndex((p) => p.name === args.get("point"));
  const kept = keptOf(args.get("only"), many);
  const only = (axis: number, value: number) => {
    if (kept.get(axis) === value) kept.delete(axis);
    else kept.set(axis, value);
    set({ only: [...kept].map(([a, v]) => `${many.axes[a].key}:${v}`).join(",") || undefined });
  };
  const shown = many.points.map((_, i) => i).filter((i) => [...kept].every(([a, v]) => many.points[i].at[a] === v));
  const number = (name: string, length: number, otherwise: number) => {
    const n = Number(args.get(name) ?? otherwise);
    return n >= 0 && n < length ? n : otherwise;
  };
  const looked: Looked = {
    at: over >= 0 && shown.includes(over) ? over : pinned >= 0 && shown.includes(pinned) ? pinned : -1,
    look,
    pin: (i) => set({ point: i === pinned ? undefined : many.points[i].name }),
  };
  const first = many.by[0];
  const differs = many.figures.map((_, k) => k).filter((k) => many.points.some((p) => p.figures[k] !== many.points[0].figures[k]));
  // What the first figure costs: another objective, else the queue or pauses, else any other figure; never a time of the
  // same messages, which says the first again.
  const named = (key: string) => many.figures.findIndex((x) => x.key === key);
  const again = (k: number) => many.figures[k].kind === "time" && many.figures[k].key !== "pfc_pause";
  const second = [...many.by.slice(1), named("queue_peak"), named("pfc_pause"), ...differs.filter((k) => !again(k)), ...differs].find((k) => k !== first && differs.includes(k)) ?? first;
  const axes = live(many, shown);
  const dead = kept.size === 0 ? many.axes.flatMap((a, k) => (axes.includes(k) ? [] : [a.short])) : [];
  const [x, y] = [number("x", many.axes.length, axes[0] ?? 0), number("y", many.axes.length, axes[1] ?? axes[0] ?? 0)];
  const of = number("of", many.figures.length, first);
  const [px, py] = [number("px", many.figures.length, first), number("py", many.figures.length, second)];
  // A few variants of one setting are whole in the chart: further pictures would say it again.
  const few = !!many.study?.command && many.points.length <= 6 && many.axes.length < 2;
  return (
    <section aria-label="Compare" class="wrap many" onMouseLeave={() => look(-1)}>
      <p class="eyebrow">
        {many.study ? "Study" : "Compare"} · {many.title && `${many.title} · `}
        {f.plural(many.of, !many.study ? "run" : many.study.command ? "variant" : "point")}
        {many.study && many.of < many.study.points && ` of ${f.count(many.study.points)}`}
        {many.study && many.study.seeds > 1 && ` · ${many.study.seeds} seeds each`}
      </p>
      <h1 data-testid="verdict">{many.study?.command ? verdict(many) : f.begin(verdict(many))}</h1>
      <Price many={many} />
      <Progress many={many} />
      {many.unlike.length > 0 && (
        <p class="warn" role="alert" data-testid="unlike">
          These {many.study ? "points" : "runs"} differ in {many.unlike.join(" and ")}: step times do not compare the fabric.
        </p>
      )}
      {many.left_out.map((why) => (
        <p class="warn" data-testid="left-out">
          Not compared: {why}.
        </p>
      ))}
      {many.points.length > 0 && (
        <>
          <Ranked many={many} shown={shown} looked={looked} by={[px, py]} />
          {pinned >= 0 && shown.includes(pinned) && (
            <p class="looked" data-testid="looked">
              <Chosen many={many} i={pinned} />
            </p>
          )}
            {dead.length > 0 && axes.length > 0 && (
              <p class="note">
                Not drawn: {dead.join(", ")} change{dead.length === 1 ? "s" : ""} no {many.figures[first].words}.
              </p>
            )}
            {looked.at >= 0 && (
              <p class="looked">
                <Chosen many={many} i={looked.at} />
              </p>
            )}
          <div class={few ? "" : "split even"}>
            {many.axes.length > 0 && !few && (
              <div>
                <div class="head">
                  <h2>Heat map</h2>
                  <span class="choices">
                    <Choice name="of" label="figure of the heat map" value={of} list={differs.map((k) => [k, many.figures[k].words])} />
                    {many.axes.length > 1 && (
                      <>
                        {" by "}
                        <Choice name="x" label="columns" value={x} list={many.axes.map((a, k) => [k, a.short])} />
                        {axes.length > 1 && " and "}
                        {axes.length > 1 && <Choice name="y" label="rows" value={y} list={many.axes.map((a, k) => [k, a.short])} />}
                      </>
                    )}
                  </span>
                </div>
                <Heat many={many} shown={shown} x={x} y={many.axes.length > 1 && x !== y ? y : -1} of={of} only={only} />
              </div>
            )}
            {second !== first && <div>
              <div class="head">
                <h2>Pareto front</h2>
                <span class="choices">
                  <Choice name="px" label="horizontal figure" value={px} list={differs.map((k) => [k, many.figures[k].words])} />
                  {" and "}
                  <Choice name="py" label="vertical figure" value={py} list={differs.map((k) => [k, many.figures[k].words])} />
                </span>
              </div>
              <Pareto many={many} shown={shown} x={px} y={py} looked={looked} />
            </div>}
          </div>
          {!few && <>
          <div class="head">
            <h2>Parallel coordinates</h2>
            <p class="note">A line is a point, coloured by {many.figures[first].words}. A click on a value keeps its points.</p>
          </div>
          <Parallel
            many={many}
            shown={shown}
            axes={axes.slice(0, 6)}
            figures={px === py ? [px] : [px, py]}
            kept={kept}
            only={only}
            looked={looked}
          />
          <Differ many={many} kept={kept} only={only} />
          </>}
        </>
      )}
    </section>
  );
}

/** settings are those of a point on some axes, or on all, short. */
const settings = (many: Many, p: ManyPoint, axes?: number[]) =>
  many.axes.flatMap((a, k) => (p.at[k] >= 0 && (!axes || axes.includes(k)) ? [`${a.short} ${a.shown[p.at[k]]}`] : []));

/** verdict says what the best point is, against the scenario as it is or the run named first, and which points tie with
 * it: their difference is none, or within the noise of the seeds. */
function verdict(many: Many): string {
  const best = many.points[0];
  if (!best) return "No point has ended yet.";
  const k = many.by[0];
  const fig = many.figures[k];
  if (many.unlike.length > 0 && many.points.length > 1) {
    const of = many.points.map((p) => p.figures[k]);
    return `${f.begin(fig.words)} from ${figure(Math.min(...of), fig)} to ${figure(Math.max(...of), fig)}, for different ${many.unlike.some((x) => x !== "the fidelity") ? "work" : "fidelities"}.`;
  }
  const tied = many.points.filter((p) => p.tie);
  const same = many.axes.map((_, a) => a).filter((a) => tied.every((p) => p.at[a] === best.at[a]));
  const free = many.axes.map((_, a) => a).filter((a) => !same.includes(a));
  const whole = many.study && (tied.length < 2 || same.some((a) => best.at[a] >= 0));
  const name = many.study && !many.study.command
    ? settings(many, best, whole && tied.length > 1 ? same : undefined).slice(0, 4).join(", ")
    : best.name;
  const noise = many.study && many.study.seeds > 1 ? ` within the noise of ${many.study.seeds} seeds` : "";
  const varied = [...new Set(tied.flatMap((p) => settings(many, p, free.slice(0, 1))))];
  const tie =
    tied.length < 2
      ? ""
      : many.study?.command && tied.length < 4
      ? `; ${tied.slice(1).map((p) => p.name).join(" and ")} ${tied.length === 2 ? "ties" : "tie"}${noise}`
      : !many.study || !whole
        ? `; ${f.plural(tied.length, many.study ? "point" : "run")} tie${noise}`
        : free.length === 1 && varied.length < 4
          ? `; ${varied.join(" and ")} tie`
          : `; its ${f.plural(tied.length, "point")} tie${noise}`;
  const base = many.base?.figures[k] ?? 0;
  const share = base > 0 ? best.figures[k] / base - 1 : 0;
  const value = figure(best.figures[k], fig);
  if (many.base?.name === best.name) return `${name} has the best ${fig.words}, ${value}${tie}.`;
  if (Math.abs(share) < 0.0005) return `${name}: ${fig.words} ${value}, as ${many.base?.name ?? "the others"}${tie}.`;
  if (many.study && many.base?.tie && many.base.over)
    return `No winner: ${name} takes ${value}, ${many.base.name} ${figure(base, fig)}; they differ by ${figure(Math.abs(many.base.over[0]), fig)} ± ${figure(many.base.over[1], fig)}, within the noise${many.study.seeds > 1 ? ` of ${many.study.seeds} seeds` : ""}.`;
  if (many.study && many.base?.tie)
    return `Best and ${many.base.name} tie within the noise of ${many.study.seeds} seeds: ${fig.words} ${value} and ${figure(base, fig)}.`;
  if (fig.key === "step_time")
    return `${name} finishes ${f.time(Math.abs(best.figures[k] - base))} (${f.percent(Math.abs(share))}) ${share < 0 ? "earlier" : "later"} than ${baseOf(many)}${tie}.`;
  return `${name}: ${fig.words} ${value}, ${f.changePercent(share)} against ${baseOf(many)}${tie}.`;
}

/** Price is the longer queue and pauses of the best point. */
function Price({ many }: { many: Many }) {
  const [best, base] = [many.points[0], many.base];
  if (!best || !base || many.unlike.length > 0) return null;
  const worse = many.figures.flatMap((x, k) => (["queue_peak", "pfc_pause"].includes(x.key) && best.figures[k] > 1.1 * base.figures[k] ? [k] : []));
  if (worse.length === 0) return null;
  return (
    <p class="lead" data-testid="price">
      {f.begin(worse.map((k) => `${many.figures[k].words} is ${figure(best.figures[k], many.figures[k])} with ${many.study && !many.study.command ? "it" : best.name}, ${figure(base.figures[k], many.figures[k])} with ${base.name === "scenario" ? "the scenario" : base.name}`).join("; "))}.
    </p>
  );
}

/** Progress is how far a study is, and what failed. */
function Progress({ many }: { many: Many }) {
  const s = many.study;
  if (!s) return null;
  const ended = s.done + s.failed;
  return (
    <div data-testid="progress" aria-live="polite">
      {s.open > 0 && (
        <p class="state running">
          <i />
          <span>
            {f.count(ended)} of {f.plural(s.trials, "trial")} ended, last record {f.when(s.at)}
            {s.rungs > 1 && `, stage ${s.rung + 1} of ${s.rungs}`}
          </span>
          <progress max={s.trials} value={ended} aria-label="share of trials" />
        </p>
      )}
      {s.failed > 0 && (
        <details class="note">
          <summary>
            {f.count(s.failed)} of {f.plural(s.trials, "trial")} failed
          </summary>
          {s.error}
        </details>
      )}
    </div>
  );
}

/** Differ lists the settings that differ, what each explains, and which values are kept. */
function Differ(props: { many: Many; kept: Map<number, number>; only: (axis: number, value: number) => void }) {
  const { many, kept } = props;
  if (many.axes.length === 0) return <p class="note">No setting differs.</p>;
  const base = many.points.find((p) => p.name === many.base?.name);
  /** alone is the surest change by this setting alone from the base, where it averages to none over the other settings. */
  const alone = (k: number) => {
    const [p] = many.points
      .filter((p) => base && base.figures[many.by[0]] > 0 && p.against && !p.against_noise && p.at.every((v, i) => (i === k) === (v !== base.at[i])))
      .sort((p, q) => q.against![0] ** 2 - p.against![0] ** 2);
    return p && `${many.axes[k].shown[p.at[k]]} ${f.changePercent(p.figures[many.by[0]] / base!.figures[many.by[0]] - 1)} alone`;
  };
  const row = (k: number) => {
    const a = many.axes[k];
    const some = a.shown.length <= 8;
    return (
      <tr>
        <th scope="row" class="mono">
          {a.key}
        </th>
        <td>
          {some
            ? a.shown.map((s, v) => (
                <button class="value" aria-pressed={kept.get(k) === v} onClick={() => props.only(k, v)}>
                  {s}
                </button>
              ))
            : `${a.shown.length} values, ${a.shown[0]} to ${a.shown[a.shown.length - 1]}`}
          {!some && kept.has(k) && (
            <button class="value" aria-pressed={true} onClick={() => props.only(k, kept.get(k)!)}>
              {a.shown[kept.get(k)!]}
            </button>
          )}
        </td>
        <td class="n">
          {a.share === 0 && (many.study?.seeds ?? 1) > 1 ? (
            alone(k) || "in the noise"
          ) : a.share >= 0 ? (
            <>
              <i class="bar-share" style={{ width: `${60 * a.share}px` }} /> {a.share < 0.0005 ? "< 0.1 %" : f.percent(a.share)}
            </>
          ) : (
            "–"
          )}
        </td>
      </tr>
    );
  };
  const all = many.axes.map((_, k) => k);
  const head = 6;
  return (
    <div data-testid="settings">
      <div class="head">
        <h2>
          {f.plural(many.axes.length + many.more, "setting")} differ{many.axes.length + many.more === 1 ? "s" : ""}
        </h2>
        {kept.size > 0 && <button onClick={() => set({ only: undefined })}>show all points</button>}
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="settings that differ">
        <table class="tight differ">
          <thead>
            <tr>
              <th>setting</th>
              <th>values</th>
              <th class="n" title="share of the variance of the first objective between points: of crossed settings the main effect, else epsilon squared">explains</th>
            </tr>
          </thead>
          <tbody>
            {all.slice(0, head).map(row)}
            {many.together >= 0.0005 && (
              <tr>
                <th scope="row">together</th>
                <td class="note">what one setting does depends on another</td>
                <td class="n">
                  <i class="bar-share" style={{ width: `${60 * many.together}px` }} /> {f.percent(many.together)}
                </td>
              </tr>
            )}
          </tbody>
        </table>
        {all.length > head && (
          <details>
            <summary>{all.length - head + many.more} more</summary>
            <table class="tight differ">
              <tbody>{all.slice(head).map(row)}</tbody>
            </table>
          </details>
        )}
      </div>
    </div>
  );
}

/** Choice is a list in a heading, kept in the address. */
const Choice = (props: { name: string; label: string; value: number; list: [number, string][] }) => (
  <select aria-label={props.label} value={props.value} onChange={(e) => set({ [props.name]: Number(e.currentTarget.value) })}>
    {props.list.map(([k, words]) => (
      <option value={k}>{words}</option>
    ))}
  </select>
);

/** Chosen is the point looked at: its settings and figures, and where its run is or how to repeat it. */
function Chosen({ many, i }: { many: Many; i: number }) {
  const p = many.points[i];
  return (
    <>
      <b>{many.study ? p.name : <a href={address(["run", p.name])}>{p.name}</a>}</b>{" "}
      {many.by.map((k) => `${many.figures[k].words} ${figure(p.figures[k], many.figures[k])}`).join(", ")}
      {p.high > p.low && ` (${figure(p.low, many.figures[many.by[0]])} to ${figure(p.high, many.figures[many.by[0]])} over the seeds)`}{" "}
      {(p.runs ?? []).length > 0 && (
        <span data-testid="kept-runs">
          {(p.runs ?? []).map((r) => (
            <a class="kept" href={address(["run", r])}>
              open {r.slice(r.indexOf("/") + 1).replace(/^point-\d+-?/, "") || "its run"}
            </a>
          ))}
        </span>
      )}{" "}
      <code>{many.axes.flatMap((a, k) => (p.at[k] >= 0 ? [`--set ${a.key}=${a.typed[p.at[k]]}`] : [])).join(" ")}</code>
    </>
  );
}
