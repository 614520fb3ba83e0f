import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CauseInfo, StepPart } from "./contract";
import { causeColour } from "./colour";
import * as f from "./format";

/** useWidth is the width of an element, followed while it changes. */
export function useWidth(start: number) {
  const box = useRef<HTMLDivElement>(null);
  const [width, resize] = useState(start);
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    resize(el.clientWidth || start);
    const watch = new ResizeObserver(() => el.clientWidth && resize(el.clientWidth));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  return { box, width };
}

/** Chosen is a segment that a reader points at. */
export interface Chosen {
  part: StepPart;
  cause: CauseInfo;
  ps: number;
}

interface Segment extends Chosen {
  x: number;
  w: number;
}

const letter = 6.1; // width of one at 11 px, a little more than most
const wide = (s: string) => s.length * letter + 8;

/** lossy are causes that a step would be without. */
const lossy = (key: string) => !["compute", "line_rate", "bound"].includes(key);

/** idles are parts in which the last rank computes nothing because others do. */
export const idles = ["bubble", "waiting", "host", "slow"];

/** nameOf is what a segment is called: what a part needs is named by where it is. */
function nameOf(s: Segment): string {
  if (s.part.key === "idle" || (idles.includes(s.part.key) && s.cause.key === "compute")) return s.part.name;
  if (s.cause.key === "compute") return s.part.key === "compute" ? "Compute" : "Overlapped compute";
  if (s.cause.key === "line_rate") return "Line rate";
  return s.cause.key === "bound" ? s.cause.name : f.begin(s.cause.name);
}

/** named reports whether a segment is labelled: small ones and what needs no words are not. */
function named(s: Segment, step: number): boolean {
  if (["compute", "idle", "unfinished", ...idles].includes(s.part.key) && s.cause.key === "compute") return false;
  return s.ps >= (lossy(s.cause.key) ? 0.001 : 0.01) * step;
}

const middle = (s: Segment) => s.x + s.w / 2;

/** Led is a label on a line that leads to its segment, at x. */
interface Led {
  s: Segment;
  text: string;
  row: number;
  from: number;
  to: number;
  x: number;
}

/** depth is how many rows labels take. */
const depth = (led: Led[]) => led.reduce((n, l) => Math.max(n, l.row + 1), 0);

/** leading places labels one after another where they cross no other: each ends at its line, or begins there where it
 * would leave the picture. */
function leading(list: Segment[]): Led[] {
  const led: Led[] = [];
  for (const s of list) {
    const text = `${nameOf(s)} ${f.time(s.ps)}`;
    const x = middle(s);
    const from = x < wide(text) ? Math.max(0, x - 4) : x - wide(text);
    const to = Math.max(x, from + wide(text));
    const crosses = (o: Led, row: number) =>
      o.row === row
        ? o.from < to + 6 && o.to > from - 6
        : o.row < row
          ? o.from < x + 4 && o.to > x // its text, by this line
          : from < o.x + 4 && to > o.x; // its line, by this text
    let row = 0;
    while (row < 9 && led.some((o) => crosses(o, row))) row++;
    led.push({ s, text, row, from, to, x });
  }
  return led;
}

interface Props {
  parts: StepPart[];
  causes: CauseInfo[];
  step: number;
  main?: string;
  about?: (s: Chosen) => ComponentChildren; // of the segment that is pointed at or chosen
}

const idOf = (s: Chosen) => `${s.part.key} ${s.cause.key}`;

