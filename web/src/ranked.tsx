import { useState } from "preact/hooks";
import { causeColour } from "./colour";
import { names } from "./causes";
import type { Many, ManyPoint } from "./contract";
import * as f from "./format";
import { apart, figure, type Looked, tied } from "./manyplots";
import { address } from "./state";

const listed = 20; // rows before more are asked for

/** baseOf names what points are compared with. */
export const baseOf = (many: Many) => (many.study && !many.study.command ? "the scenario" : many.base!.name);

/** alike groups ranked points of a study that follow one another, differ in one setting alone, and tie in all objectives. */
function alike(many: Many, ranked: number[]): number[][] {
  const out: number[][] = [];
  let by = -1; // the setting in which the last group differs
  for (const i of ranked) {
    const last = out[out.length - 1];
    const [p, q] = [many.points[i], last && many.points[last[0]]];
    const differ = q ? many.axes.flatMap((_, k) => (p.at[k] === q.at[k] ? [] : [k])) : [];
    const same = q && !p.runs?.length && !q.runs?.length && many.by.every((k) => p.figures[k] === q.figures[k]) && p.low === q.low && p.high === q.high;
    if (many.study && same && differ.length === 1 && (last.length === 1 || differ[0] === by)) {
      last.push(i);
      by = differ[0];
    } else out.push([i]);
  }
  return out;
}

/** valuesOf writes a point's value of a setting, or the values of those that are alike. */
function valuesOf(many: Many, p: ManyPoint, group: number[], k: number): string {
  const a = many.axes[k];
  const all = [...new Set(group.map((i) => many.points[i].at[k]))].sort((x, y) => x - y);
  if (all.length < 2) return p.at[k] >= 0 ? a.shown[p.at[k]] : "–";
  const next = all.every((v, i) => v >= 0 && (i === 0 || v === all[i - 1] + 1));
  return all.length > 2 && next && /\d/.test(a.shown[all[0]]) ? `${a.shown[all[0]]} to ${a.shown[all[all.length - 1]]}` : all.map((v) => (v >= 0 ? a.shown[v] : "–")).join(", ");
}

/** reach is where the axis of bars ends, given each bar's value and the highest of its seeds: where fewer than half of
 * those above 0 are five times as long as their median, and not the best, they are cut, so that the others can be told
 * apart. */
function reach(bars: [number, number][], higher: boolean): number {
  const all = bars.map(([v]) => v).filter((v) => v > 0).sort((a, b) => a - b);
  const near = all.filter((v) => v <= 5 * all[Math.floor((all.length - 1) / 2)]);
  const cuts = !higher && near.length < all.length && 2 * near.length > all.length;
  return Math.max(1e-12, ...(cuts ? [1.25 * near[near.length - 1]] : bars.map(([, high]) => high)));
}

/** Ranked is the points as one chart, the best first: the step by cause, the spread over the seeds, the change against
 * the scenario or the run named first, other objectives, the longest queue and PFC. A star is on the Pareto front of by. */
