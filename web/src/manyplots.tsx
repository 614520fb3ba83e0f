import type { Many, ManyFigure, ManyPoint } from "./contract";
import * as f from "./format";
import { address } from "./state";
import { useWidth } from "./stepbar";

/** Looked is which point is looked at, and how to look at another. */
export interface Looked {
  at: number; // -1: none
  look: (point: number) => void;
  pin: (point: number) => void;
}

/** figure writes a value of a figure. */
export const figure = (v: number, x: ManyFigure) =>
  x.kind === "time"
    ? f.time(v)
    : x.kind === "size"
      ? f.bytes(v)
      : x.key === "mfu" || x.key.startsWith("uplink")
        ? f.percent(v)
        : Number.isInteger(v) || Math.abs(v) >= 1000
          ? f.count(Math.round(v))
          : f.digits(v);

/** beyond writes the far end of a range, as a difference where both ends would read the same. */
const beyond = (from: number, to: number, x: ManyFigure) =>
  from !== to && figure(from, x) === figure(to, x) ? `${to > from ? "+" : "−"}${figure(Math.abs(to - from), x)}` : figure(to, x);

/** wide reports whether values span more than a factor of ten: their scale is logarithmic, so that one point that is far
 * off does not hide the others. */
const wide = (low: number, high: number) => low > 0 && high > 10 * low;

/** place is where a value lies from low to high, from 0 to 1. */
const place = (v: number, low: number, high: number) =>
  high <= low ? 0.5 : wide(low, high) ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low);

/** decades are ticks of a logarithmic axis: 1, 2 and 5 of each power of ten. */
const decades = (low: number, high: number) =>
  Array.from({ length: 3 * Math.ceil(Math.log10(high / low) + 1) }, (_, i) => [1, 2, 5][i % 3] * 10 ** (Math.floor(Math.log10(low)) + Math.floor(i / 3))).filter(
    (v) => v >= low && v <= high,
  );

const bands = 32; // rows and columns of a heat map; more values are joined
const shades = 6; // of the ramp, --l1 to --l6

