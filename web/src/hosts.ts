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

const bins = 400; // of a folded host

/** shares is the share of a host's GPUs in each state over a window. */
export function shares(h: Host, spans: Map<number, Span[]>, from: number, to: number) {
  const by = new Map<string, { kind: string; sends: boolean; share: Float32Array }>();
  const per = bins / Math.max(1, to - from);
  for (const r of h.ranks)
    for (const [a, b, kind, , sends] of spans.get(r) ?? []) {
      const key = `${kind} ${sends}`;
      const of = by.get(key) ?? { kind, sends, share: new Float32Array(bins) };
      by.set(key, of);
      const [low, high] = [Math.max(0, (a - from) * per), Math.min(bins, (b - from) * per)];
      for (let i = Math.floor(low); i < high; i++) of.share[i] += (Math.min(high, i + 1) - Math.max(low, i)) / h.ranks.length;
    }
  return [...by.values()];
}

/** folded draws a host as one row: computing above, communication below, each as the share of its GPUs. */
export function folded(g: CanvasRenderingContext2D, states: ReturnType<typeof shares>, left: number, wide: number, y: number, colour: (kind: string) => string) {
  const half = rowHeight / 2 - 1;
  const at = (i: number) => Math.round(left + (i * wide) / bins);
  const taken = [new Float32Array(bins), new Float32Array(bins)];
  for (const { kind, sends, share } of states) {
    g.fillStyle = colour(kind);
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
