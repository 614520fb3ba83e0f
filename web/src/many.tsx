import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import type { Many, ManyPoint } from "./contract";
import * as f from "./format";
import { figure, front, Heat, type Looked, Multiples, Parallel, Pareto } from "./manyplots";
import { address, set, useData, usePlace } from "./state";

const listed = 20; // points of the table before more are asked for

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
  const other = differs.filter((k) => many.points.some((p) => p.figures[k] !== p.figures[first])); // a figure of its own
  const second = many.by.find((k) => other.includes(k)) ?? other[0] ?? first;
  const [x, y] = [number("x", many.axes.length, 0), number("y", many.axes.length, 1)];
  const of = number("of", many.figures.length, first);
  const [px, py] = [number("px", many.figures.length, first), number("py", many.figures.length, second)];
  const label = (i: number) => [...(many.study ? [] : [many.points[i].name]), ...settings(many, many.points[i])].slice(0, 5).join(" · ");
  return (
    <section aria-label="Compare" class="wrap many" onMouseLeave={() => look(-1)}>
      <p class="eyebrow">
        {many.study ? "Study" : "Compare"} · {many.title && `${many.title} · `}
        {f.plural(many.of, many.study ? "point" : "run")}
        {many.study && ` of ${f.count(many.study.points)}`}
        {many.study && many.study.seeds > 1 && ` · ${many.study.seeds} seeds each`}
      </p>
      <h1 data-testid="verdict">{verdict(many)}</h1>
      <Progress many={many} />
      {many.unlike.length > 0 && (
        <p class="warn" role="alert" data-testid="unlike">
          These {many.study ? "points" : "runs"} differ in {many.unlike.join(" and ")}: step times compare the work, not the fabric.
        </p>
      )}
      {many.left_out.map((why) => (
        <p class="warn" data-testid="left-out">
          Not compared: {why}.
        </p>
      ))}
      {many.points.length > 0 && (
        <>
          <Differ many={many} kept={kept} only={only} />
          <p class="looked" data-testid="looked">
            {looked.at >= 0 ? <Chosen many={many} i={looked.at} /> : <span class="note">Point at a dot, a line or a bar to see its settings; a click keeps it.</span>}
          </p>
          <div class="split even">
            {many.axes.length > 0 && (
              <div>
                <div class="head">
                  <h2>Heat map</h2>
                  <span class="choices">
                    <Choice name="of" label="figure of the heat map" value={of} list={differs.map((k) => [k, many.figures[k].words])} />
                    {many.axes.length > 1 && (
                      <>
                        {" by "}
                        <Choice name="x" label="columns" value={x} list={many.axes.map((a, k) => [k, a.short])} />
                        {" and "}
                        <Choice name="y" label="rows" value={y} list={many.axes.map((a, k) => [k, a.short])} />
                      </>
                    )}
                  </span>
                </div>
                <Heat many={many} shown={shown} x={x} y={many.axes.length > 1 && x !== y ? y : -1} of={of} only={only} />
              </div>
            )}
            <div>
              <div class="head">
                <h2>Pareto front</h2>
                <span class="choices">
                  <Choice name="px" label="horizontal figure" value={px} list={differs.map((k) => [k, many.figures[k].words])} />
                  {" and "}
                  <Choice name="py" label="vertical figure" value={py} list={differs.map((k) => [k, many.figures[k].words])} />
                </span>
              </div>
              <Pareto many={many} shown={shown} x={px} y={py} looked={looked} />
            </div>
          </div>
          <div class="head">
            <h2>Parallel coordinates</h2>
            <p class="note">The best tenth by {many.figures[first].words} in colour. A value keeps the points that have it.</p>
          </div>
          <Parallel
            many={many}
            shown={shown}
            axes={many.axes.map((_, k) => k).slice(0, 6)}
            figures={px === py ? [px] : [px, py]}
            kept={kept}
            only={only}
            looked={looked}
          />
          <div class="head">
            <h2>Step by cause</h2>
          </div>
          <Multiples many={many} shown={shown} most={24} label={label} looked={looked} />
          <Table many={many} shown={shown} figures={[...new Set([...many.by, px, py])]} looked={looked} />
        </>
      )}
    </section>
  );
}

/** settings are those of a point, short. */
const settings = (many: Many, p: ManyPoint) =>
  many.axes.flatMap((a, k) => (p.at[k] >= 0 ? [`${a.short} ${a.shown[p.at[k]]}`] : []));

/** baseOf names what points are compared with. */
const baseOf = (many: Many) => (many.study && !many.study.command ? "the scenario" : many.base!.name);

