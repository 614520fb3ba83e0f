import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Answer, type Critical, type Info, type PortView, type QPView, type Ranks, standalone, view } from "./api";
import type { Messages } from "./contract";
import { costOf } from "./answer";
import { names as causeNames } from "./causes";
import { causeColour, ink, kindToken } from "./colour";
import { byFlow, NotSimulated } from "./flow";
import * as f from "./format";
import { Happened, type Happening, happenings } from "./happened";
import { bare, folded, hatched, type Host, hostsOf, rowHeight, shares, type Span } from "./hosts";
import { Lanes } from "./lanes";
import { Minimap } from "./minimap";
import { address, here, set, useData, usePlace } from "./state";

const shownRanks = 64;

/** within is what of a sorted list without overlaps lies between two times. */
function within(list: [number, number][], from: number, to: number): [number, number][] {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle][1] <= from) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < list.length && list[end][0] < to) end++;
  return list.slice(low, end);
}

/** kindOf is what a span is: flows of a traffic pattern belong to no part of a training step. */
function kindOf(names: string[], s: number[]): string {
  const kind = names[s[3]];
  return kind !== "other" ? kind : s[3] !== s[4] ? "transfer" : "waiting";
}

const pinned = 3; // ranks of the critical path on top

/** nameOf is the host and the GPU of a rank. */
function gpuNames(info: Info): string[] {
  const out: string[] = [];
  for (const n of info.topology.nodes)
    if (n.role === "host") for (let g = 1; g <= (n.gpus || info.topology.gpus_per_host); g++) out.push(`${n.name} ▸ GPU ${g}`);
  return out;
}

/** found is the rank that words name: its number, or parts of the name, those of "host-5/gpu-6" as well. */
function found(names: string[], words: string): number {
  const parts = words.toLowerCase().replace("gpu-", "gpu ").split(/[\s/▸]+/).filter(Boolean).join(" ▸ ").replace(" ▸ gpu ▸ ", " ▸ gpu ");
  const rank = names.findIndex((n) => n.toLowerCase() === parts);
  if (rank >= 0) return rank;
  return /^\d+$/.test(parts) ? Math.min(Number(parts), names.length - 1) : names.findIndex((n) => n.toLowerCase().startsWith(parts));
}

type Piece = Critical["path"][number];

/** arrows lead from where the critical path leaves a rank to where it goes on, of pieces that are far enough apart. */
function arrows(g: CanvasRenderingContext2D, path: Piece[], x: (t: number) => number, y: (rank: number) => number | undefined) {
  g.strokeStyle = g.fillStyle = ink("--ink");
  g.lineWidth = 1;
  if (path.length > 60) return; // they would cover the tracks: zoom in
  let last = -Infinity;
  for (let i = 1; i < path.length; i++) {
    const [a, b] = [y(path[i - 1].rank), y(path[i].rank)];
    const at = x(path[i].start_ps);
    if (a === undefined || b === undefined || a === b || at - last < 14) continue;
    last = at;
    const up = b < a ? 1 : -1;
    g.beginPath();
    g.moveTo(at, a);
    g.lineTo(at, b + 5 * up);
    g.stroke();
    g.beginPath();
    g.moveTo(at, b + up);
    g.lineTo(at - 3.5, b + 7 * up);
    g.lineTo(at + 3.5, b + 7 * up);
    g.fill();
  }
}

/** useCarried is the queue pair of the message that is a piece of the path, and the port where its packets waited longest;
 * undefined without a recorded rate. */
function useCarried(info: Info, p: Piece | undefined, names: string[]): { qp: QPView; port?: PortView } | undefined {
  const key = p ? `${p.rank} ${p.peer} ${p.end_ps}` : "";
  const name = (rank: number) => (names[rank] ?? "").replace(" ▸ GPU ", "/gpu-");
  const find = async () => {
    const what = `messages?${new URLSearchParams({ text: `${name(p!.rank)} ${name(p!.peer)}`, from: String(Math.floor(p!.start_ps)), to: String(Math.ceil(p!.end_ps)) })}`;
    const ends = [name(p!.rank), name(p!.peer)].sort().join();
    const all = (await view<Messages>(info.name, what)).messages.filter((m) => [m.from, m.to].sort().join() === ends);
    const m = all.find((m) => m.done_ps === p!.end_ps) ?? all[0];
    if (!m || m.qp < 0) return undefined;
    const qp = await view<QPView>(info.name, `qp?id=${m.qp}`);
    if (qp.sent.at_ps.length === 0) return undefined;
    const hot = (qp.path ?? []).reduce<QPView["path"][number] | undefined>((a, b) => (!a || b.wait_ps > a.wait_ps ? b : a), undefined);
    return { qp, port: hot && (await view<PortView>(info.name, `port?id=${hot.port}`)) };
  };
  return useData(p && !standalone() ? find : null, [info.name, key]).data;
}