/** Heat is the mean of a figure over the values of two settings. The strongest shade is best. */
export function Heat(props: { many: Many; shown: number[]; x: number; y: number; of: number; only: (axis: number, value: number) => void }) {
  const { many, shown } = props;
  const { box, width } = useWidth(520);
  const [ax, ay] = [many.axes[props.x], many.axes[props.y] as Many["axes"][0] | undefined];
  const [cols, rows] = [Math.min(bands, ax.typed.length), ay ? Math.min(bands, ay.typed.length) : 1];
  const of = many.figures[props.of];
  const sums = new Map<number, [number, number, string | undefined]>(); // sum, points, the run of the last
  for (const i of shown) {
    const p = many.points[i];
    const [vx, vy] = [p.at[props.x], ay ? p.at[props.y] : 0];
    if (vx < 0 || vy < 0) continue;
    const c = Math.floor((vx * cols) / ax.typed.length) + cols * (ay ? Math.floor((vy * rows) / ay.typed.length) : 0);
    const s = sums.get(c) ?? [0, 0];
    sums.set(c, [s[0] + p.figures[props.of], s[1] + 1, many.study ? p.runs?.[0] : p.name]);
  }
  const means = [...sums.values()].map(([sum, n]) => sum / n);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const left = ay ? Math.min(150, 14 + 7 * Math.max(...ay.shown.map((s) => s.length))) : 0;
  const w = (width - left) / cols;
  const h = Math.max(16, Math.min(80, 280 / rows));
  const ranks = [...new Set(means)].sort((a, b) => a - b);
  const ranked = wide(low, high) && ranks.length <= shades; // one value far off leaves the others their own shades
  const shade = (v: number) => {
    const share = high <= low ? 0 : ranked ? ranks.indexOf(v) / (ranks.length - 1) : place(v, low, high);
    return 1 + Math.min(shades - 1, Math.floor((of.higher ? share : 1 - share) * shades));
  };
  const every = Math.max(1, Math.ceil((7.2 * Math.max(...ax.shown.map((s) => s.length)) + 10) / w));
  return (
    <div class="plot" ref={box} data-testid="heat">
      <svg width={width} height={rows * h + 44} role="group" aria-label={`${of.words} by ${ax.short}${ay ? ` and ${ay.short}` : ""}`}>
        {Array.from({ length: rows * cols }, (_, c) => {
          const [x, y] = [left + (c % cols) * w, (rows - 1 - Math.floor(c / cols)) * h];
          const s = sums.get(c);
          const v = s && s[0] / s[1];
          const k = Math.floor(((c % cols) * ax.typed.length) / cols);
          const run = s?.[1] === 1 ? s[2] : undefined; // of a cell with one point, where it is kept
          return v === undefined ? (
            <rect x={x + 0.5} y={y + 0.5} width={w - 1} height={h - 1} class="hollow" />
          ) : (
            <a class="pick" href={run && address(["run", run])} onClick={() => !run && props.only(props.x, k)} data-value={v}>
              <title>{`${ax.short} ${ax.shown[k]}${ay ? `, ${ay.short} ${ay.shown[Math.floor((Math.floor(c / cols) * ay.typed.length) / rows)]}` : ""}: ${figure(v, of)}${s![1] > 1 ? `, mean of ${s![1]} points` : run ? "; opens its run" : ""}`}</title>
              <rect x={x + 0.5} y={y + 0.5} width={w - 1} height={h - 1} fill={`var(--l${shade(v)})`} />
              {w > 58 && (
                <text class={shade(v) > 3 ? "light" : "dark"} x={x + w / 2} y={y + h / 2 + 4} text-anchor="middle">
                  {figure(v, of)}
                </text>
              )}
            </a>
          );
        })}
        {ay &&
          Array.from({ length: rows }, (_, r) => (
            <text x={left - 8} y={(rows - 1 - r) * h + h / 2 + 4} text-anchor="end">
              {(rows <= 20 || r % 2 === 0) && ay.shown[Math.floor((r * ay.typed.length) / rows)]}
            </text>
          ))}
        {Array.from({ length: cols }, (_, c) => c % every === 0 && (
          <text x={left + (c + 0.5) * w} y={rows * h + 15} text-anchor="middle">
            {ax.shown[Math.floor((c * ax.typed.length) / cols)]}
          </text>
        ))}
        <text class="b" x={width} y={rows * h + 36} text-anchor="end">
          {ax.short} →
        </text>
        {ay && (
          <text class="b" x={0} y={rows * h + 36}>
            ↑ {ay.short}
          </text>
        )}
      </svg>
      <p class="kinds">
        {Array.from({ length: shades }, (_, i) => (
          <i class="shade" style={{ background: `var(--l${shades - i})` }} />
        ))}
        <span>
          {figure(of.higher ? high : low, of)} (best) to {beyond(of.higher ? high : low, of.higher ? low : high, of)}
          {high > low && low > 0 && (wide(low, high) ? `, × ${f.digits(high / low)}, ${ranked ? "by rank" : "logarithmic"}` : `, ${f.percent(high / low - 1)} apart`)}
          {many.axes.length > (ay ? 2 : 1) && ", mean over the other settings"}
        </span>
      </p>
    </div>
  );
}

/** apart is the base of a study that is none of its points: the scenario as it is. */
export const apart = (many: Many) => many.base && !many.points.some((p) => p.name === many.base!.name);

/** pointOf is a point, or the scenario as it is, which has the number -1. */
export const pointOf = (many: Many, i: number): ManyPoint => (i < 0 ? many.base! : many.points[i]);

/** front returns the points that no other point dominates by two figures, in the order of the first; the scenario as it
 * is takes part as -1. */
