import type { TopologyNode } from "./contract";

/** Some is nodes that are drawn as one box: a node, or a group that stands for a place. */
export interface Some {
  id: string;
  label: string; // as long as there is room for it
  short: string;
  opens: string; // what a click opens; "" for a node
  within: string; // the open place that it is in
  nodes: number[];
}

const most = 40; // values of a place before they are bundled
const bundles = 24; // of about so many

/** standing says where a node stands: pod 3, rack 12. */
export const standing = (n: TopologyNode): string =>
  (n.places ?? []).map((p) => `${p.word} ${p.at}`).join(", ");

/** byPlaces sums nodes up by their places, the widest first: a pod is one box until it is open, then its
 * racks are, and so on to single nodes. Many values are bundled, rack 1-8. What is open is so for all
 * groups of nodes that stand there. */
export function byPlaces(nodes: TopologyNode[], here: number[], open: Set<string>): Some[] {
  const groups = new Map<string, number[]>();
  for (const i of here) {
    const g = nodes[i].group ?? "";
    const list = groups.get(g);
    if (list) list.push(i);
    else groups.set(g, [i]);
  }
  const out: Some[] = [];
  const one = (i: number, within: string) => {
    const { name } = nodes[i];
    out.push({ id: name, label: name, short: name, opens: "", nodes: [i], within });
  };
  const split = (group: string, list: number[], depth: number, key: string, path: string) => {
    const word = nodes[list[0]].places?.[depth]?.word;
    if (word === undefined || list.length === 1) {
      for (const i of list) one(i, path);
      return;
    }
    const by = new Map<number, number[]>();
    for (const i of list) {
      const v = nodes[i].places![depth].at;
      const some = by.get(v);
      if (some) some.push(i);
      else by.set(v, [i]);
    }
    const values = [...by.keys()].sort((a, b) => a - b);
    const name = word === "n" ? `${group} n` : word; // a number of its own is nobody else's place
    const part = (some: number[], at: string, within: string, then: () => void) => {
      const opens = `${key}${key && ","}${name}=${at}`;
      const short = `${word === "n" ? group : word} ${at}`;
      const label = path ? `${path}, ${short}` : short;
      if (open.has(opens)) then();
      else if (some.length === 1) one(some[0], within);
      else out.push({ id: `${group}:${opens}`, label, short, opens, nodes: some, within });
    };
    const each = (some: number[], within: string) => {
      for (const v of some) {
        const at = by.get(v)!;
        const [k, p] = [`${key}${key && ","}${name}=${v}`, `${path}${path && ", "}${word} ${v}`];
        part(at, String(v), within, () => split(group, at, depth + 1, k, p));
      }
    };
    if (values.length === 1) split(group, list, depth + 1, key, path);
    else if (values.length <= most) each(values, path);
    else {
      const size = Math.ceil(values.length / bundles);
      for (let i = 0; i < values.length; i += size) {
        const some = values.slice(i, i + size);
        const all = some.flatMap((v) => by.get(v)!);
        const at = `${some[0]}-${some[some.length - 1]}`;
        const within = `${path}${path && ", "}${word === "n" ? group : word} ${at}`;
        part(all, at, path, () => each(some, within));
      }
    }
  };
  for (const [group, list] of groups) split(group, list, 0, "", "");
  return out;
}