/** nameOf is the name of a cause. */
const nameOf = (key: string) => causeNames.find(([k]) => k === key)?.[1] ?? key;

/** lossOf is where the step lost its time, and to what, as the answer has it. */
function lossOf(info: Info, a: Answer): string | undefined {
  const [first] = a.losses ?? [];
  if (!first || !a.losing_ps) return;
  const [ps, after] = costOf(info, first);
  return `Most time is lost from ${f.timeWithin(a.losing_ps[0], 0, a.losing_ps[1])} to ${f.timeWithin(a.losing_ps[1], 0, a.losing_ps[1])}: ${first.name}, ${f.time(ps)}${after}.`;
}

/** finding is what the tracks say: how far apart ranks end, and through whom the critical path runs longest. */
function finding(info: Info, critical: Critical | undefined, answer: Answer | undefined, names: string[], pins: number[], window: number): [string, string?] {
  const loss = answer && lossOf(info, answer);
  const path = critical?.path ?? [];
  if (names.length === 0) return [critical ? "No operation lies in this window." : "Time"];
  const sums = new Map<string, number>();
  for (const p of path) if (p.rank === pins[0]) sums.set(p.class, (sums.get(p.class) ?? 0) + p.end_ps - p.start_ps);
  const classes = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 3);
  const longest = `The critical path runs longest through ${names[0]}: ${classes.map(([c, ps]) => `${c === "other" ? "transfers" : c} ${f.time(ps)}`).join(", ")}.`;
  const e = answer?.ends;
  if (!e || e.last_ps - e.first_ps < 0.005 * window) return loss ? [loss, longest] : [longest];
  if (loss) return [loss, `${longest} ${f.plural(e.ranks, "rank")} end within ${f.time(e.last_ps - e.first_ps)}, ${e.name.replace("/gpu-", " ▸ GPU ")} last.`];
  const [first] = answer?.losses ?? [];
  const [ps, after] = first ? costOf(info, first) : [0, ""];
  if (first)
    return [`${f.begin(first.name)} ${f.verb(first.name, "put")} ${f.time(ps)} on the critical path${after}; ${e.name.replace("/gpu-", " ▸ GPU ")} ends last, ${f.time(e.last_ps - e.first_ps)} after the first.`, longest];
  return [`${f.plural(e.ranks, "rank")} end within ${f.time(e.last_ps - e.first_ps)}; ${e.name.replace("/gpu-", " ▸ GPU ")} is the last.`, longest];
}

/** TimeLine draws ranks as tracks: computing above, communication below. On top the critical path whole, and the ranks
 * that it goes through longest; ink lines are its pieces, arrows its ways from rank to rank. */