/** StepBar is the step as one bar: parts above, the causes of each below. */
export function StepBar({ parts, causes, step, main, about }: Props) {
  const { box, width } = useWidth(1216);
  const [over, point] = useState<string>();
  const [chosen, choose] = useState<string>();
  const x = (ps: number) => (ps / step) * width;
  const segments: Segment[] = [];
  const bounds: { part: StepPart; x: number; w: number }[] = [];
  let at = 0;
  for (const part of parts) {
    bounds.push({ part, x: x(at), w: x(part.time_ps) });
    // Rest that the part needs first, then what it loses.
    const rows = [...(part.causes ?? [])].sort((a, b) => Number(lossy(a.key)) - Number(lossy(b.key)));
    for (const c of rows) {
      segments.push({
        part,
        cause: causes.find((y) => y.key === c.key)!,
        ps: c.time_ps,
        x: x(at),
        w: x(c.time_ps),
      });
      at += c.time_ps;
    }
    if (rows.length === 0) at += part.time_ps;
  }
  const looked = over ?? chosen;
  const told = segments.find((s) => idOf(s) === looked) ?? segments.filter((s) => s.cause.key === main).sort((a, b) => b.ps - a.ps)[0];
  const small = width < 700;
  const top = small ? 20 : 34;
  const tall = 40;
  // Labels of segments: below where they fit, else on lines that lead there.
  const needs = small ? [] : segments.filter((s) => named(s, step));
  const under: { s: Segment; name: string; at: number; end: boolean }[] = [];
  const taken: [number, number][] = [];
  for (const s of [...needs].sort((a, b) => b.ps - a.ps)) {
    const name = nameOf(s);
    const w = Math.max(wide(name), wide(f.time(s.ps)));
    const fit = [s.x, s.x + s.w - w].find(
      (from) =>
        from >= 0 &&
        from + w <= width + 8 &&
        s.w > w / 3 &&
        taken.every(([a, b]) => from >= b + 2 || from + w <= a - 2) &&
        needs.every((o) => o === s || middle(o) < from + 1 || middle(o) > from + w + 2),
    );
    if (fit === undefined) continue;
    taken.push([fit, fit + w]);
    under.push({ s, name, at: fit === s.x ? s.x + 1 : s.x + s.w, end: fit !== s.x });
  }
  const rest = needs.filter((s) => !under.some((u) => u.s === s));
  const led = [rest, [...rest].reverse()].map((list) => leading(list)).reduce((a, b) => (depth(b) < depth(a) ? b : a));
  // The label of the title's cause is bold.
  const worst = Math.max(0, ...segments.filter((s) => s.cause.key === main).map((s) => s.ps));
  const bold = (s: Segment) => s.cause.key === main && s.ps === worst;
  const rows = depth(led);
  const base = top + tall;
  const height = base + (under.length > 0 ? 34 : 6) + (rows > 0 ? rows * 16 + 6 : 0);
  const said = parts
    .map((p) => `${p.name} ${f.time(p.time_ps)}: ${(p.causes ?? []).map((c) => `${c.key} ${f.time(c.time_ps)}`).join(", ")}`)
    .join("; ");
  const heads: { text: string; time: string; x: number }[] = [];
  let last = -1e9;
  for (const b of bounds) {
    const time = `${f.time(b.part.time_ps)} · ${f.percent(b.part.time_ps / step)}`;
    const room = b.w + 4;
    const full = (b.part.name.length + time.length + 2) * 7;
    const begin = Math.max(b.x, last); // a little to the right of a name that is longer than its part
    if (begin > b.x + b.w / 2 || b.w < 24) continue;
    const name = b.part.name.length * 7.2;
    if (!small && full <= room) heads.push({ text: b.part.name, time, x: begin });
    else if (name <= room) heads.push({ text: b.part.name, time: "", x: begin });
    else heads.push({ text: short[b.part.key] ?? b.part.name, time: "", x: begin });
    const h = heads[heads.length - 1];
    if (h.x + h.text.length * 7.2 > width + 4) {
      heads.pop(); // the list below names it
      continue;
    }
    h.x = Math.max(last, Math.min(h.x, width - 8.6 * h.text.length));
    last = begin + 8.6 * h.text.length + 7 * h.time.length + 14;
  }
  return (
    <div class="step" ref={box} data-testid="step-bar">
      <svg height={height} role={about ? "group" : "img"} aria-label={said}>
        {heads.map((h) => (
          <text class="part" x={h.x + 2} y={14}>
            <tspan class="name">{h.text}</tspan>
            {h.time && <tspan dx={8}>{h.time}</tspan>}
          </text>
        ))}
        {!small &&
          bounds.map((b) => (
            <path class="bracket" d={`M${b.x + 0.5} ${top - 5}v-6H${Math.max(b.x + 1, b.x + b.w - 1)}v6`} />
          ))}
        {bounds.map((b) =>
          (b.part.causes ?? []).length > 0 ? null : (
            <rect x={b.x} y={top} width={Math.max(0.5, b.w - 1)} height={tall} fill={partColour(b.part.key)} />
          ),
        )}
        {segments.map((s) => (
          <rect
            data-part={s.part.key}
            data-cause={s.cause.key}
            data-ps={s.ps}
            x={s.x}
            y={top}
            width={Math.max(0, s.w > 3 ? s.w - 1 : s.w)}
            height={tall}
            fill={fillOf(s)}
            {...(about && {
              role: "button",
              tabIndex: 0,
              class: `choice ${looked && s === told ? "told" : ""}`,
              "aria-label": `${s.part.name}: ${s.cause.name} ${f.time(s.ps)}`,
              "aria-pressed": idOf(s) === chosen,
              onPointerEnter: () => point(idOf(s)),
              onPointerLeave: () => point(undefined),
              onFocus: () => point(idOf(s)),
              onBlur: () => point(undefined),
              onClick: () => choose(idOf(s) === chosen ? undefined : idOf(s)),
              onKeyDown: (e: KeyboardEvent) => ["Enter", " "].includes(e.key) && (e.preventDefault(), choose(idOf(s))),
            })}
          >
            {!about && (
              <title>
                {`${s.part.name}: ${s.cause.name}, ${f.time(s.ps)}, ${f.percent(s.ps / step)} of the step. ${f.begin(s.cause.about)}.`}
              </title>
            )}
          </rect>
        ))}
        {under.map(({ s, name, at, end }) => (
          <text x={at} y={base + 15} text-anchor={end ? "end" : "start"}>
            <tspan class={bold(s) ? "name" : ""}>{name}</tspan>
            <tspan x={at} dy={14}>
              {f.time(s.ps)}
            </tspan>
          </text>
        ))}
        {led.map(({ s, text, row, from, to, x }) => {
          const y = base + (under.length > 0 ? 40 : 12) + row * 16;
          const edge = to > x; // its text goes on below the line
          return (
            <>
              <path class="bracket" d={`M${x} ${base + 2}V${edge ? y - 8 : y}${edge ? "" : "h-5"}`} />
              <text class={bold(s) ? "name" : ""} x={edge ? from : x - 8} y={y + 4} text-anchor={edge ? "start" : "end"}>
                {text}
              </text>
            </>
          );
        })}
      </svg>
      {about && told && (
        <p class="note told" data-testid="told" aria-live="polite">
          {about(told)}
        </p>
      )}
      <ul class="causes">
        {segments
          .filter((s) => s.ps >= 0.001 * step)
          .map((s) => (
            <li>
              <i class="swatch" style={{ background: fillOf(s) }} />
              {s.part.key === "compute" ? "Compute" : ["idle", ...idles].includes(s.part.key) || parts.length === 1 ? nameOf(s) : `${short[s.part.key] ?? s.part.name}: ${s.cause.name}`}
              <b>{f.time(s.ps)}</b>
            </li>
          ))}
      </ul>
    </div>
  );
}