export function Ranked(props: { many: Many; shown: number[]; looked: Looked; by: [number, number] }) {
  const { many, looked } = props;
  const [most, more] = useState(listed);
  const first = many.by[0];
  const fig = many.figures[first];
  const worse = (a: number, b: number) => (fig.higher ? -1 : 1) * (many.points[a].figures[first] - many.points[b].figures[first]);
  const all = [...props.shown].sort((a, b) => worse(a, b) || a - b);
  const groups = alike(many, all).slice(0, most);
  const rows = groups.map(([i]) => i);
  const costs = many.figures.flatMap((x, k) => (["queue_peak", "pfc_pause"].includes(x.key) && many.points.some((p) => p.figures[k] > 0) ? [k] : []));
  const others = [...new Set([...many.by.slice(1), ...costs])].filter((k) => k !== first);
  const axes = many.axes.map((_, k) => k).slice(0, 6);
  const seeded = rows.some((i) => many.points[i].over);
  const paired = seeded && !(many.base && !apart(many)); // else the difference from the base says it
  const ties = many.points.filter((p) => p.tie).length;
  const [px, py] = props.by;
  const on = px === py ? new Set<number>() : tied(many, props.shown, px, py);
  const causes = fig.key === "step_time" && rows.every((i) => many.points[i].causes.length > 0);
  const base = many.base;
  // The scenario has a row of its own where it ranks.
  let place = 0;
  const entries = groups.map((g): [ManyPoint, number, number, number[]] => [many.points[g[0]], g[0], (place += g.length) - g.length, g]);
  if (base && apart(many)) {
    const before = rows.filter((i) => (fig.higher ? -1 : 1) * (many.points[i].figures[first] - base.figures[first]) <= 0).length;
    entries.splice(before, 0, [base, -1, -1, []]);
  }
  const top = reach(entries.map(([p]) => [p.figures[first], Math.max(p.high, p.figures[first])]), fig.higher);
  const at = (v: number) => `${(100 * Math.max(0, Math.min(v, top))) / top}%`;
  const cut = entries.some(([p]) => p.figures[first] > top);
  const spread = rows.some((i) => many.points[i].high > many.points[i].low);
  const present = names.filter(([k]) => causes && rows.some((i) => many.points[i].causes.some((c) => c.key === k && c.time_ps >= 0.002 * top)));
  const ticks = fig.kind === "time" ? f.axis(0, top, 4) : f.ticks(0, top, 4).map((v) => ({ at: v, label: figure(v, fig) }));
  const change = (v: number, k: number) => {
    const b = many.base?.figures[k] ?? 0;
    return b > 0 ? f.changePercent(Math.abs(v / b - 1) < 0.0005 ? 0 : v / b - 1) : "";
  };
  /** margin is a paired difference with half of its 95 % confidence interval, or the test that tells the two apart where
   * one seed far off widens the interval beyond the difference. */
  const margin = ([d, half]: number[], noise?: boolean) =>
    `${d < 0 ? "−" : "+"}${figure(Math.abs(d), fig)} ${!noise && half > Math.abs(d) ? "by rank test" : `± ${figure(half, fig)}`}`;
  const better = (v: number, k: number) => Math.abs(v / many.base!.figures[k] - 1) >= 0.0005 && (v < many.base!.figures[k]) !== many.figures[k].higher;
  const label = (p: ManyPoint) => axes.flatMap((k) => (p.at[k] >= 0 ? [`${many.axes[k].short} ${many.axes[k].shown[p.at[k]]}`] : [])).join(", ");
  const kept = (many.study ? all : []).flatMap((i) => many.points[i].runs?.slice(0, 1) ?? []).slice(0, 6);
  const words = (p: ManyPoint) =>
    `${many.study ? label(p) : p.name}: ${causes ? p.causes.map((c) => `${names.find(([k]) => k === c.key)?.[1] ?? c.key} ${f.time(c.time_ps)}`).join(", ") : figure(p.figures[first], fig)}`;
  return (
    <div>
      <p class="kinds" data-testid="legend">
        {present.map(([k, name]) => (
          <span>
            <i style={{ background: causeColour(k) }} />
            {name}
          </span>
        ))}
        {spread && (
          <span>
            <i class="whisker" />
            {many.points.some((p) => (p.seeds ?? []).length > 1) ? "each seed, and their range" : "range over the seeds"}
          </span>
        )}
        {cut && (
          <span>
            <i class="cut" />
            cut: longer than the axis
          </span>
        )}
        {base && (
          <span>
            <i class="baseline" />
            {base.name} {figure(base.figures[first], fig)}
          </span>
        )}
        {on.size > 0 && (
          <span>
            ★ on the Pareto front of {many.figures[px].words} and {many.figures[py].words}
          </span>
        )}
        {seeded ? <span class="over">±: 95 % confidence of the mean difference, paired by seed</span> : ties > 1 && <span>tie: as the best</span>}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="points">
        <table class="ranked" data-testid="points">
          <thead>
            <tr>
              <th>{!many.study ? "run" : many.study.command ? "variant" : ""}</th>
              {axes.map((k) => (
                <th title={many.axes[k].key}>{many.axes[k].short}</th>
              ))}
              <th class="bars">
                {causes ? `${fig.words} by cause` : fig.words}
                {many.study && many.study.seeds > 1 && `, mean of ${many.study.seeds} seeds`}
              </th>
              <th class="n">{fig.words}</th>
              {paired && <th class="n">vs best</th>}
              <th class="n">{many.base ? `vs ${baseOf(many).replace("the ", "")}` : ""}</th>
              {others.map((k) => (
                <th class="n" colSpan={2}>
                  {many.figures[k].words}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {entries.map(([p, i, n, g]) => {
              const v = p.figures[first];
              return (
                <tr class={i < 0 ? "base" : looked.at === i ? "chosen" : ""}>
                  <th scope="row">
                    {i < 0 ? (
                      p.name
                    ) : (
                      <button class="plain" aria-pressed={looked.at === i} onClick={() => looked.pin(i)}>
                        {many.study && !many.study.command ? (g.length > 1 ? `${n + 1}–${n + g.length}` : n + 1) : p.name}
                        {many.study && !many.study.command && <span class="hidden"> {p.name}</span>}
                      </button>
                    )}
                    {on.has(i) && " ★"}
                    {p.tie && !seeded && n > 0 && <span class="tie">tie</span>}
                    {p.runs?.[0] && (
                      <a class="kept" href={address(["run", p.runs[0]])} title={`open ${p.runs[0]}`}>
                        run
                      </a>
                    )}
                  </th>
                  {axes.map((k) => (
                    <td class="set" data-axis={many.axes[k].short}>
                      {valuesOf(many, p, g, k)}
                    </td>
                  ))}
                  <td class="bars" role="img" aria-label={words(p)} title={words(p)}>
                    <div>
                      {ticks.map((t) => (
                        <s style={{ left: at(t.at) }} />
                      ))}
                      {causes ? (
                        p.causes.map((c, k) => {
                          const before = p.causes.slice(0, k).reduce((sum, x) => sum + x.time_ps, 0);
                          return <i style={{ left: at(before), width: at(Math.min(before + c.time_ps, top) - before), background: causeColour(c.key) }} />;
                        })
                      ) : (
                        <i style={{ left: 0, width: at(v), background: "var(--l4)" }} />
                      )}
                      {base && <b style={{ left: at(base.figures[first]) }} />}
                      {p.high > p.low && <u style={{ left: at(p.low), width: at(Math.min(p.high, top) - p.low) }} />}
                      {p.high > p.low && (p.seeds ?? []).map((s) => s <= top && <em style={{ left: at(s) }} />)}
                      {v > top && <q data-testid="cut" />}
                    </div>
                  </td>
                  <td class="n value">{figure(v, fig)}</td>
                  {paired && <td class="n over">{p === many.points[0] ? "–" : p.over && p.over[0] === 0 && p.over[1] === 0 ? "equal" : p.over && margin(p.over, p.noise)}{p !== many.points[0] && p.noise && <small>in noise</small>}</td>}
                  <td class={`n change ${i >= 0 && change(v, first) && better(v, first) && !p.against_noise ? "good" : ""}`}>
                    {i < 0 || p.name === base?.name ? "–" : change(v, first)}
                    {!paired && p.against && p.name !== base?.name && p.against[1] > 0 && <small>{margin(p.against, p.against_noise)}</small>}
                    {i >= 0 && p.against_noise && <small>in noise</small>}
                  </td>
                  {others.flatMap((k) => [
                    <td class="n">{figure(p.figures[k], many.figures[k])}</td>,
                    <td class={`n change ${change(p.figures[k], k) && better(p.figures[k], k) ? "good" : ""}`}>{(i < 0 || p.name === base?.name) && change(p.figures[k], k) ? "–" : change(p.figures[k], k)}</td>,
                  ])}
                </tr>
              );
            })}
          </tbody>
          <tfoot>
            <tr>
              <td colSpan={1 + axes.length} />
              <td class="bars">
                <div>
                  {ticks
                    .filter((t) => !base || Math.abs(t.at - base.figures[first]) > 0.1 * top)
                    .map((t) => (
                      <span style={{ left: at(t.at) }}>{t.label}</span>
                    ))}
                  {base && (
                    <span class="baseline" style={{ left: at(base.figures[first]), transform: base.figures[first] > 0.8 * top ? "translateX(-100%)" : undefined }}>
                      {base.name} {figure(base.figures[first], fig)}
                    </span>
                  )}
                </div>
              </td>
              <td colSpan={2 + Number(paired) + 2 * others.length} />
            </tr>
          </tfoot>
        </table>
      </div>
      <p class="note">
        {place < all.length && (
          <button onClick={() => more(most + 200)}>
            show {f.count(Math.min(200, all.length - place))} more of {f.count(all.length)}
          </button>
        )}{" "}
        {kept.length > 1 && <a href={address(["compare"], { runs: kept.join(",") })}>Compare the {f.plural(kept.length, "best kept run")}</a>}
        {many.of > many.points.length && ` ${f.count(many.points.length)} of ${f.count(many.of)} points are drawn: the best, and others spread over the rest.`}
      </p>
    </div>
  );
}
