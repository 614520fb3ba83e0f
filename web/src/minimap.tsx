import { useRef } from "preact/hooks";
import { type Info, type Total, view } from "./api";
import * as f from "./format";
import { set, useData } from "./state";

/** Minimap is the whole step: what servers send, the longest queue as a line, drops, pauses or marks below, and the
 * window, which a drag moves. */
export function Minimap(props: { info: Info; from: number; to: number; width: number; left: number }) {
  const { info, from, to, width, left } = props;
  const { data } = useData(() => view<Total>(info.name, "total"), [info.name]);
  const box = useRef<SVGSVGElement>(null);
  const step = info.span_ps;
  const w = width - left;
  const x = (ps: number) => left + (ps / step) * w;
  const cols = data?.cols ?? [];
  const top = Math.max(1, ...cols.map((c) => c[0]));
  const area = cols.map((c, i) => `H${x(i * data!.width_ps)}V${30 - (c[0] / top) * 26}H${x((i + 1) * data!.width_ps)}`).join("");
  const move = (e: PointerEvent) => {
    if (e.buttons === 0 && e.type === "pointermove") return;
    const r = box.current!.getBoundingClientRect();
    const span = to - from;
    const at = ((e.clientX - r.left - left) / w) * step;
    const a = Math.max(0, Math.min(step - span, at - span / 2));
    if (span < step) set({ from: Math.round(a), to: Math.round(a + span) });
    else set({ at: Math.round(Math.max(0, Math.min(step, at))) });
  };
  const below = cols.map((c): string => (c[4] > 0 ? "--bad" : c[2] > 0.01 ? "--c-pause" : c[1] > 0.5 ? "--c-rate_not_given_back" : ""));
  const present = [
    ["--bad", "drops"],
    ["--c-pause", "pauses"],
    ["--c-rate_not_given_back", "marks"],
  ].filter(([token]) => below.includes(token));
  // A queue below WRED min reads as such: the scale reaches to the threshold.
  const wred = Math.max(0, ...(info.topology.configs ?? []).map((c) => c.wred_min_bytes));
  const peak = Math.max(0, ...cols.map((c) => c[3]));
  const longest = Math.max(1, peak, 1.2 * wred);
  const drawn = peak > 0;
  const queue = cols.map((c, i) => `${i === 0 ? "M" : "L"}${x(i * data!.width_ps)} ${30 - (c[3] / longest) * 26}H${x((i + 1) * data!.width_ps)}`).join("");
  return (
    <svg
      ref={box}
      class="minimap"
      width={width}
      height={58}
      role="img"
      aria-label={`the whole step: traffic of servers, longest queue, ${present.map(([, name]) => name + ", ").join("")}and the window`}
      onPointerDown={move}
      onPointerMove={move}
    >
      <text class="small" x={8} y={12}>
        <tspan fill="var(--o-tensor-parallel)">■</tspan> {left < 120 ? "sent" : "sent by servers"}
      </text>
      {drawn && (
        <text class="small" x={8} y={23}>
          <tspan fill="var(--q-mid)">━</tspan> {left < 120 ? "queue" : wred > 0 ? "longest queue, ┄ WRED min" : "longest queue"}
        </text>
      )}
      <path d={`M${left} 30${area}V30Z`} fill="var(--o-tensor-parallel)" />
      {drawn && wred > 0 && <path d={`M${left} ${30 - (wred / longest) * 26}H${width}`} stroke="var(--ink-3)" stroke-dasharray="2 4" />}
      {drawn && <path d={queue} fill="none" stroke="var(--q-mid)" />}
      {below.map((token, i) => token && <rect x={x(i * data!.width_ps)} y={31} width={w / cols.length + 0.3} height={4} fill={`var(${token})`} />)}
      <text class="small" x={8} y={35}>
        {present.map(([token, name], i) => (
          <tspan fill={`var(${token})`} {...(left < 120 ? { x: 8, y: 34 + 11 * i } : { dx: 4 })}>
            ■<tspan fill="var(--ink-2)"> {name}</tspan>
          </tspan>
        ))}
      </text>
      <rect x={x(from)} y={1} width={Math.max(2, x(to) - x(from))} height={35} fill="none" stroke="var(--ink)" stroke-width={1.5} />
      {to - from < step && <path d={`M${x(from)} 36L${left} 57H${width}L${x(to)} 36Z`} fill="var(--sunk)" />}
      {f.axis(from, to, Math.max(3, Math.floor(w / 130))).map((t) => {
        const at = left + ((t.at - from) / (to - from)) * w;
        return (
          <>
            <path d={`M${at} 52v6`} stroke="var(--line-2)" />
            <text x={at} y={50} text-anchor={at > width - 40 ? "end" : at < left + 20 ? "start" : "middle"}>
              {t.label}
            </text>
          </>
        );
      })}
    </svg>
  );
}