const short: Record<string, string> = { tp: "TP", pp: "PP", dp: "DP", ep: "EP", cp: "CP", idle: "Start", above: "Above" };

const partColours: Record<string, string> = {
  compute: "--c-compute",
  tp: "--o-tensor-parallel",
  pp: "--o-pipeline-parallel",
  dp: "--o-data-parallel",
  ep: "--o-expert-parallel",
  cp: "--o-context-parallel",
  transfers: "--o-transfer",
  storage: "--o-storage",
  loading: "--o-storage",
  bubble: "--o-bubble",
};
const partColour = (key: string) => `var(${partColours[key] ?? "--o-wait"})`;

/** fillOf is the colour of a segment: line rate has that of its part. */
const fillOf = (s: Segment) =>
  ["idle", "unfinished"].includes(s.part.key) || ["behind", "above"].includes(s.cause.key)
    ? "var(--o-wait)"
    : idles.includes(s.part.key) && s.cause.key === "compute"
      ? partColour(s.part.key)
    : s.cause.key === "others" || s.cause.key === "path"
      ? "var(--l2)"
    : s.cause.key === "gain"
      ? "var(--l1)"
    : s.cause.key === "bound"
      ? "var(--c-line_rate)"
    : s.cause.key === "line_rate"
      ? partColour(s.part.key)
      : causeColour(s.cause.key);
