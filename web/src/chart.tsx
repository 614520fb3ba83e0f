import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { ink } from "./colour";

export interface Curve {
  label: string;
  values: (number | null)[];
  colour: string;
  dash?: number[];
  fill?: string;
}

/** Chart is curves over time; times in picoseconds are shown in the fitting unit. */
export function Chart(props: {
  title: string;
  x: number[];
  curves: Curve[];
  format: (v: number) => string;
  cursor?: number;
  height?: number;
  max?: number;
  stepped?: boolean; // values hold from their time to the next
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    if (!box.current) return;
    const end = props.x[props.x.length - 1] ?? 1;
    const [scale, unit] =
      end > 2e12 ? [1e12, "s"] : end > 2e9 ? [1e9, "ms"] : end > 2e6 ? [1e6, "µs"] : [1e3, "ns"];
    const axis = {
      stroke: ink("--ink"),
      grid: { stroke: ink("--line"), width: 1 },
      ticks: { stroke: ink("--line"), width: 1 },
    };
    plot.current = new uPlot(
      {
        width: box.current.clientWidth || 400,
        height: props.height ?? 170,
        cursor: { y: false },
        legend: { show: props.curves.length > 1 },
        padding: [8, 18, 0, 0],
        scales: {
          x: { time: false },
          y: { range: (_u, _lo, hi) => [0, Math.max(props.max ?? 0, hi > 0 ? hi * 1.05 : 1)] },
        },
        axes: [
          { ...axis, label: `time, ${unit}`, labelSize: 18, size: 34 },
          { ...axis, size: 88, values: (_u, v) => v.map(props.format) },
        ],
        series: [
          { label: unit },
          ...props.curves.map((c) => ({
            label: c.label,
            stroke: c.colour,
            width: 1.5,
            dash: c.dash,
            fill: c.fill,
            paths: props.stepped ? uPlot.paths.stepped!({ align: 1 }) : undefined,
            points: { show: false },
            value: (_u: uPlot, v: number | null) => (v == null ? "–" : props.format(v)),
          })),
        ],
        hooks: {
          draw: [
            (u) => {
              const at = Number(box.current?.dataset.cursor ?? NaN) / scale;
              if (!Number.isFinite(at)) return;
              const x = u.valToPos(at, "x", true);
              u.ctx.strokeStyle = ink("--accent");
              u.ctx.lineWidth = 2;
              u.ctx.beginPath();
              u.ctx.moveTo(x, u.bbox.top);
              u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
              u.ctx.stroke();
            },
          ],
        },
      },
      [props.x.map((v) => v / scale), ...props.curves.map((c) => c.values)] as uPlot.AlignedData,
      box.current,
    );
    const watch = new ResizeObserver(() =>
      plot.current?.setSize({ width: box.current?.clientWidth || 400, height: props.height ?? 170 }),
    );
    watch.observe(box.current);
    return () => {
      watch.disconnect();
      plot.current?.destroy();
    };
  }, [props.x, props.curves]);
  useEffect(() => plot.current?.redraw(false), [props.cursor]);
  return (
    <figure class="chart">
      <figcaption>{props.title}</figcaption>
      <div ref={box} data-cursor={props.cursor} role="img" aria-label={props.title} />
    </figure>
  );
}
