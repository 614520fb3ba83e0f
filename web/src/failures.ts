import type { Topology } from "./contract";

/** Loss is what a fabric is left without when some of its nodes are gone. */
export interface Loss {
  gone: Set<number>; // the nodes themselves
  goneGPUs: number; // of servers among them
  goneNICs: number;
  apart: boolean; // what reached one another does so in parts only
  nics: Set<number>; // cut off: they have cables, and none leads to the others any more
  cut: Map<number, number[]>; // by server that stands: its GPUs with no NIC left, from 1
  gpus: number; // all of these
  lent: number; // of them, those whose NVLink domain still has NICs
  hosts: Map<number, number>; // by server that stands: the share of its NICs that is cut off
  thin: Map<number, number>; // by switch or server that stands: the share of its cables upwards that is gone
}

/** Place is where nodes stand: pod 1, or rack 3 of it. */
export interface Place {
  key: string; // pod=1,rack=3
  label: string;
  nodes: number;
}

/** Point is a switch that alone carries NICs. */
export interface Point {
  node: number;
  nics: number;
}

/** Fabric is a topology with what is asked of it again and again. */
export interface Fabric {
  t: Topology;
  nicOf: Int32Array; // by cable; -1: between switches
  before: Parts; // which switches reach one another while all of them stand
}

interface Parts {
  of: Int32Array; // by node: the first node that it reaches; -1 for servers and what is gone
  nics: Int32Array; // by such a node: NICs that have a cable into its part
}

/** parts finds which switches reach one another over cables between switches: NICs pass nothing on. */
function parts(f: Omit<Fabric, "before">, gone: Set<number>): Parts {
  const { nodes, links, nics } = f.t;
  const of = Int32Array.from(nodes, (n, i) => (n.role === "host" || gone.has(i) ? -1 : i));
  const root = (i: number): number => {
    while (of[i] !== i) i = of[i] = of[of[i]];
    return i;
  };
  for (const l of links) {
    if (of[l.a] < 0 || of[l.b] < 0) continue;
    const [a, b] = [root(l.a), root(l.b)];
    of[Math.max(a, b)] = Math.min(a, b);
  }
  const count = new Int32Array(nodes.length);
  for (let i = 0; i < of.length; i++) if (of[i] >= 0) of[i] = root(i);
  for (const n of nics) {
    if (gone.has(n.host)) continue;
    const seen = new Set<number>();
    for (const l of n.links) {
      const part = of[links[l].a === n.host ? links[l].b : links[l].a];
      if (part >= 0) seen.add(part);
    }
    for (const p of seen) count[p]++;
  }
  return { of, nics: count };
}

/** fabric prepares a topology. */
export function fabric(t: Topology): Fabric {
  const nicOf = new Int32Array(t.links.length).fill(-1);
  t.nics.forEach((n, i) => {
    for (const l of n.links) nicOf[l] = i;
  });
  return { t, nicOf, before: parts({ t, nicOf }, new Set()) };
}

/** without says what is cut off when nodes are gone. Of what was joined before, the part with most NICs
 * goes on; NICs with no cable into such a part are cut off. */
export function without(f: Fabric, gone: Set<number>): Loss {
  const { nodes, links, nics } = f.t;
  const now = parts(f, gone);
  const main = new Map<number, number>(); // by part before: the part that goes on
  let apart = false;
  now.of.forEach((part, i) => {
    if (part !== i || now.nics[i] === 0) return;
    const was = f.before.of[i];
    const best = main.get(was);
    apart ||= best !== undefined;
    if (best === undefined || now.nics[i] > now.nics[best]) main.set(was, i);
  });
  const loss: Loss = {
    gone,
    apart,
    goneGPUs: 0,
    goneNICs: 0,
    nics: new Set(),
    cut: new Map(),
    gpus: 0,
    lent: 0,
    hosts: new Map(),
    thin: new Map(),
  };
  const all = new Map<number, number[]>(); // by server: its NICs
  nics.forEach((n, i) => {
    const list = all.get(n.host);
    if (list) list.push(i);
    else all.set(n.host, [i]);
    if (gone.has(n.host)) {
      loss.goneNICs++;
      return;
    }
    if (n.links.length === 0) return;
    const left = n.links.some((l) => {
      const part = now.of[links[l].a === n.host ? links[l].b : links[l].a];
      return part >= 0 && main.get(f.before.of[part]) === part;
    });
    if (!left) loss.nics.add(i);
  });
  lost(f, loss, all);
  thinned(f, loss);
  nodes.forEach((n, i) => {
    if (gone.has(i)) loss.goneGPUs += gpusOf(f.t, i);
    if (n.role !== "host" || gone.has(i)) return;
    const list = all.get(i) ?? [];
    const cut = list.filter((x) => loss.nics.has(x)).length;
    if (cut > 0) loss.hosts.set(i, cut / list.length);
  });
  return loss;
}

/** gpusOf is how many GPUs a server has. */
export function gpusOf(t: Topology, node: number): number {
  const n = t.nodes[node];
  if (n.role !== "host") return 0;
  return t.domains || n.gpus !== undefined ? (n.gpus ?? 0) : t.gpus_per_host; // older runs say it once for all
}