export function TimeLine({ info }: { info: Info }) {
  const place = usePlace();
  const step = info.span_ps;
  const { data: answer, error: unanswered } = useData(() => view<Answer>(info.name, "answer"), [info.name]);
  // Without a window in the address the view opens on the one that lost time.
  const open = !place.args.has("from") && !place.args.has("to");
  const losing = answer?.losing_ps;
  const window = (args: URLSearchParams): [number, number] => [
    Math.max(0, Number(args.get("from") ?? (open && losing ? losing[0] : 0))),
    Math.min(step, Number(args.get("to") ?? (open && losing ? losing[1] : step))) || step,
  ];
  const [from, to] = window(place.args);
  const waiting = open && !answer && !unanswered;
  const cursor = place.args.has("at") ? Number(place.args.get("at")) : -1;
  // A rank that a picture leads to is shown with those of its page.
  const asked = Number(place.args.get("rank") ?? 0);
  const sought = place.args.has("rank");
  const names = useMemo(() => gpuNames(info), [info]);
  // Where hosts do not fold, the ranks that end last come first.
  const alone = useMemo(() => names.length > shownRanks && !standalone() && hostsOf(names, 0, Math.min(names.length, shownRanks)).length === 0, [names]);
  const byEnd = alone && !sought && place.args.get("order") !== "rank";
  const first = Number(place.args.get("first") ?? asked - (asked % shownRanks));
  const what = standalone()
    ? "ranks"
    : `ranks?from=${Math.floor(from)}&to=${Math.ceil(to)}&first=${first}&n=${shownRanks}${byEnd ? "&order=end" : ""}`;
  const spans = useData(waiting ? null : () => view<Ranks>(info.name, what), [info.name, what, waiting]);
  const way = standalone() ? "critical" : `critical?from=${Math.floor(from)}&to=${Math.ceil(to)}`;
  const path = useData(waiting ? null : () => view<Critical>(info.name, way), [info.name, way, waiting]);
  const [chosen, choose] = useState<string>("");
  const [picked, pick] = useState<{ gpu: string; from: number; to: number } | undefined>(undefined);
  const box = useRef<HTMLCanvasElement>(null);
  const [width, resize] = useState(1000);
  const last = useRef<Ranks | undefined>(undefined);
  if (spans.data) last.current = spans.data;
  const data = spans.data ?? last.current;
  const ranks = Math.min(shownRanks, Math.max(1, (data?.ranks ?? 1) - first));
  const page = useMemo(() => data?.page ?? [], [data?.page.join()]);
  const label = (rank: number) => names[rank] ?? `rank ${rank}`;
  const card = useRef<HTMLDivElement>(null);
  // The ranks that the path goes through longest, in this window.
  const pins = useMemo(() => {
    const sums = new Map<number, number>();
    for (const p of path.data?.path ?? [])
      if (p.class !== "not started") sums.set(p.rank, (sums.get(p.rank) ?? 0) + p.end_ps - p.start_ps);
    const most = [...sums].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, pinned).map(([r]) => r);
    const last = answer?.ends?.rank; // beyond a page the rank that ends last is pinned too
    return last !== undefined && names.length > shownRanks && !most.includes(last) ? [...most, last] : most;
  }, [path.data, answer, names]);
  const far = standalone() ? [] : pins.filter((r) => !page.includes(r));
  const extra = useData(
    far.length === 0
      ? null
      : () =>
          Promise.all(
            far.map((r) =>
              view<Ranks>(info.name, `ranks?from=${Math.floor(from)}&to=${Math.ceil(to)}&first=${r}&n=1`),
            ),
          ),
    [info.name, what, far.join()],
  );
  // Hosts with their ranks, where a page has more than fit: open are those asked for, else that of the first pinned rank.
  const hosts = useMemo(() => (byEnd ? [] : hostsOf(names, first, ranks)), [names, first, ranks, byEnd]);
  const asks = place.args.get("hosts");
  const isOpen = (h: Host) =>
    (sought && h.ranks.includes(asked)) ||
    (asks !== null ? asks === "all" || asks.split("|").includes(h.name) : h.ranks.includes(pins[0]) || (h === hosts[0] && !hosts.some((o) => o.ranks.includes(pins[0]))));
  const toggle = (h: Host) => {
    const open = hosts.filter(isOpen).map((o) => o.name);
    set({ rank: undefined, hosts: (open.includes(h.name) ? open.filter((n) => n !== h.name) : [...open, h.name]).join("|") || "none" });
  };
  const unfolded = hosts.every(isOpen);
  // A row is a rank, or a host as -1 - its index.
  const rows = [
    ...pins,
    ...(hosts.length === 0 ? page : hosts.flatMap((h, i) => [-1 - i, ...(isOpen(h) ? h.ranks : [])])),
  ];
  /** rowOf is the row of a rank, also of one in a folded host. */
  const rowOf = (rank: number) => (rows.includes(rank) ? rows.indexOf(rank) : rows.indexOf(-1 - hosts.findIndex((h) => h.ranks.includes(rank))));
  // The path's own row; of few pieces the causes have room for their names.
  const inSight = (path.data?.path ?? []).filter((p) => p.end_ps >= from && p.start_ps <= to);
  const few = inSight.length > 0 && inSight.length <= 3 && (path.data?.causes ?? []).length > 0;
  const carried = useCarried(info, few && inSight.length === 1 && inSight[0].peer >= 0 ? inSight[0] : undefined, names);
  const head = few ? 92 : 36;
  const gap = pins.length > 0 ? 8 : 0;
  const yOf = (i: number) => head + i * rowHeight + (i >= pins.length ? gap : 0);
  const height = yOf(rows.length) + 20;
  // By rank: spans with the names of their kind and of themselves.
  const spansOf = useMemo(() => {
    const by = new Map<number, Span[]>();
    for (const d of [data, ...(extra.data ?? [])])
      for (const s of d?.spans ?? []) {
        const list = by.get(s[0]) ?? [];
        list.push([s[1], s[2], kindOf(d!.names, s), d!.names[s[4]], s[3] !== s[4]]);
        by.set(s[0], list);
      }
    return by;
  }, [data, extra.data]);

  // By rank: when its messages are under way, one after another.
  const sentOf = useMemo(() => {
    const by = new Map<number, [number, number][]>();
    for (const d of [data, ...(extra.data ?? [])]) for (const [rank, a, b] of d?.sent ?? []) {
        const list = by.get(rank);
        if (list) list.push([a, b]);
        else by.set(rank, [[a, b]]);
      }
    for (const [rank, list] of by) {
      let end = -1;
      const cut: [number, number][] = [];
      for (const [a, b] of list.sort((x, y) => x[0] - y[0])) {
        if (b > end) cut.push([Math.max(a, end), b]);
        end = Math.max(end, b);
      }
      by.set(rank, cut);
    }
    return by;
  }, [data, extra.data]);

  useEffect(() => {
    const el = box.current?.parentElement;
    if (!el) return;
    const watch = new ResizeObserver(() => resize(Math.max(300, el.clientWidth)));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);

  useEffect(() => {
    const el = box.current;
    const i = Math.max(rows.lastIndexOf(asked), rowOf(asked));
    if (el?.parentElement && sought && data && i >= 0)
      el.parentElement.scrollTop = Math.max(0, el.offsetTop + yOf(i) - el.parentElement.clientHeight * 0.8);
  }, [asked, sought, !data, pins.length, page]);

  const happened = useMemo(() => happenings(info.summary), [info.summary]);
  const ends = answer?.ends;
  const marks = [
    ...happened.map((h) => ({ at: h.at, words: h.routes ? "routes changed" : h.what.split(/ \(|, /)[0] })),
    ...(ends ? [{ at: ends.last_ps, words: `${ends.name.replace("/gpu-", " ▸ GPU ")} ends last` }] : []),
  ];
  // When each rank computed, in order: what it sends meanwhile is hidden.
  const work = useMemo(() => {
    const by = new Map<number, [number, number][]>();
    for (const [rank, spans] of spansOf) {
      const list = spans.filter((s) => !s[4]).map((s): [number, number] => [s[0], s[1]]);
      by.set(
        rank,
        list.sort((a, b) => a[0] - b[0]),
      );
    }
    return by;
  }, [spansOf]);

  const states = useMemo(() => hosts.map((h) => shares(h, spansOf, work, from, to)), [hosts, spansOf, work, from, to]);

  const left = width < 600 ? 98 : 184;
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
    g.font = "600 11px system-ui, sans-serif";
    g.fillText("Critical path", 8, few ? 14 : head / 2 - 2);
    if (few && carried) {
      g.font = "11px system-ui, sans-serif";
      g.fillStyle = ink("--ink-2");
      g.fillText(left < 120 ? "rate" : `rate of queue pair ${carried.qp.qp.qp}`, 8, 30);
      g.fillText(f.rate(carried.qp.qp.line_bps), 8, 45);
    }
    rows.forEach((r, i) => {
      if (sought && r === asked && i >= pins.length) {
        g.fillStyle = ink("--sunk");
        g.fillRect(0, yOf(i), width, rowHeight);
      }
      g.font = `${i < pins.length ? "600 " : ""}11px system-ui, sans-serif`;
      g.fillStyle = ink(i < pins.length ? "--ink" : "--ink-2");
      if (r < 0) {
        const h = hosts[-1 - r];
        g.fillText(`${isOpen(h) ? "▾" : "▸"} ${h.name}${isOpen(h) || left < 100 ? "" : `, ${h.ranks.length} GPUs`}`, 8, yOf(i) + rowHeight / 2);
        return;
      }
      g.fillText((left < 100 ? label(r).replace("GPU ", "") : label(r)).slice(0, Math.floor((left - 12) / 6)), 8, yOf(i) + rowHeight / 2);
    });
    g.fillStyle = ink("--line");
    g.fillRect(0, head - 3, width, 1);
    if (gap > 0) g.fillRect(0, yOf(pins.length) - gap / 2, width, 1);
    g.save();
    g.beginPath();
    g.rect(left, 0, width - left, height);
    g.clip();
    for (const t of f.axis(from, to, Math.max(3, Math.floor((width - left) / 130)))) g.fillRect(x(t.at), 0, 1, height - 16);
    const colours = new Map<string, string>();
    const colour = (kind: string) => {
      let c = colours.get(kind);
      if (!c) colours.set(kind, (c = ink(kindToken(kind)) || ink("--o-wait")));
      return c;
    };
    // The path by cause: of communication the height is divided as the time of its collectives was.
    const causes = path.data?.causes ?? [];
    const tints = causes.map((k) => ink(`--c-${k}`));
    path.data?.path.forEach((p, k) => {
      if (p.end_ps < from || p.start_ps > to) return;
      const [a, w] = [x(p.start_ps), Math.max(0.7, x(p.end_ps) - x(p.start_ps))];
      const share = path.data!.shares[k] ?? [];
      g.fillStyle = p.peer < 0 && p.operations > 0 ? ink("--c-compute") : colour(p.class);
      // Of a single transfer causes are shares of its time, without a place on the axis: they are words, and the axis has
      // its rate and the pauses of its port.
      if (few) {
        const parts = share.map((part, c) => [part * (p.end_ps - p.start_ps), nameOf(causes[c])] as const).filter(([ps]) => ps >= 0.005 * (p.end_ps - p.start_ps));
        const words = parts.sort((a, b) => b[0] - a[0]).map(([ps, name]) => `${name} ${f.time(ps)}`);
        const deep = head - 26;
        if (carried) {
          const [rate, line] = [carried.qp.sent, Math.max(1, carried.qp.qp.line_bps)];
          g.fillStyle = ink("--sunk");
          g.fillRect(a, 3, w, deep);
          g.fillStyle = ink("--c-line_rate");
          let [t, v] = [p.start_ps, 0];
          for (let i = 0; i <= rate.at_ps.length; i++) {
            const next = Math.min(p.end_ps, rate.at_ps[i] ?? p.end_ps);
            const high = Math.min(1, v / line) * deep;
            if (next > t) g.fillRect(x(t), 3 + deep - high, x(next) - x(t), high);
            [t, v] = [Math.max(t, next), rate.values[i] ?? v];
          }
          g.fillStyle = ink("--c-pause");
          for (const s of carried.port?.series ?? [])
            if (s[5] > 0 && s[0] < p.end_ps && s[0] + s[1] > p.start_ps) g.fillRect(x(s[0]), 3, Math.max(0.7, x(s[0] + s[1]) - x(s[0])), 6 * s[5]);
        } else g.fillRect(a, 3, w, deep);
        g.fillStyle = ink("--ink-2");
        let said = words.join(" · ");
        while (words.length > 1 && g.measureText(said).width > Math.min(w, width - left) - 12) words.pop(), (said = words.join(" · ") + " …");
        if (w > 60) g.fillText(said, Math.max(a, left) + 4, head - 14);
        return;
      }
      g.fillRect(a, 3, w, head - 9);
      let y = head - 6;
      share.forEach((part, c) => {
        g.fillStyle = tints[c];
        g.fillRect(a, (y -= part * (head - 9)), w, part * (head - 9));
      });
    });
    rows.forEach((r, i) => {
      if (r < 0) {
        if (!isOpen(hosts[-1 - r])) folded(g, states[-1 - r], left, width - left, yOf(i), colour);
        return;
      }
      for (const [a, b, kind, , sends] of spansOf.get(r) ?? []) {
        if (b < from || a > to) continue;
        const y = yOf(i) + (sends ? rowHeight / 2 : 1);
        g.fillStyle = sends ? hatched(g, colour(kind)) : colour(kind);
        g.fillRect(x(a), y, Math.max(0.7, x(b) - x(a)), rowHeight / 2 - 2);
        if (!sends) continue;
        g.fillStyle = colour(kind);
        // Of messages between servers each is a slice; where none is under way the track stays hatched.
        const slices = sentOf.get(r) ?? [];
        const local = within(slices, a, b).length === 0;
        for (const [c, d] of bare(a, b, work.get(r) ?? []))
          for (const [e, h] of local ? [[c, d]] : within(slices, c, d)) {
            const [p, q] = [x(Math.max(c, e)), x(Math.min(d, h))];
            if (q - p > 0.3) g.fillRect(p, y, q - p > 4 ? q - p - 1 : q - p, rowHeight / 2 - 2);
          }
      }
    });
    // The ink line below a track is what the critical path took of it.
    g.fillStyle = ink("--ink");
    const at = new Map<number, number[]>();
    rows.forEach((r, i) => {
      for (const of of r >= 0 ? [r] : isOpen(hosts[-1 - r]) ? [] : hosts[-1 - r].ranks) at.set(of, [...(at.get(of) ?? []), i]);
    });
    for (const p of path.data?.path ?? []) {
      if (p.end_ps < from || p.start_ps > to) continue;
      for (const i of at.get(p.rank) ?? [])
        g.fillRect(x(p.start_ps), yOf(i) + rowHeight - 2.5, Math.max(0.7, x(p.end_ps) - x(p.start_ps)), 1.8);
    }
    arrows(g, (path.data?.path ?? []).filter((p) => p.end_ps >= from && p.start_ps <= to), x, (r) => {
      const i = rowOf(r);
      return i < 0 ? undefined : yOf(i) + rowHeight - 1.6;
    });
    const base = yOf(rows.length) + 4;
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
    g.fillStyle = ink("--c-pause");
    for (const [a, b] of data.paused) g.fillRect(x(a), base, Math.max(0.7, x(b) - x(a)), 8);
    if (cursor >= from && cursor <= to) {
      g.fillStyle = ink("--accent");
      g.fillRect(x(cursor), 0, 1, height);
    }
    g.restore();
    g.fillStyle = ink("--ink-2");
    if (!byFlow(info)) g.fillText(data.paused.length > 0 ? "PFC pauses" : "No PFC pauses", 8, base + 5);
  });

  // Keys can be faster than this page is drawn: the address knows the window.
  const shown = () => window(here().args);
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
  const whole = () => set({ from: 0, to: step });
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
      "0": () => whole(),
      f: () => whole(),
      w: () => zoom(0.5),
      s: () => zoom(2),
      a: () => pan(-0.2),
      d: () => pan(0.2),
    };
    if (act[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) {
      act[e.key]();
      e.preventDefault();
    }
  };
  // Keys act without a click into the tracks first.
  const act = useRef(keys);
  act.current = keys;
  useEffect(() => {
    const on = (e: KeyboardEvent) => e.target === document.body && act.current(e);
    addEventListener("keydown", on);
    return () => removeEventListener("keydown", on);
  }, []);
  /** under is what lies at a place of the drawing: its time, words, and of communication the rank and the span. */
  const under = (e: MouseEvent) => {
    const r = box.current!.getBoundingClientRect();
    const t = from + ((e.clientX - r.left - left) / (width - left)) * (to - from);
    const y = e.clientY - r.top;
    const i = rows.findIndex((_, n) => y >= yOf(n) && y < yOf(n) + rowHeight);
    if (i < 0) {
      const p = y < head ? path.data?.path.find((p) => p.start_ps <= t && p.end_ps > t) : undefined;
      const share = p ? (path.data!.shares[path.data!.path.indexOf(p)] ?? []) : [];
      const parts = share.flatMap((v, c) => (v >= 0.005 ? [`${nameOf(path.data!.causes[c])} ${f.percent(v)}`] : []));
      return {
        t,
        words: p ? `critical path: ${p.class} of ${label(p.rank)}, ${f.time(p.end_ps - p.start_ps)}${parts.length > 0 ? `; ${p.class} then: ${parts.join(", ")}` : ""}` : f.time(t),
      };
    }
    if (rows[i] < 0) {
      const h = hosts[-1 - rows[i]];
      return { t, words: `${h.name}: ${f.plural(h.ranks.length, "GPU")}, click to ${isOpen(h) ? "fold" : "open"}`, host: h };
    }
    const sends = y - yOf(i) > rowHeight / 2;
    const s = (spansOf.get(rows[i]) ?? []).find((s) => s[0] <= t && s[1] >= t && s[4] === sends);
    const words = s
      ? `${label(rows[i])} (rank ${rows[i]}): ${s[3]}, ${s[2]}, from ${f.time(s[0])} for ${f.time(s[1] - s[0])}`
      : `${label(rows[i])} (rank ${rows[i]}) at ${f.time(t)}: nothing`;
    return { t, words, span: s, rank: s && sends ? rows[i] : undefined };
  };
  const find = (e: MouseEvent) => {
    const { t, words, span, rank, host } = under(e);
    if (host && e.clientX - box.current!.getBoundingClientRect().left < left) return toggle(host);
    set({ at: Math.round(Math.max(0, Math.min(step, t))) });
    pick(span && rank !== undefined ? { gpu: label(rank).replace(" ▸ GPU ", "/gpu-"), from: Math.floor(span[0]), to: Math.ceil(span[1]) } : undefined);
    choose(words);
  };
  /** hover shows at the pointer what a click would say, without drawing anew. */
  const hover = (e?: PointerEvent) => {
    const el = card.current;
    if (!el) return;
    const found = e && e.pointerType === "mouse" ? under(e) : undefined;
    const at = found?.host || (found?.span && e!.offsetX > left) ? found : undefined;
    el.hidden = !at;
    if (!at || !e) return;
    el.textContent = at.words;
    el.style.left = `${Math.min(e.clientX + 12, innerWidth - 340)}px`;
    el.style.top = `${e.clientY + 16}px`;
  };
  // A drag moves the window, a press without one reads a span.
  const drag = useRef<{ x: number; from: number; to: number; moved: boolean } | undefined>(undefined);
  const kinds = useMemo(() => [...new Set((data?.spans ?? []).map((s) => kindOf(data!.names, s)))], [data]);
  const [title, more] = finding(info, path.data, open || (from === 0 && to === step) ? answer : undefined, pins.map(label), pins, to - from);
  return (
    <section aria-label="Time line" class="timeline">
      <h1 class="finding">{title}</h1>
      {more && <p class="lede">{more}</p>}
      <div class="bar">
        <button onClick={() => zoom(0.5)} aria-label="zoom in">
          +
        </button>
        <button onClick={() => zoom(2)} aria-label="zoom out">
          −
        </button>
        {to - from < step && (
          <>
            <button onClick={() => pan(-0.2)} aria-label="earlier">
              ◀︎
            </button>
            <button onClick={() => pan(0.2)} aria-label="later">
              ▶︎
            </button>
            <button onClick={() => whole()}>Whole step</button>
          </>
        )}
        {!standalone() && (
          <input
            type="search"
            aria-label="find a rank"
            placeholder={`find: ${label(Math.min(ranks, data?.ranks ?? 1) - 1)}`}
            onChange={(e) => {
              const rank = found(names, e.currentTarget.value);
              set(rank >= 0 && e.currentTarget.value ? { rank, first: undefined } : { rank: undefined });
            }}
          />
        )}
        {(data?.ranks ?? 0) > shownRanks && !standalone() && (
          <span>
            <button aria-label="ranks before" disabled={first === 0} onClick={() => set({ first: Math.max(0, first - shownRanks), rank: undefined })}>
              ▲︎
            </button>{" "}
            {byEnd ? `${f.count(first + 1)} to ${f.count(first + ranks)} of ${f.plural(data!.ranks, "rank")}, latest end first` : `ranks ${f.count(first)} to ${f.count(first + ranks - 1)} of ${f.count(data!.ranks)}`}{" "}
            <button aria-label="ranks after" disabled={first + ranks >= data!.ranks} onClick={() => set({ first: first + shownRanks, rank: undefined })}>
              ▼︎
            </button>
          </span>
        )}
        {alone && <button onClick={() => set({ order: byEnd ? "rank" : undefined, rank: undefined, first: undefined })}>{byEnd ? "By number" : "Latest end first"}</button>}
        {hosts.length > 0 && <button onClick={() => set({ hosts: unfolded ? "none" : "all" })}>{unfolded ? "Fold hosts" : "Open hosts"}</button>}
        <span>
          {f.timeWithin(from, from, to)} to {f.timeWithin(to, from, to)}
        </span>
        {!standalone() && (
          <a href={address(["run", info.name, "packet"], { from: Math.floor(from), to: Math.ceil(to) })}>messages of this window</a>
        )}
        <span class="kinds">
          {kinds.map((k) => (
            <span>
              <i style={{ background: `var(${kindToken(k)})` }} />
              {k}
            </span>
          ))}
          <span>
            <i class="line" />
            critical path{(path.data?.causes ?? []).length > 0 && !few && ", by cause:"}
          </span>
          {few && carried && (
            <>
              <span>
                <i style={{ background: "var(--c-line_rate)" }} />
                sending rate, to line rate
              </span>
              {(carried.port?.series ?? []).some((s) => s[5] > 0) && (
                <span>
                  <i style={{ background: "var(--c-pause)" }} />
                  {carried.port!.port.name.split(" → ")[0]} paused
                </span>
              )}
            </>
          )}
          {!few && (path.data?.causes ?? []).map((k, c) => (
            path.data!.shares.some((s) => (s ?? [])[c] >= 0.02) && (
              <span>
                <i style={{ background: causeColour(k) }} />
                {nameOf(k)}
              </span>
            )
          ))}
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
      {!data && !spans.error && <p class="loading">Loading {f.time(to - from)} of tracks…</p>}
      {data && data.spans.length === 0 && (
        <p class="hint">No operation of these ranks lies in this window.</p>
      )}
      <div
        class="tracks"
        tabIndex={0}
        onKeyDown={keys}
        aria-label="time line; W and S or plus and minus zoom, A and D or arrows move, F or 0 shows the whole step"
      >
        <Minimap info={info} from={from} to={to} width={width} left={left} />
        <Lanes info={info} from={from} to={to} width={width} left={left} cursor={cursor} marks={marks} />
        {byFlow(info) && <NotSimulated info={info} what="queues, ECN marks, PFC pauses and drops" />}
        <canvas
          ref={box}
          role="img"
          aria-label={`what ${ranks} ranks did`}
          onPointerLeave={() => hover()}
          onPointerDown={(e) => {
            hover();
            drag.current = { x: e.clientX, from, to, moved: false };
            box.current!.setPointerCapture(e.pointerId);
          }}
          onPointerMove={(e) => {
            const d = drag.current;
            if (!d) return hover(e);
            const by = ((d.x - e.clientX) / (width - left)) * (d.to - d.from);
            if (Math.abs(e.clientX - d.x) > 4) d.moved = true;
            const a = Math.max(0, Math.min(step - (d.to - d.from), d.from + by));
            if (d.moved && d.to - d.from < step) set({ from: Math.round(a), to: Math.round(a + d.to - d.from) });
          }}
          onPointerUp={(e) => {
            const moved = drag.current?.moved;
            drag.current = undefined;
            if (!moved) find(e);
          }}
          onWheel={(e) => {
            if (!e.ctrlKey && Math.abs(e.deltaX) < Math.abs(e.deltaY) && !e.shiftKey) return;
            e.preventDefault();
            const r = box.current!.getBoundingClientRect();
            zoom(e.deltaY > 0 ? 1.25 : 0.8, Math.max(0, (e.clientX - r.left - left) / (width - left)));
          }}
        />
      </div>
      <div ref={card} class="hovercard" hidden />
      <p class="hint" aria-live="polite">
        {chosen ||
          "Drag to move; Ctrl + wheel, W and S zoom, A and D move, F shows the whole step. " +
            (info.summary.compute_ps > 0 ? "Above: computing; below: communication, hatched where computing hides it or no message is under way." : "")}{" "}
        {picked && !standalone() && (
          <a href={address(["run", info.name, "packet"], { text: picked.gpu, from: picked.from, to: picked.to })}>
            Messages of {picked.gpu} then
          </a>
        )}
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
          The critical path has {f.plural(path.data.operations, "operation")} in this window; its pieces add up
          to {f.time(path.data.path.reduce((sum, p) => sum + p.end_ps - p.start_ps, 0))}. A transfer has the causes of its
          own message, as shares of that message's time.
        </p>
      )}
    </section>
  );
}
