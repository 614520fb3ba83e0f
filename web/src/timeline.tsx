import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Critical, type Info, type Ranks, standalone, view } from "./api";
import { ink, kindToken } from "./colour";
import * as f from "./format";
import { Happened, type Happening, happenings } from "./happened";
import { address, here, set, useData, usePlace } from "./state";

const rowHeight = 18;
const shownRanks = 64;

/** bare is what of a span no interval of a sorted list covers. */
export function bare(from: number, to: number, cover: [number, number][]): [number, number][] {
  const out: [number, number][] = [];
  let low = 0;
  let high = cover.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cover[middle][1] <= from) low = middle + 1;
    else high = middle;
  }
  for (let i = low; i < cover.length && cover[i][0] < to; i++) {
    if (cover[i][0] > from) out.push([from, cover[i][0]]);
    from = Math.max(from, cover[i][1]);
  }
  if (from < to) out.push([from, to]);
  return out;
}

/** kindOf is what a span is: flows of a traffic pattern belong to no part of a training step. */
function kindOf(names: string[], s: number[]): string {
  const kind = names[s[3]];
  return kind !== "other" ? kind : s[3] !== s[4] ? "transfer" : "computing or waiting";
}

/** TimeLine draws ranks as tracks: computing above, communication below; red
 * outlines are the chain that the end of the step waited for. */