/** verdict says what the best point is, against the scenario as it is or the run named first. */
function verdict(many: Many): string {
  const best = many.points[0];
  if (!best) return "No point has ended yet.";
  const k = many.by[0];
  const fig = many.figures[k];
  const name = many.study ? settings(many, best).slice(0, 4).join(", ") : best.name;
  const base = many.base?.figures[k] ?? 0;
  const share = base > 0 ? best.figures[k] / base - 1 : 0;
  if (many.base?.name === best.name) return `${name} has the best ${fig.words}, ${figure(best.figures[k], fig)}.`;
  if (Math.abs(share) < 0.0005) return `${name}: ${fig.words} ${figure(best.figures[k], fig)}, as ${many.base?.name ?? "the others"}.`;
  if (fig.key === "step_time")
    return `${name} finishes ${f.time(Math.abs(best.figures[k] - base))} (${f.percent(Math.abs(share))}) ${share < 0 ? "earlier" : "later"} than ${baseOf(many)}.`;
  return `${name}: ${fig.words} ${figure(best.figures[k], fig)}, ${f.changePercent(share)} against ${baseOf(many)}.`;
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
        <p class="warn">
          {f.plural(s.failed, "trial")} failed{s.error && `: ${s.error}`}
        </p>
      )}
    </div>
  );
}

/** Differ lists the settings that differ, what each explains, and which values are kept. */
function Differ(props: { many: Many; kept: Map<number, number>; only: (axis: number, value: number) => void }) {
  const { many, kept } = props;
  if (many.axes.length === 0) return <p class="note">No setting differs.</p>;
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
          {a.share >= 0 ? (
            <>
              <i class="bar-share" style={{ width: `${60 * a.share}px` }} /> {f.percent(a.share)}
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
              <th class="n" title="share of the variance of the first objective, epsilon squared">explains</th>
            </tr>
          </thead>
          <tbody>{all.slice(0, head).map(row)}</tbody>
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

/** Table is the points, the best first; those of the front are marked. */
function Table(props: { many: Many; shown: number[]; figures: number[]; looked: Looked }) {
  const { many, shown, looked } = props;
  const [most, more] = useState(listed);
  const axes = many.axes.map((_, k) => k).slice(0, 6);
  const on = new Set(many.by.length > 1 ? front(many, shown, many.by[0], many.by[1]) : []);
  const kept = (many.study ? shown : []).flatMap((i) => many.points[i].runs?.slice(0, 1) ?? []).slice(0, 6);
  const against = (v: number, k: number) => {
    const b = many.base?.figures[k] ?? 0;
    return b > 0 && Math.abs(v / b - 1) >= 0.0005 ? f.changePercent(v / b - 1) : "";
  };
  return (
    <>
      <div class="head">
        <h2>{many.study ? "Points" : "Runs"}</h2>
        <p class="note">
          {kept.length > 1 && (
            <>
              <a href={address(["compare"], { runs: kept.join(",") })}>Compare the {f.plural(kept.length, "best kept run")}</a>.{" "}
            </>
          )}
          {many.study && !many.study.command && kept.length === 0 && "This study keeps no run directories (--keep best:5 keeps five). "}
          {on.size > 0 && "★ on the Pareto front. "}
          {many.base && `Changes against ${baseOf(many)}.`}
          {many.of > many.points.length && ` ${f.count(many.points.length)} of ${f.count(many.of)} points are drawn: the best, and others spread over the rest.`}
        </p>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="points">
        <table class="tight" data-testid="points">
          <thead>
            <tr>
              <th>{many.study ? "point" : "run"}</th>
              {axes.map((k) => (
                <th class="n" title={many.axes[k].key}>
                  {many.axes[k].short}
                </th>
              ))}
              {props.figures.map((k) => (
                <th class="n">{many.figures[k].words}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, most).map((i) => {
              const p = many.points[i];
              return (
                <tr class={looked.at === i ? "chosen" : ""} onMouseEnter={() => looked.look(i)}>
                  <th scope="row" class="when">
                    <button class="plain" aria-pressed={looked.at === i} onClick={() => looked.pin(i)}>
                      {p.name}
                    </button>
                    {on.has(i) && " ★"}
                    {p.runs?.[0] && (
                      <a class="kept" href={address(["run", p.runs[0]])} title={`open ${p.runs[0]}`}>
                        run
                      </a>
                    )}
                  </th>
                  {axes.map((k) => (
                    <td class="n">{p.at[k] >= 0 ? many.axes[k].shown[p.at[k]] : "–"}</td>
                  ))}
                  {props.figures.map((k) => (
                    <td class="n">
                      {figure(p.figures[k], many.figures[k])} <small class="against">{against(p.figures[k], k)}</small>
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
        {shown.length > most && (
          <button onClick={() => more(most + 200)}>
            show {f.count(Math.min(200, shown.length - most))} more
          </button>
        )}
      </div>
    </>
  );
}
