import type { Info, TopologyLink } from "./api";
import { byPlaces, type Some } from "./places";

/** A Box is a node, or a group of nodes that opens on click. */
export interface Box {
  id: string;
  label: string;
  short: string; // where there is no room for the label
  role: string;
  noun: string; // what its nodes are
  opens: string; // what a click opens; "" for a node
  within: string; // the open place that it is in
  tier: number;
  nodes: number[];
  group: boolean;
  x: number;
  y: number;
  w: number;
  h: number;
}
/** A Cable joins two boxes and stands for one or more links. */
export interface Cable {
  a: Box;
  b: Box;
  links: TopologyLink[];
}
export interface Layout {
  boxes: Box[];
  cables: Cable[];
  of: Map<number, Box>;
}

const most = 40; // boxes of a tier before it is summed up

/** many is the plural of a role. */
const many = (role: string) => (role === "leaf" ? "leaves" : role === "aggregation" ? "switches" : /(ch|sh|s)$/.test(role) ? `${role}es` : `${role}s`);

/** segments says for every node to which group it belongs: a server to its leaves', a
 * leaf to its servers', a switch above to its pod's. */
function segments(info: Info): string[] {
  const { nodes, links } = info.topology;
  const up = new Map<number, number[]>();
  for (const l of links) {
    const [low, high] = nodes[l.a].tier <= nodes[l.b].tier ? [l.a, l.b] : [l.b, l.a];
    if (nodes[low].role === "host") up.set(low, [...(up.get(low) ?? []), high]);
  }
  const out = nodes.map(() => "");
  const names = new Map<string, string>();
  const direct =
    info.topology.kind === "torus" || info.topology.kind === "dragonfly" || info.topology.kind === "fat-tree";
  nodes.forEach((n, i) => {
    if (n.role !== "host") return;
    const leaves = up.get(i) ?? [];
    const key =
      direct && leaves.length
        ? nodes[leaves[0]].name.replace(/-\d+$/, "")
        : [...new Set(leaves)].sort((a, b) => a - b).join(",");
    if (!names.has(key))
      names.set(key, direct ? key.replace(/^leaf-/, info.topology.kind === "fat-tree" ? "pod " : "group ") : `segment ${names.size + 1}`);
    out[i] = names.get(key) as string;
    for (const l of leaves) out[l] ||= out[i];
  });
  nodes.forEach((n, i) => {
    if (!out[i]) out[i] = /^(?:pod|agg)-(\d+)-/.exec(n.name)?.[1].replace(/^/, "pod ") ?? many(n.role);
  });
  return out;
}

/** bySegments sums nodes up by their segment unless that is open, or all are shown. */
function bySegments(info: Info, here: number[], seg: string[], open?: Set<string>): Some[] {
  const { nodes } = info.topology;
  const made = new Map<string, Some>();
  for (const i of here) {
    const key = `${nodes[i].role}:${seg[i]}`;
    const group = open !== undefined && !open.has(key);
    const id = group ? key : nodes[i].name;
    const label = group ? seg[i] : nodes[i].name;
    const box = made.get(id);
    if (box) box.nodes.push(i);
    else made.set(id, { id, label, short: label, opens: group ? key : "", nodes: [i], within: "" });
  }
  return [...made.values()];
}

/** arrange places the fabric in rows by tier; tiers of many nodes become groups,
 * those in open are shown node by node. */
export function arrange(info: Info, width: number, height: number, open: Set<string>): Layout {
  const { nodes, links } = info.topology;
  const seg = segments(info);
  const tiers = [...new Set(nodes.map((n) => n.tier))].sort((a, b) => b - a);
  const low = Math.min(64, height / tiers.length / 2); // height of a server, with room below for its name
  const boxes: Box[] = [];
  const of = new Map<number, Box>();
  tiers.forEach((tier, row) => {
    const here = nodes.map((_, i) => i).filter((i) => nodes[i].tier === tier);
    const described = here.every((i) => nodes[i].places?.length);
    const some =
      here.length <= most
        ? bySegments(info, here, seg, undefined)
        : described
          ? byPlaces(nodes, here, open)
          : bySegments(info, here, seg, open);
    const made = some.map((s): Box => {
      const { role, group } = nodes[s.nodes[0]];
      return {
        ...s,
        role,
        noun: group || many(role),
        tier,
        group: s.opens !== "",
        x: 0,
        y: 0,
        w: 0,
        h: 0,
      };
    });
    for (const box of made) for (const i of box.nodes) of.set(i, box);
    const gap = width / made.length;
    const h = tier === 0 ? low : 26;
    made.forEach((b, k) => {
      b.w = Math.max(2, Math.min(gap - (gap > 12 ? 6 : 1), !b.group ? 120 : made.length === 1 ? width - 24 : 150));
      b.h = h;
      b.x = (k + 0.5) * gap - b.w / 2;
      b.y = tiers.length === 1 ? height / 2 : 14 + (row * (height - 38 - low)) / (tiers.length - 1);
    });
    boxes.push(...made);
  });
  const cables = new Map<string, Cable>();
  for (const l of links) {
    const a = of.get(l.a) as Box;
    const b = of.get(l.b) as Box;
    const key = a.group || b.group ? [a.id, b.id].sort().join("|") : `${l.a}:${l.a_port}`;
    const c = cables.get(key);
    if (c) c.links.push(l);
    else cables.set(key, { a, b, links: [l] });
  }
  return { boxes, cables: [...cables.values()], of };
}

/** ends returns where a cable's line begins and ends; parallel cables lie side by side. */
export function ends(c: Cable, shift: number): [number, number, number, number] {
  const [low, high] = c.a.tier <= c.b.tier ? [c.a, c.b] : [c.b, c.a];
  if (low === high) return [low.x, low.y + low.h, low.x + low.w, low.y + low.h];
  if (c.links.length > 1 && low.tier !== high.tier) {
    // A band leads straight to the wider box, as far as that reaches.
    const near = (b: Box, other: Box) => (b.w <= other.w ? b.x + b.w / 2 : Math.max(b.x + 12, Math.min(b.x + b.w - 12, other.x + other.w / 2)));
    return [near(low, high), low.y, near(high, low), high.y + high.h];
  }
  const x = (b: Box, other: Box) =>
    b.x +
    b.w / 2 +
    Math.max(-b.w * 0.45, Math.min(b.w * 0.45, ((other.x - b.x) / 40 + shift) * (b.w > 20 ? 3 : 0.5)));
  return low.tier === high.tier
    ? [low.x + low.w / 2, low.y + low.h / 2, high.x + high.w / 2, high.y + high.h / 2]
    : [x(low, high), low.y, x(high, low), high.y + high.h];
}
