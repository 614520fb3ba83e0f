// Hosts of the time line that are folded into one row.

export const rowHeight = 18;

/** Span is an operation of a rank; sends: it is communication. */
export type Span = [from: number, to: number, kind: string, name: string, sends: boolean];

/** Host is a host with those of its ranks that are on a page. */
export interface Host {
  name: string;
  ranks: number[];
}

/** hostsOf groups a page's ranks; of few ranks, or of hosts with one each, none are folded. */
export function hostsOf(names: string[], first: number, ranks: number): Host[] {
  const out: Host[] = [];
  for (let r = first; r < first + ranks; r++) {
    const name = (names[r] ?? "").split(" ▸ ")[0];
    if (out[out.length - 1]?.name !== name) out.push({ name, ranks: [] });
    out[out.length - 1].ranks.push(r);
  }
  return ranks > 16 && out.some((h) => h.ranks.length > 1) ? out : [];
}

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

const patterns = new Map<string, CanvasPattern>();

/** hatched is a colour with gaps: communication that computing hides, or without a message under way. */
export function hatched(g: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  let p = patterns.get(colour);
  if (p) return p;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 4;
  const c = tile.getContext("2d")!;
  c.fillStyle = colour;
  for (let i = 0; i < 4; i++) c.fillRect(i, 3 - i, 1, 1);
  c.globalAlpha = 0.18;
  c.fillRect(0, 0, 4, 4);
  p = g.createPattern(tile, "repeat") ?? undefined;
  if (p) patterns.set(colour, p);
  return p ?? colour;
}

const bins = 400; // of a folded host

/** shares is the share of a host's GPUs in each state over a window; of communication also what computing hides. */
export function shares(h: Host, spans: Map<number, Span[]>, work: Map<number, [number, number][]>, from: number, to: number) {
  const by = new Map<string, { kind: string; sends: boolean; hidden: boolean; share: Float32Array }>();
  const per = bins / Math.max(1, to - from);
  const add = (kind: string, sends: boolean, hidden: boolean, a: number, b: number) => {
    const key = `${kind} ${sends} ${hidden}`;
    const of = by.get(key) ?? { kind, sends, hidden, share: new Float32Array(bins) };
    by.set(key, of);
    const [low, high] = [Math.max(0, (a - from) * per), Math.min(bins, (b - from) * per)];
    for (let i = Math.floor(low); i < high; i++) of.share[i] += (Math.min(high, i + 1) - Math.max(low, i)) / h.ranks.length;
  };
  for (const r of h.ranks)
    for (const [a, b, kind, , sends] of spans.get(r) ?? []) {
      if (!sends) {
        add(kind, false, false, a, b);
        continue;
      }
      let end = a;
      for (const [c, d] of bare(a, b, work.get(r) ?? [])) {
        if (c > end) add(kind, true, true, end, c);
        add(kind, true, false, c, d);
        end = d;
      }
      if (b > end) add(kind, true, true, end, b);
    }
  return [...by.values()];
}

/** folded draws a host as one row: computing above, communication below, each as the share of its GPUs. */
export function folded(g: CanvasRenderingContext2D, states: ReturnType<typeof shares>, left: number, wide: number, y: number, colour: (kind: string) => string) {
  const half = rowHeight / 2 - 1;
  const at = (i: number) => Math.round(left + (i * wide) / bins);
  const taken = [new Float32Array(bins), new Float32Array(bins)];
  for (const { kind, sends, hidden, share } of states) {
    g.fillStyle = hidden ? hatched(g, colour(kind)) : colour(kind);
    const lane = taken[sends ? 1 : 0];
    const base = y + (sends ? 2 : 1) * half;
    for (let i = 0; i < bins; i++) {
      const h = Math.min(share[i], 1 - lane[i]) * half;
      if (h < 0.05) continue;
      g.fillRect(at(i), base - lane[i] * half - h, at(i + 1) - at(i), h);
      lane[i] += h / half;
    }
  }
}
