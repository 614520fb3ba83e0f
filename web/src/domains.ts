import type { Topology, TopologyDomain } from "./contract";
import * as f from "./format";
import type { Box } from "./layout";

/** Frame is drawn around the boxes of servers that share NVLink. */
export interface Frame {
  domain: TopologyDomain;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** speed says how fast a domain is: NVLink by what a GPU has to all others, pair links by what two have. */
export const speed = (d: TopologyDomain): string =>
  `${f.bytes(d.rate_bps / 8)}/s ${d.by === "NVLink" ? "each way per GPU" : "each way per pair"}`;

/** says is a domain in words. */
export const says = (d: TopologyDomain): string => `${f.count(d.gpus)} GPUs by ${d.by}, ${speed(d)}`;

/** owners says for each node which domain it is in. */
export function owners(t: Topology): Map<number, number> {
  const of = new Map<number, number>();
  (t.domains ?? []).forEach((d, i) => {
    for (const n of d.nodes) of.set(n, i);
  });
  return of;
}

/** within lists the domains that a box's nodes are in. */
export const within = (b: Box, of: Map<number, number>): number[] => [
  ...new Set(b.nodes.map((n) => of.get(n)).filter((d) => d !== undefined)),
];

/** frames finds what boxes to draw a frame around: those that hold nothing but one domain, where the domain
 * is more than one server. */
export function frames(t: Topology, boxes: Box[], of: Map<number, number>): Frame[] {
  const all = t.domains ?? [];
  const by = new Map<number, Box[]>();
  for (const b of boxes) {
    if (b.tier !== 0) continue;
    const d = within(b, of);
    if (d.length !== 1 || all[d[0]].nodes.length < 2) continue;
    const list = by.get(d[0]);
    if (list) list.push(b);
    else by.set(d[0], [b]);
  }
  return [...by].map(([d, list]) => {
    const x = Math.min(...list.map((b) => b.x));
    const y = Math.min(...list.map((b) => b.y));
    const right = Math.max(...list.map((b) => b.x + b.w));
    return { domain: all[d], x, y, w: right - x, h: list[0].h };
  });
}

/** caption is as much of a frame's words as there is room for. */
export function caption(d: TopologyDomain, room: (text: string) => boolean): string {
  const rate = `${f.bytes(d.rate_bps / 8)}/s`;
  const all = [
    `${d.name}: ${says(d)}`,
    `${d.name}: ${d.gpus} GPUs, ${d.by} ${rate}`,
    `${d.name}: ${d.by} ${rate}`,
    d.name,
  ];
  return all.find(room) ?? "";
}