export function TimeLine({ info }: { info: Info }) {
  const place = usePlace();
  const step = Math.max(1, info.summary.step_time_ps);
  const from = Math.max(0, Number(place.args.get("from") ?? 0));
  const to = Math.min(step, Number(place.args.get("to") ?? step)) || step;
  const first = Number(place.args.get("first") ?? 0);
  const what = standalone()
    ? "ranks"
    : `ranks?from=${Math.floor(from)}&to=${Math.ceil(to)}&first=${first}&n=${shownRanks}`;
  const spans = useData(() => view<Ranks>(info.name, what), [info.name, what]);
  const way = standalone() ? "critical" : `critical?from=${Math.floor(from)}&to=${Math.ceil(to)}`;
  const path = useData(() => view<Critical>(info.name, way), [info.name, way]);
  const [chosen, choose] = useState<string>("");
  const box = useRef<HTMLCanvasElement>(null);
  const [width, resize] = useState(1000);
  const last = useRef<Ranks | undefined>(undefined);
  if (spans.data) last.current = spans.data;
  const data = spans.data ?? last.current;
  const ranks = Math.min(shownRanks, Math.max(1, (data?.ranks ?? 1) - first));
  const height = ranks * rowHeight + 54;

  useEffect(() => {
    const el = box.current?.parentElement;
    if (!el) return;
    const watch = new ResizeObserver(() => resize(Math.max(500, el.clientWidth)));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);

  const happened = useMemo(() => happenings(info.summary), [info.summary]);
  // When each rank computed, in order: what it sends meanwhile is hidden.
  const work = useMemo(() => {
    const by = new Map<number, [number, number][]>();
    for (const s of data?.spans ?? [])
      if (s[3] === s[4]) {
        const list = by.get(s[0]);
        if (list) list.push([s[1], s[2]]);
        else by.set(s[0], [[s[1], s[2]]]);
      }
    for (const list of by.values()) list.sort((a, b) => a[0] - b[0]);
    return by;
  }, [data]);

  const left = 70;
  const x = (t: number) => left + ((t - from) / (to - from)) * (width - left);
  useEffect(() => {
    const c = box.current;
    if (!c || !data) return;
    const scale = devicePixelRatio || 1;
    c.width = width * scale;
    c.height = height * scale;
    c.style.width = `${width}px`;
    c.style.height = `${height}px`;
    const g = c.getContext("2d")!;
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
    g.fillStyle = ink("--ink");
    for (let i = 0; i < ranks; i++)
      if (ranks <= 40 || i % 4 === 0) g.fillText(`rank ${first + i}`, 2, i * rowHeight + rowHeight / 2);
    g.save();
    g.beginPath();
    g.rect(left, 0, width - left, height);
    g.clip();
    for (const s of data.spans) {
      const communicates = s[3] !== s[4];
      const y = (s[0] - first) * rowHeight + (communicates ? rowHeight / 2 : 1);
      g.fillStyle = ink(kindToken(kindOf(data.names, s)));
      g.globalAlpha = communicates ? 0.35 : 1;
      g.fillRect(x(s[1]), y, Math.max(0.7, x(s[2]) - x(s[1])), rowHeight / 2 - 2);
      g.globalAlpha = 1;
      if (communicates)
        for (const [a, b] of bare(s[1], s[2], work.get(s[0]) ?? []))
          if (x(b) - x(a) > 0.3) g.fillRect(x(a), y, x(b) - x(a), rowHeight / 2 - 2);
    }
    g.strokeStyle = ink("--bad");
    g.lineWidth = 1.5;
    for (const p of path.data?.path ?? []) {
      if (p.end_ps < from || p.start_ps > to || p.rank < first || p.rank >= first + ranks) continue;
      g.strokeRect(
        x(p.start_ps),
        (p.rank - first) * rowHeight + (p.peer >= 0 ? rowHeight / 2 : 1),
        Math.max(1, x(p.end_ps) - x(p.start_ps)),
        rowHeight / 2 - 2,
      );
    }
    const base = ranks * rowHeight + 4;
    for (const h of happened) {
      if (h.at < from || h.at > to) continue;
      g.strokeStyle = ink(h.routes ? "--accent" : "--bad");
      g.setLineDash(h.routes ? [2, 3] : [6, 3]);
      g.beginPath();
      g.moveTo(x(h.at), 0);
      g.lineTo(x(h.at), base);
      g.stroke();
    }
    g.setLineDash([]);
    g.fillStyle = ink("--bad");
    for (const [a, b] of data.paused) g.fillRect(x(a), base, Math.max(0.7, x(b) - x(a)), 8);
    g.restore();
    g.fillStyle = ink("--ink");
    g.fillText("pauses", 2, base + 5);
    const y = base + 22;
    for (let i = 0; i <= 8; i++) {
      const t = from + ((to - from) * i) / 8;
      g.fillRect(x(t), base + 12, 1, 4);
      g.textAlign = i === 0 ? "left" : i === 8 ? "right" : "center";
      g.fillText(f.time(t), x(t), y);
    }
    g.textAlign = "left";
  });

  // Keys can be faster than this page is drawn: the address knows the window.
  const shown = (): [number, number] => {
    const args = here().args;
    return [
      Math.max(0, Number(args.get("from") ?? 0)),
      Math.min(step, Number(args.get("to") ?? step)) || step,
    ];
  };
  const zoom = (factor: number, at = 0.5) => {
    const [from, to] = shown();
    const span = Math.max(1000, Math.min(step, (to - from) * factor));
    const middle = from + (to - from) * at;
    const a = Math.max(0, Math.min(step - span, middle - span * at));
    set({ from: Math.round(a), to: Math.round(a + span) });
  };
  const pan = (share: number) => {
    const [from, to] = shown();
    const d = (to - from) * share;
    const a = Math.max(0, Math.min(step - (to - from), from + d));
    set({ from: Math.round(a), to: Math.round(a + (to - from)) });
  };
  /** at shows the surroundings of a moment: a twentieth of the step. */
  const at = (h: Happening) => {
    const a = Math.max(0, Math.min(step * 0.95, h.at - step / 40));
    set({ from: Math.round(a), to: Math.round(a + step / 20) });
  };
  const keys = (e: KeyboardEvent) => {
    const act: Record<string, () => void> = {
      "+": () => zoom(0.5),
      "=": () => zoom(0.5),
      "-": () => zoom(2),
      ArrowLeft: () => pan(-0.2),
      ArrowRight: () => pan(0.2),
      "0": () => set({ from: undefined, to: undefined }),
    };
    if (act[e.key]) {
      act[e.key]();
      e.preventDefault();
    }
  };
  const find = (e: MouseEvent) => {
    const r = box.current!.getBoundingClientRect();
    const t = from + ((e.clientX - r.left - left) / (width - left)) * (to - from);
    const rank = first + Math.floor((e.clientY - r.top) / rowHeight);
    const half = (e.clientY - r.top) % rowHeight > rowHeight / 2;
    const s = data?.spans.find((s) => s[0] === rank && s[1] <= t && s[2] >= t && (s[3] !== s[4]) === half);
    choose(
      s
        ? `rank ${rank}: ${data!.names[s[4]]}, ${kindOf(data!.names, s)}, ` +
            `from ${f.time(s[1])} for ${f.time(s[2] - s[1])}`
        : `rank ${rank} at ${f.time(t)}: nothing`,
    );
  };
  const kinds = useMemo(() => [...new Set((data?.spans ?? []).map((s) => kindOf(data!.names, s)))], [data]);
  return (
    <section aria-label="Time line" class="timeline">
      <div class="bar">
        <button onClick={() => zoom(0.5)}>zoom in</button>
        <button onClick={() => zoom(2)}>zoom out</button>
        <button onClick={() => pan(-0.2)} aria-label="earlier">
          ◀︎
        </button>
        <button onClick={() => pan(0.2)} aria-label="later">
          ▶︎
        </button>
        <button onClick={() => set({ from: undefined, to: undefined })}>whole step</button>
        {!standalone() && (data?.ranks ?? 0) > shownRanks && (
          <label>
            first rank{" "}
            <input
              type="number"
              min={0}
              max={(data?.ranks ?? 1) - 1}
              step={shownRanks}
              value={first}
              onChange={(e) => set({ first: e.currentTarget.value })}
            />
          </label>
        )}
        <span>
          {f.time(from)} to {f.time(to)}
        </span>
        {!standalone() && (
          <a href={address(["run", info.name, "packet"], { from: Math.floor(from) })}>packets from here</a>
        )}
        <span class="kinds">
          {kinds.map((k) => (
            <span>
              <i style={{ background: `var(${kindToken(k)})` }} />
              {k}
            </span>
          ))}
          <span>
            <i class="critical" />
            critical path
          </span>
          {[...new Set(happened.map((h) => h.routes))].map((routes) => (
            <span>
              <i class={routes ? "ways" : "cable"} />
              {routes ? "routes" : "cable"}
            </span>
          ))}
        </span>
      </div>
      {spans.error && (
        <p class="error" role="alert">
          {spans.error}
        </p>
      )}
      {data && data.spans.length === 0 && (
        <p class="hint">No operation of these ranks lies in this window.</p>
      )}
      <div
        class="tracks"
        tabIndex={0}
        onKeyDown={keys}
        aria-label="time line; plus and minus zoom, arrows move, 0 shows the whole step"
      >
        <canvas
          ref={box}
          role="img"
          aria-label={`what ${ranks} ranks did`}
          onClick={find}
          onWheel={(e) => {
            if (!e.ctrlKey && Math.abs(e.deltaX) < Math.abs(e.deltaY) && !e.shiftKey) return;
            e.preventDefault();
            const r = box.current!.getBoundingClientRect();
            zoom(e.deltaY > 0 ? 1.25 : 0.8, Math.max(0, (e.clientX - r.left - left) / (width - left)));
          }}
        />
      </div>
      <p class="hint" aria-live="polite">
        {chosen ||
          "Click a span to read it. Keys: + and − zoom, arrows move, 0 shows the whole step. Above: computing; " +
            "below: communication, pale where computing hides it, full where the rank waits."}
      </p>
      {happened.length > 0 && (
        <div class="panel">
          <h3>What happened meanwhile</h3>
          <Happened all={happened} choose={at} />
        </div>
      )}
      {(data?.left_out ?? 0) > 0 && (
        <p class="hint" data-testid="left-out">
          {f.count(data!.left_out)} spans of at most {f.time(data!.shorter_ps)} are not drawn: zoom in.
        </p>
      )}
      {path.data && path.data.operations > 0 && (
        <p class="hint" data-testid="critical">
          The critical path has {f.count(path.data.operations)} operations in this window; its pieces add up
          to {f.time(path.data.path.reduce((sum, p) => sum + p.end_ps - p.start_ps, 0))}.
        </p>
      )}
    </section>
  );
}