export function front(many: Many, shown: number[], x: number, y: number): number[] {
  const sign = (k: number) => (many.figures[k].higher ? -1 : 1);
  const v = (i: number, k: number) => sign(k) * pointOf(many, i).figures[k];
  const out: number[] = [];
  for (const i of [...shown, ...(apart(many) ? [-1] : [])].sort((a, b) => v(a, x) - v(b, x) || v(a, y) - v(b, y)))
    if (out.length === 0 || v(i, y) < v(out[out.length - 1], y)) out.push(i);
  return out;
}

/** tied returns all points that lie where one of the front does: equal points do not dominate one another. */
export function tied(many: Many, shown: number[], x: number, y: number): Set<number> {
  const at = (i: number) => `${pointOf(many, i).figures[x]} ${pointOf(many, i).figures[y]}`;
  const best = new Set(front(many, shown, x, y).map(at));
  return new Set([...shown, ...(apart(many) ? [-1] : [])].filter((i) => best.has(at(i))));
}

/** apartFrom places labels beside their points, where they cover no other label or point; those without room are left out. */
function apartFrom(words: [[number, number], string][], points: [number, number][], width: number) {
  const taken: [number, number, number, number][] = points.map(([x, y]) => [x - 4, y - 4, x + 4, y + 4]);
  return words.flatMap(([[x, y], text]) => {
    const long = 6.6 * text.length;
    for (const [dx, dy] of [[9, 4], [-9, 4], [6, -8], [-6, -8], [6, 18], [-6, 18]]) {
      const from = dx > 0 ? x + dx : x + dx - long;
      const box: [number, number, number, number] = [from, y + dy - 10, from + long, y + dy + 3];
      if (box[0] < 60 || box[2] > width || box[1] < 0 || taken.some(([a, b, c, d]) => box[0] < c && box[2] > a && box[1] < d && box[3] > b)) continue;
      taken.push(box);
      return [{ text, x: x + dx, y: y + dy, end: dx < 0 }];
    }
    return [];
  });
}