/** lost counts GPUs that have no NIC left, and whether NVLink leads to one. */
function lost(f: Fabric, loss: Loss, all: Map<number, number[]>) {
  const { domains, nodes, nics } = f.t;
  const helped = new Set<number>();
  for (const d of domains ?? [])
    if (d.nodes.some((n) => !loss.gone.has(n) && (all.get(n) ?? []).some((x) => !loss.nics.has(x))))
      for (const n of d.nodes) helped.add(n);
  nodes.forEach((_, node) => {
    const own = all.get(node) ?? [];
    if (loss.gone.has(node) || !own.some((x) => loss.nics.has(x))) return;
    const gpus = gpusOf(f.t, node);
    const cut: number[] = [];
    for (let g = 1; g <= gpus; g++) {
      const mine = own.filter((x, i) =>
        nics[x].gpus ? nics[x].gpus.includes(g) : Math.floor(((g - 1) * own.length) / gpus) === i,
      );
      if (mine.length > 0 && mine.every((x) => loss.nics.has(x))) cut.push(g);
    }
    if (cut.length === 0) return;
    loss.cut.set(node, cut);
    loss.gpus += cut.length;
    if (helped.has(node)) loss.lent += cut.length;
  });
}

/** thinned finds who stands and has fewer cables upwards. */
function thinned(f: Fabric, loss: Loss) {
  const { nodes, links } = f.t;
  const up = new Map<number, [gone: number, all: number]>();
  links.forEach((l, i) => {
    const [low, high] = nodes[l.a].tier <= nodes[l.b].tier ? [l.a, l.b] : [l.b, l.a];
    if (loss.gone.has(low) || (f.nicOf[i] >= 0 && loss.nics.has(f.nicOf[i]))) return;
    const u = up.get(low);
    const gone = loss.gone.has(high) ? l.rate_bps : 0;
    if (u) {
      u[0] += gone;
      u[1] += l.rate_bps;
    } else up.set(low, [gone, l.rate_bps]);
  });
  for (const [node, [gone, all]] of up) if (gone > 0) loss.thin.set(node, gone / all);
}

/** joints are the switches without which others fall apart (Tarjan's articulation points, without recursion:
 * a chain of switches is deep). */
function joints(f: Fabric): number[] {
  const { nodes, links } = f.t;
  const near: number[][] = nodes.map(() => []);
  for (const l of links)
    if (nodes[l.a].role !== "host" && nodes[l.b].role !== "host") {
      near[l.a].push(l.b);
      near[l.b].push(l.a);
    }
  const at = new Int32Array(nodes.length); // when it was met first, from 1
  const low = new Int32Array(nodes.length); // the earliest that is reached from below it
  const next = new Int32Array(nodes.length);
  const found = new Set<number>();
  let clock = 0;
  for (let root = 0; root < nodes.length; root++) {
    if (at[root] > 0 || nodes[root].role === "host") continue;
    const way = [root];
    at[root] = low[root] = ++clock;
    let branches = 0;
    while (way.length > 0) {
      const v = way[way.length - 1];
      const above = way[way.length - 2] ?? -1;
      if (next[v] < near[v].length) {
        const w = near[v][next[v]++];
        if (at[w] === 0) {
          at[w] = low[w] = ++clock;
          way.push(w);
          if (v === root) branches++;
        } else if (w !== above) low[v] = Math.min(low[v], at[w]);
        continue;
      }
      way.pop();
      if (above < 0) continue;
      low[above] = Math.min(low[above], low[v]);
      if (above !== root && low[v] >= at[above]) found.add(above);
    }
    if (branches > 1) found.add(root);
  }
  return [...found].sort((a, b) => a - b);
}

const work = 100_000_000; // cables looked at before the page would seem to stand still

/** points lists the switches on which NICs hang alone, the worst first, and how many were not tried. */
export function points(f: Fabric): { list: Point[]; untried: number } {
  const { nodes, links, nics } = f.t;
  const alone = new Int32Array(nodes.length); // NICs all of whose cables end there
  for (const n of nics) {
    const ends = new Set(n.links.map((l) => (links[l].a === n.host ? links[l].b : links[l].a)));
    if (ends.size === 1) for (const e of ends) alone[e]++;
  }
  const hard = joints(f);
  const tried = hard.slice(0, Math.max(1, Math.floor(work / Math.max(1, links.length))));
  for (const node of tried) alone[node] = without(f, new Set([node])).nics.size;
  const list: Point[] = [];
  alone.forEach((n, node) => {
    if (n > 0 && nodes[node].role !== "host") list.push({ node, nics: n });
  });
  return {
    list: list.sort((a, b) => b.nics - a.nics || a.node - b.node),
    untried: hard.length - tried.length,
  };
}

/** named are the nodes of a name: a node's own, or of all that stands at places, rack=3 or rack=1-8, a number
 * of a group's own being "tray n=2". */
export function named(t: Topology, name: string): number[] {
  if (!name.includes("=")) {
    const i = t.nodes.findIndex((n) => n.name === name);
    return i < 0 ? [] : [i];
  }
  const wants = name.split(",").map((p) => {
    const [word, at] = p.split("=");
    const [low, high] = at.split("-").map(Number);
    const group = word.endsWith(" n") ? word.slice(0, -2) : undefined;
    return { word: group === undefined ? word : "n", group, low, high: high ?? low };
  });
  return t.nodes.flatMap((n, i) =>
    wants.every(
      (w) =>
        (w.group === undefined || n.group === w.group) &&
        n.places?.some((p) => p.word === w.word && p.at >= w.low && p.at <= w.high),
    )
      ? [i]
      : [],
  );
}

/** places lists where nodes stand, the widest first. A number of its own is no place that others share. */
export function places(t: Topology): Place[] {
  const found = new Map<string, Place>();
  t.nodes.forEach((n) => {
    const [words, labels]: string[][] = [[], []];
    for (const p of n.places ?? []) {
      if (p.word === "n") continue;
      words.push(`${p.word}=${p.at}`);
      labels.push(`${p.word} ${p.at}`);
      const key = words.join(",");
      const place = found.get(key);
      if (place) place.nodes++;
      else found.set(key, { key, label: labels.join(", "), nodes: 1 });
    }
  });
  return [...found.values()].filter((p) => p.nodes > 1);
}