/** Pareto is all points by two figures, those that no other dominates joined. */
export function Pareto(props: { many: Many; shown: number[]; x: number; y: number; looked: Looked }) {
  const { many, shown, looked } = props;
  const { box, width } = useWidth(520);
  const [fx, fy] = [many.figures[props.x], many.figures[props.y]];
  const all = many.base ? [...shown.map((i) => many.points[i]), many.base] : shown.map((i) => many.points[i]);
  const best = front(many, shown, props.x, props.y);
  const seeds = props.x === many.by[0];
  const range = (k: number) => {
    const v = all.map((p) => p.figures[k]);
    if (seeds && k === props.x) v.push(...best.flatMap((i) => (pointOf(many, i).high > pointOf(many, i).low ? [pointOf(many, i).low, pointOf(many, i).high] : [])));
    const [a, b] = [Math.min(...v), Math.max(...v)];
    if (wide(a, b)) return [a / 1.15, b * 1.15];
    const pad = (b - a || Math.abs(b) || 1) * 0.06;
    return [a >= 0 ? Math.max(0, a - pad) : a - pad, b + pad];
  };
  const [[x0, x1], [y0, y1]] = [range(props.x), range(props.y)];
  const [left, height, foot] = [74, 320, 40];
  const X = (v: number) => left + place(v, x0, x1) * (width - left - 14);
  const Y = (v: number) => 8 + (1 - place(v, y0, y1)) * (height - foot - 8);
  const on = new Set(best);
  const equal = tied(many, shown, props.x, props.y);
  const at = (p: ManyPoint): [number, number] => [X(p.figures[props.x]), Y(p.figures[props.y])];
  // Labels that would read the same are written once.
  const ticks = (k: ManyFigure, from: number, to: number, n: number) =>
    wide(from, to)
      ? decades(from, to).map((v) => ({ at: v, label: figure(v, k) }))
      : k.kind === "time"
      ? f.axis(from, to, n)
      : f.ticks(from, to, n).map((v, i, all) => ({ at: v, label: i > 0 && figure(v, k) === figure(all[i - 1], k) ? "" : figure(v, k) }));
  const path = best
    .map((i, n) => {
      const [x, y] = at(pointOf(many, i));
      return n === 0 ? `M${x} ${y}` : `H${x}V${y}`;
    })
    .join("");
  const named = (i: number) =>
    many.study && !many.study.command
      ? many.axes.flatMap((a, k) => (many.points[i].at[k] >= 0 ? [a.shown[many.points[i].at[k]]] : [])).join(" ")
      : many.points[i].name;
  const near = ([x, y]: [number, number], [u, v]: [number, number]) => Math.hypot(x - u, y - v) < 7;
  const words: [[number, number], string][] = [];
  if (many.base && apart(many)) words.push([at(many.base), many.base.name + (equal.has(-1) ? "" : ", dominated")]);
  // Few points have names, those of the front first; points that coincide have one.
  for (const i of shown.length <= 12 ? [...best.filter((i) => i >= 0), ...shown.filter((i) => !on.has(i))] : []) {
    const same = words.find(([p]) => near(p, at(many.points[i])));
    if (!same) words.push([at(many.points[i]), named(i)]);
    else if (on.has(i)) same[1] += `, ${named(i)}`;
  }
  const labels = apartFrom(words, all.map(at), width);
  return (
    <div class="plot" ref={box} data-testid="pareto">
      <svg width={width} height={height} role="img" aria-label={`${fy.words} against ${fx.words}, ${best.length} points on the Pareto front`}>
        {ticks(fy, y0, y1, 5).map((t) => (
          <>
            <path class="grid" d={`M${left} ${Y(t.at)}H${width}`} />
            <text x={left - 8} y={Y(t.at) + 4} text-anchor="end">
              {t.label}
            </text>
          </>
        ))}
        {ticks(fx, x0, x1, width < 420 ? 3 : 5).map((t) => (
          <>
            <path class="grid" d={`M${X(t.at)} 8V${height - foot}`} />
            <text x={Math.min(X(t.at), width - 24)} y={height - foot + 15} text-anchor="middle">
              {t.label}
            </text>
          </>
        ))}
        <text class="b" x={width} y={height - 4} text-anchor="end">
          {fx.words} →
        </text>
        <text class="b" x={0} y={height - 4}>
          ↑ {fy.words}
        </text>
        <path d={path} fill="none" stroke="var(--accent)" stroke-width={1.5} />
        {seeds &&
          (shown.length <= 12 ? shown : best).map((i) => {
            const p = pointOf(many, i);
            return p.high > p.low && <path d={`M${X(Math.max(p.low, x0))} ${at(p)[1]}H${X(Math.min(p.high, x1))}`} stroke={on.has(i) ? "var(--accent)" : "var(--fine)"} stroke-width={1} opacity={0.5} />;
          })}
        {[...shown].reverse().map((i) => {
          const [x, y] = at(many.points[i]);
          return (
            <circle
              class="pick"
              data-point={many.points[i].name}
              data-front={on.has(i) || undefined}
              cx={x}
              cy={y}
              r={looked.at === i ? 6.5 : on.has(i) ? 4.5 : 3}
              fill={on.has(i) ? "var(--accent)" : "var(--fine)"}
              stroke={looked.at === i ? "var(--ink)" : "var(--bg)"}
              stroke-width={looked.at === i ? 2 : 0.6}
              onMouseEnter={() => looked.look(i)}
              onClick={() => looked.pin(i)}
            >
              <title>{`${many.points[i].name}: ${figure(many.points[i].figures[props.x], fx)}, ${figure(many.points[i].figures[props.y], fy)}`}</title>
            </circle>
          );
        })}
        {labels.map((l) => (
          <text class="b over" x={l.x} y={l.y} text-anchor={l.end ? "end" : "start"}>
            {l.text}
          </text>
        ))}
        {many.base && apart(many) && (
          <>
            <rect data-base data-front={on.has(-1) || undefined} x={at(many.base)[0] - 5} y={at(many.base)[1] - 5} width={10} height={10} fill={equal.has(-1) ? "var(--accent)" : "var(--bg)"} stroke="var(--ink)" stroke-width={2} />
          </>
        )}
      </svg>
      <p class="kinds">
        <span>
          <i class="dot front" />
          Pareto front, {f.plural(equal.size - Number(equal.has(-1)), "point")}
          {equal.has(-1) && ` and the ${many.base!.name}`}
        </span>
        <span>
          <i class="dot" />
          {f.count(shown.length - equal.size + Number(equal.has(-1)))} dominated
        </span>
        {seeds && shown.some((i) => many.points[i].high > many.points[i].low) && <span>horizontal lines: {shown.length > 12 && "of the front, "}lowest to highest over the seeds</span>}
      </p>
    </div>
  );
}

/** live returns the axes whose values change the first figure at points that have all other settings in common, or of
 *  which no two points say so; of the points shown with more than one value. */
export function live(many: Many, shown: number[]): number[] {
  return many.axes.flatMap((_, k) => {
    if (new Set(shown.map((i) => many.points[i].at[k])).size < 2) return [];
    const seen = new Map<string, number>();
    let [compared, moves] = [false, false];
    for (const p of many.points) {
      const key = p.at.filter((_, j) => j !== k).join();
      const v = p.figures[many.by[0]];
      if (!seen.has(key)) seen.set(key, v);
      else [compared, moves] = [true, moves || seen.get(key) !== v];
    }
    return moves || !compared ? [k] : [];
  });
}

const fan = 0.7; // share of a value's room in which its lines are side by side

/** Parallel draws every point as a line through its settings and figures, whose best values are on top. Lines of a value
 *  are side by side, in the order in which they reach the next axis; a value keeps the points that have it. */
export function Parallel(props: {
  many: Many;
  shown: number[];
  axes: number[];
  figures: number[];
  kept: Map<number, number>;
  only: (axis: number, value: number) => void;
  looked: Looked;
}) {
  const { many, shown, looked } = props;
  const { box, width: room } = useWidth(900);
  const n = props.axes.length + props.figures.length;
  const small = room < 560;
  const width = Math.max(room, n * (small ? 84 : 130));
  const [top, height, bottom] = [38, 346, 20];
  const X = (k: number) => 6 + (k * (width - (small ? 88 : 126))) / Math.max(1, n - 1);
  const Y = (share: number) => top + (1 - share) * (height - top - bottom);
  const ranges = props.figures.map((g) => {
    const v = shown.map((i) => many.points[i].figures[g]);
    const [low, high] = [Math.min(...v), Math.max(...v)];
    return many.figures[g].higher ? [low, high] : [high, low]; // worst, best
  });
  // Places of the points on each axis, from the last to the first.
  const places: (number | undefined)[][] = Array(n);
  props.figures.forEach((g, k) => {
    const [worst, best] = ranges[k];
    const share = (v: number) => place(v, Math.min(worst, best), Math.max(worst, best));
    places[props.axes.length + k] = shown.map((i) => (worst < best ? share : (v: number) => (best === worst ? 1 : 1 - share(v)))(many.points[i].figures[g]));
  });
  for (let k = props.axes.length - 1; k >= 0; k--) {
    const a = props.axes[k];
    const m = many.axes[a].typed.length;
    places[k] = Array(shown.length);
    for (let v = 0; v < m; v++) {
      const all = shown.flatMap((i, at) => (many.points[i].at[a] === v ? [at] : [])).reverse();
      all.sort((x, y) => (places[k + 1][x] ?? 0) - (places[k + 1][y] ?? 0));
      all.forEach((at, j) => (places[k][at] = (v + 0.5 + fan * ((j + 0.5) / all.length - 0.5)) / m));
    }
  }
  const line = (at: number) => {
    let [path, last] = ["", -1];
    places.forEach((p, k) => {
      const y = p[at];
      if (y === undefined) return;
      const half = last < 0 ? 0 : (X(last) + X(k)) / 2;
      path += last < 0 ? `M${X(k)} ${Y(y)}` : `C${half} ${Y(places[last][at]!)} ${half} ${Y(y)} ${X(k)} ${Y(y)}`;
      last = k;
    });
    return path;
  };
  const first = (at: number) => many.points[shown[at]].figures[many.by[0]];
  const good = (at: number) => at < Math.min(5, Math.ceil(shown.length / 10)) || (at < 10 && first(at) === first(0));
  // The strongest shade is best, as in the heat map.
  const firsts = shown.map((_, at) => first(at));
  const [lowest, highest] = [Math.min(...firsts), Math.max(...firsts)];
  const higher = many.figures[many.by[0]].higher;
  const shadeOf = (at: number) => {
    const share = highest > lowest ? place(first(at), lowest, highest) : higher ? 1 : 0;
    return 1 + Math.min(shades - 1, Math.floor((higher ? share : 1 - share) * shades));
  };
  const names = (k: number, v: number, text: string, extra = "", off = 4) => (
    <text class="over" x={X(k) + 8} y={Y(v) + off}>
      {text}
      {extra && <tspan class="b"> {extra}</tspan>}
    </text>
  );
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="points by settings and figures">
      <div class="plot" ref={box} data-testid="parallel">
        <svg width={width} height={height} role="img" aria-label={`${shown.length} points as lines through ${n} axes`}>
          {shown.map((_, back) => {
            const at = shown.length - 1 - back;
            return (
              <path
                class="pick"
                data-point={many.points[shown[at]].name}
                d={line(at)}
                fill="none"
                stroke={`var(--l${shadeOf(at)})`}
                stroke-width={good(at) ? 2.6 : 1.4}
                opacity={shown.length > 60 && !good(at) ? 0.5 : 1}
                onMouseEnter={() => looked.look(shown[at])}
                onClick={() => looked.pin(shown[at])}
              />
            );
          })}
          {shown.includes(looked.at) && <path d={line(shown.indexOf(looked.at))} fill="none" stroke="var(--ink)" stroke-width={2.5} pointer-events="none" />}
          {props.axes.map((a, k) => {
            const x = many.axes[a];
            const every = Math.ceil(x.typed.length / 12);
            return (
              <g>
                <text class="b" x={X(k) - 4} y={12}>
                  {x.short}
                </text>
                {x.shown.map((s, v) => {
                  const [at, part] = [(v + 0.5) / x.shown.length, fan / 2 / x.shown.length];
                  return (
                    <g class="pick" onClick={() => props.only(a, v)} data-axis={x.key} data-at={v}>
                      <title>{props.kept.get(a) === v ? "show all values" : `keep ${x.short} ${s} alone`}</title>
                      <path d={`M${X(k)} ${Y(at + part)}V${Y(at - part)}`} stroke={props.kept.get(a) === v ? "var(--accent)" : "var(--ink-2)"} stroke-width={5} />
                      {(v % every === 0 || v === x.shown.length - 1) && names(k, at, s)}
                    </g>
                  );
                })}
              </g>
            );
          })}
          {props.figures.map((g, i) => {
            const [k, x] = [props.axes.length + i, many.figures[g]];
            const [worst, best] = ranges[i];
            return (
              <g>
                <path d={`M${X(k)} ${Y(1)}V${Y(0)}`} stroke="var(--ink-2)" stroke-width={2} />
                <text class="b" x={X(k) - 4} y={12}>
                  {x.words}
                </text>
                {names(k, 1, figure(best, x), "best", -6)}
                {names(k, 0, beyond(best, worst, x), "", 15)}
              </g>
            );
          })}
        </svg>
        <p class="kinds">
          {Array.from({ length: shades }, (_, i) => (
            <i class="shade" style={{ background: `var(--l${shades - i})` }} />
          ))}
          <span>
            {many.figures[many.by[0]].words} {figure(higher ? highest : lowest, many.figures[many.by[0]])} (best) to{" "}
            {beyond(higher ? highest : lowest, higher ? lowest : highest, many.figures[many.by[0]])}
          </span>
        </p>
      </div>
    </div>
  );
}
