import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Info, QPView } from "./api";
import { between, ink, type Limits, lineTokens, load, queueStep, table } from "./colour";
import { caption, type Frame, frames, owners, says, within } from "./domains";
import { gpusOf, type Loss } from "./failures";
import { arrange, type Box, type Cable, ends, type Layout } from "./layout";
import { said, slowInk, type State } from "./linkstates";
import type { Flying, Motion } from "./motion";
import type { Paused } from "./pauses";
import { standing } from "./places";
import { set } from "./state";
import type { Cast } from "./victims";

/** Values are a grid's, per port and column of time, port by port: codes in their order, bytes for colours, of which 255
 * is the largest, and what each is worth. */
export interface Values {
  cols: number;
  codes: Uint16Array;
  bytes: Uint8Array;
  worth: (i: number) => number;
}

const narrow = 500; // px, below which links have numbers and their names are a list

/** Label is words beside a port's link; of the root of pauses the link is drawn as well. */
export interface Label {
  port: number;
  words: string;
  root?: boolean;
  bold?: boolean;
}

/** Queues are what the grid's values mean where they are queues: bytes of 255, and the thresholds of each port. */
export interface Queues {
  scale: number;
  limits: Limits[];
}

/** Canvas draws the fabric: what goes on at a moment, or what a failure leaves. */
export function Canvas(props: {
  info: Info;
  data?: Values;
  t: number;
  open: Set<string>;
  port?: number;
  path?: QPView;
  motion?: Motion; // a followed packet, and the ports on its way
  on: Map<number, Paused>;
  states: Map<number, State>;
  loss?: Loss;
  labels: Label[];
  queues?: Queues;
  cast?: Cast;
  fail: (name: string) => void;
}) {
  const box = useRef<HTMLCanvasElement>(null);
  const [size, resize] = useState({ w: 800, h: 460 });
  const layout = useMemo(
    () => arrange(props.info, size.w, size.h, props.open),
    [props.info, size, props.open],
  );
  useEffect(() => {
    const el = box.current?.parentElement;
    if (!el) return;
    const watch = new ResizeObserver(() =>
      resize({
        w: Math.max(280, el.clientWidth - 2),
        h: Math.max(280, Math.min(470, window.innerHeight - (props.loss ? 430 : 540))), // lanes stay in view
      }),
    );
    watch.observe(el);
    return () => watch.disconnect();
  }, [!props.loss]);
  const ports = props.motion?.ports;
  const path = useMemo(() => ports ?? new Set(props.path?.path.map((p) => p.port)), [props.path, ports]);
  const parts = useMemo(() => partsOf(props.info), [props.info]);
  const around = useMemo(
    () => frames(props.info.topology, layout.boxes, parts.owner),
    [props.info, layout, parts],
  );
  useEffect(() => {
    const c = box.current;
    if (c) draw(c, size, layout, props, path, parts, around);
  });
  const under = (e: MouseEvent): { hit?: Box; best?: Cable } => {
    const r = box.current!.getBoundingClientRect();
    const [x, y] = [e.clientX - r.left, e.clientY - r.top];
    const hit = layout.boxes.find((b) => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h);
    if (hit) return { hit };
    let best: Cable | undefined;
    let least = 8;
    layout.cables.forEach((cable, i) => {
      const [ax, ay, bx, by] = ends(cable, (i % 5) - 2);
      const k = Math.max(
        0,
        Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1)),
      );
      const d = Math.hypot(x - ax - k * (bx - ax), y - ay - k * (by - ay));
      if (d < least) [best, least] = [cable, d];
    });
    return { best };
  };
  const broken = (c: Cable) => {
    const all = c.links.flatMap((l) => props.states.get(l.from_a) ?? []);
    if (all.length === 0 || props.loss) return "";
    if (c.links.length === 1) return `, ${said(props.info, all[0])}`;
    const down = all.filter((s) => s.down).length;
    return `, ${down} of them down, ${all.length - down} below their rate`;
  };
  const failing = (b: Box) => (b.group ? (b.opens.includes("=") ? b.opens : undefined) : b.label);
  const pick = (e: MouseEvent) => {
    const { hit, best } = under(e);
    const name = props.loss && hit && failing(hit);
    if (name) props.fail(name);
    else if (hit?.group) set({ open: [...props.open, hit.opens].join("|") }, false);
    else if (best && !props.loss) set({ port: hottest(best, props.data, props.t), qp: undefined }, false);
  };
  const name = (e: MouseEvent) => {
    const { hit, best } = under(e);
    const { topology, ports } = props.info;
    const port = best && ports[hottest(best, props.data, props.t)];
    const said = hit && within(hit, parts.owner).map((d) => topology.domains![d]);
    const joined = said?.length === 1 ? `; ${said[0].name}: ${says(said[0])}` : "";
    const more = props.loss && hit && failing(hit) ? "; click to let it fail" : "";
    box.current!.title = hit
      ? (hit.group
          ? `${hit.label}: ${hit.nodes.length} ${hit.noun}${more ? "" : "; click to open"}`
          : [hit.label, hit.role, standing(topology.nodes[hit.nodes[0]])].filter(Boolean).join(", ")) +
        joined +
        more
      : port
        ? port.name +
          (best.links.length > 1 ? `, the busiest of ${best.links.length} cables` : "") +
          broken(best)
        : "";
  };
  return (
    <div class="canvas">
      <canvas
        ref={box}
        onClick={pick}
        onMouseMove={name}
        role="img"
        aria-label={
          `the fabric: ${props.info.topology.nodes.length} nodes, ${props.info.topology.links.length} links; ` +
          (props.loss
            ? "what fails can be chosen in the list beside it"
            : "links can be chosen in the list beside it")
        }
      />
      {size.w < narrow && path.size === 0 && props.labels.length > 0 && (
        <ol class="named">
          {props.labels.map((l) => (
            <li>{l.words}</li>
          ))}
        </ol>
      )}
      {props.open.size > 0 && <button onClick={() => set({ open: undefined })}>close all groups</button>}
    </div>
  );
}

const at = (data: Values | undefined, port: number, t: number) => data?.bytes[port * data.cols + t] ?? 0;

/** hottest is the direction with the larger value among a cable's. */
function hottest(c: Cable, data: Values | undefined, t: number): number {
  let best = c.links[0].from_a;
  let top = -1;
  for (const l of c.links)
    for (const p of [l.from_a, l.from_b]) if (at(data, p, t) > top) [best, top] = [p, at(data, p, t)];
  return best;
}

/** Inside is what the drawing says of servers: their NICs, and the domain that they are in. */
interface Inside {
  nics: Map<number, number[]>;
  owner: Map<number, number>;
}

function partsOf(info: Info): Inside {
  const nics = new Map<number, number[]>();
  info.topology.nics.forEach((n, i) => {
    const list = nics.get(n.host);
    if (list) list.push(i);
    else nics.set(n.host, [i]);
  });
  return { nics, owner: owners(info.topology) };
}

interface Drawn {
  info: Info;
  motion?: Motion;
  data?: Values;
  t: number;
  port?: number;
  on: Map<number, Paused>;
  states: Map<number, State>;
  loss?: Loss;
  labels: Label[];
  queues?: Queues;
  cast?: Cast;
}

function draw(
  c: HTMLCanvasElement,
  size: { w: number; h: number },
  layout: Layout,
  props: Drawn,
  path: Set<number>,
  parts: Inside,
  around: Frame[],
) {
  const scale = devicePixelRatio || 1;
  if (c.width !== size.w * scale || c.height !== size.h * scale) {
    c.width = size.w * scale;
    c.height = size.h * scale;
    c.style.width = `${size.w}px`;
    c.style.height = `${size.h}px`;
  }
  const g = c.getContext("2d")!;
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, size.w, size.h);
  g.font = "11px system-ui, sans-serif";
  g.textAlign = "center";
  g.textBaseline = "middle";
  if (props.loss) cut(g, layout, props.loss);
  else cables(g, layout, props, path);
  const framed = frame(g, around, layout.boxes);
  for (const b of layout.boxes) {
    g.fillStyle = ink("--panel");
    g.strokeStyle = ink("--ink");
    g.lineWidth = 1;
    const part = props.cast && roleOf(props.cast, b);
    if (part) [g.strokeStyle, g.lineWidth] = [ink(part === "victim" ? "--ink" : "--c-incast"), 2.5];
    if (part === "incast") g.fillStyle = mixed(ink("--c-incast"), ink("--panel"));
    g.setLineDash(b.group ? [4, 3] : []);
    g.beginPath();
    if (b.w > 8) g.roundRect(b.x, b.y, b.w, b.h, 4);
    else g.rect(b.x, b.y, b.w, b.h);
    g.fill();
    const dead = props.loss ? harm(g, b, props.loss) : false;
    g.stroke();
    g.setLineDash([]);
    g.fillStyle = ink(dead ? "--bg" : "--ink");
    if (b.role === "host" && !b.group && b.w > 40 && b.h > 40) server(g, props, b, parts, dead);
    else write(g, b);
    if (part && part !== "sender" && b.w >= 40) {
      g.font = "600 11px system-ui, sans-serif";
      g.fillText(part, b.x + b.w / 2, b.y + b.h + 11);
      g.font = "11px system-ui, sans-serif";
    }
  }
  captions(
    g,
    layout.boxes.filter((b) => !framed.has(b)),
  );
  if (path.size === 0) label(g, size.w, layout, props.labels, new Set([...props.on.keys(), ...(props.cast?.bed ?? [])]));
  for (const x of props.motion?.flying ?? []) fly(g, layout, x);
}

/** roleOf is the part that a box of one host has between an incast and its victim. */
function roleOf(c: Cast, b: Box): "victim" | "incast" | "sender" | undefined {
  const n = b.nodes.length === 1 ? b.nodes[0] : -1;
  if (n < 0) return undefined;
  return n === c.receiver ? "incast" : n === c.from || n === c.to ? "victim" : c.senders.has(n) ? "sender" : undefined;
}

/** mixed is a light shade of a colour on a ground. */
const mixed = (colour: string, ground: string) => between([ground, colour], 0.3);

/** label names links beside them, each in a box with a dot on its link, where no other name is and fewest of the links
 * pass that are named or that are kept free. Where there is no room they have numbers. */
function label(g: CanvasRenderingContext2D, wide: number, layout: Layout, all: Label[], free: Set<number>) {
  const lines = all.flatMap((l) => {
    const i = layout.cables.findIndex((c) => c.links.length === 1 && [c.links[0].from_a, c.links[0].from_b].includes(l.port));
    return i < 0 ? [] : [{ l, ends: ends(layout.cables[i], (i % 5) - 2) }];
  });
  if (wide < narrow) {
    lines.forEach(({ l, ends: [ax, ay, bx, by] }) => number(g, (ax + bx) / 2, (ay + by) / 2, all.indexOf(l) + 1));
    return;
  }
  const kept = layout.cables.flatMap((c, i) => (c.links.some((l) => free.has(l.from_a) || free.has(l.from_b)) ? [{ ends: ends(c, (i % 5) - 2) }] : []));
  const taken: [number, number, number, number][] = layout.boxes.map((b) => [b.x, b.y, b.x + b.w, b.y + b.h]);
  /** crossed counts the named links that pass a box. */
  const crossed = ([x0, y0, x1, y1]: [number, number, number, number]) =>
    [...lines, ...kept].filter(({ ends: [ax, ay, bx, by] }) =>
      Array.from({ length: 41 }, (_, k) => k / 40).some((k) => {
        const [x, y] = [ax + k * (bx - ax), ay + k * (by - ay)];
        return x > x0 - 2 && x < x1 + 2 && y > y0 && y < y1;
      }),
    ).length;
  for (const { l, ends: [ax, ay, bx, by] } of lines) {
    const words = l.words;
    g.font = `${l.root || l.bold ? "600 " : ""}11px system-ui, sans-serif`;
    const w = g.measureText(words).width + 10;
    let best: { box: [number, number, number, number]; x: number; y: number; cost: number } | undefined;
    for (const k of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8])
      for (const side of [1, -1]) {
        const [x, y] = [ax + k * (bx - ax), ay + k * (by - ay)];
        const from = side > 0 ? x + 10 : x - 10 - w;
        const box: [number, number, number, number] = [from, y - 9, from + w, y + 9];
        if (from < 2 || from + w > wide - 2 || taken.some(([p, q, r, s]) => box[0] < r + 2 && box[2] > p - 2 && box[1] < s + 2 && box[3] > q - 2)) continue;
        const cost = crossed(box) + Math.abs(k - 0.5) / 10;
        if (!best || cost < best.cost) best = { box, x, y, cost };
      }
    if (!best) continue;
    taken.push(best.box);
    const { box, x, y } = best;
    g.strokeStyle = g.fillStyle = ink("--ink");
    g.lineWidth = 1;
    line(g, x, y, box[0] > x ? box[0] : box[2], y);
    g.beginPath();
    g.arc(x, y, 3, 0, 2 * Math.PI);
    g.fill();
    g.fillStyle = ink("--panel");
    g.strokeStyle = ink("--line-2");
    g.beginPath();
    g.roundRect(box[0], box[1], w, 18, 4);
    g.fill();
    g.stroke();
    g.fillStyle = ink("--ink");
    g.textAlign = "left";
    g.fillText(words, box[0] + 5, y + 0.5);
    g.textAlign = "center";
  }
}

/** number draws a number in a circle. */
function number(g: CanvasRenderingContext2D, x: number, y: number, n: number) {
  g.beginPath();
  g.arc(x, y, 8, 0, 2 * Math.PI);
  g.fillStyle = ink("--ink");
  g.fill();
  g.fillStyle = ink("--bg");
  g.font = "600 11px system-ui, sans-serif";
  g.fillText(String(n), x, y + 0.5);
  g.font = "11px system-ui, sans-serif";
}

/** fly draws a packet where it is: a diamond once it is marked, with a ring where it waits. */
function fly(g: CanvasRenderingContext2D, layout: Layout, x: Flying) {
  const i = layout.cables.findIndex((c) => c.links.some((l) => l.from_a === x.port || l.from_b === x.port));
  if (i < 0) return;
  const cable = layout.cables[i];
  const link = cable.links.find((l) => l.from_a === x.port || l.from_b === x.port)!;
  const [ax, ay, bx, by] = ends(cable, (i % 5) - 2); // from the lower tier
  const low = cable.a.tier <= cable.b.tier ? cable.a : cable.b;
  const from = layout.of.get(link.from_a === x.port ? link.a : link.b);
  const k = from === low ? x.share : 1 - x.share;
  const [px, py] = [ax + k * (bx - ax), ay + k * (by - ay)];
  const r = x.data ? 7 : 4.5;
  g.beginPath();
  if (x.marked) {
    g.moveTo(px, py - r - 1);
    g.lineTo(px + r + 1, py);
    g.lineTo(px, py + r + 1);
    g.lineTo(px - r - 1, py);
    g.closePath();
  } else g.arc(px, py, r, 0, 2 * Math.PI);
  g.fillStyle = ink(x.marked ? "--c-rate_not_given_back" : "--c-hash_collision");
  g.strokeStyle = ink("--ink");
  g.lineWidth = 1.5;
  g.fill();
  g.stroke();
  if (x.share === 0) {
    g.beginPath();
    g.arc(px, py, r + 5, 0, 2 * Math.PI);
    g.stroke();
  }
  g.fillStyle = ink("--ink");
  g.strokeStyle = ink("--panel");
  g.lineWidth = 3;
  g.textAlign = "left";
  g.strokeText(x.kind, px + r + 8, py - 9);
  g.fillText(x.kind, px + r + 8, py - 9);
  g.textAlign = "center";
}

/** cables draws what goes over each at a moment. */
function cables(g: CanvasRenderingContext2D, layout: Layout, props: Drawn, path: Set<number>) {
  const calm = ink("--line-2");
  const ramp = table(load().slice(1));
  const steps = lineTokens.map(ink);
  const roots = new Set(props.labels.filter((l) => l.root).map((l) => l.port));
  const counts = new Uint32Array(256); // of a cable's links, by value
  const strokes = layout.cables.map((cable, i) => {
    const s = { cable, i, value: 0, top: -1, busiest: -1, paused: -1, chosen: false, onPath: false, down: 0, slow: 0 };
    counts.fill(0);
    for (const l of cable.links) {
      const state = props.states.get(l.from_a);
      if (state?.down) s.down++;
      else if (state) s.slow++;
      const [a, b] = [at(props.data, l.from_a, props.t), at(props.data, l.from_b, props.t)];
      counts[Math.max(a, b)]++;
      if (a > s.top) [s.top, s.busiest] = [a, l.from_a];
      if (b > s.top) [s.top, s.busiest] = [b, l.from_b];
      for (const p of [l.from_a, l.from_b]) {
        s.chosen ||= p === props.port;
        s.onPath ||= path.has(p);
        if (s.paused < 0 && props.on.has(p)) s.paused = p;
      }
    }
    for (let left = Math.ceil(0.9 * cable.links.length); (left -= counts[s.value]) > 0; ) s.value++; // orders bundles
    return s;
  });
  strokes.sort((a, b) => a.value - b.value); // the busy ones on top
  if (props.cast)
    layout.cables.forEach((c, i) => {
      if (!c.links.some((l) => props.cast!.bed.has(l.from_a) || props.cast!.bed.has(l.from_b))) return;
      const [ax, ay, bx, by] = ends(c, (i % 5) - 2);
      g.strokeStyle = ink("--line");
      g.lineWidth = 14;
      line(g, ax, ay, bx, by);
    });
  const few = layout.cables.length <= 256; // more heads would cover the links
  strokes.forEach(({ cable, i, value, busiest, paused: stopped, chosen, onPath, down, slow }) => {
    const paused = stopped >= 0;
    const [ax, ay, bx, by] = ends(cable, (i % 5) - 2);
    const q = props.queues;
    if (cable.links.length > 1) {
      if (path.size > 0 && !onPath) g.globalAlpha = 0.15;
      bundle(g, cable, [ax, ay, bx, by], layout, props, ramp, steps, calm);
      g.strokeStyle = ink("--accent");
      g.lineWidth = 1.5;
      g.setLineDash(onPath ? [] : [8, 3]);
      if (chosen || onPath) {
        line(g, ax, ay, bx, by);
      }
      g.setLineDash([]);
      g.globalAlpha = 1;
      return;
    }
    g.strokeStyle =
      value === 0 ? calm : q ? steps[queueStep((value / 255) * q.scale, q.limits[busiest])] : ramp[Math.round(value)];
    g.lineWidth = value === 0 ? 0.7 : 1 + (value / 255) * 3;
    if (down === cable.links.length) g.strokeStyle = ink("--bg"); // the dashes alone are left of it
    if (paused) g.strokeStyle = ink("--bg"); // likewise
    if (path.size > 0 && !onPath) g.globalAlpha = 0.15;
    line(g, ax, ay, bx, by);
    if (down + slow > 0) {
      g.strokeStyle = down > 0 ? ink("--bad") : slowInk;
      g.lineWidth = 2;
      g.setLineDash(down > 0 ? [2, 5] : [12, 4]);
      g.stroke();
      g.setLineDash([]);
    }
    if (cable.links.some((l) => roots.has(l.from_a) || roots.has(l.from_b))) {
      g.strokeStyle = ink("--ink");
      g.lineWidth = 4;
      g.stroke();
    } else if (paused || chosen || onPath) {
      g.strokeStyle = paused ? ink("--c-pause") : ink("--accent");
      g.lineWidth = paused ? 3 : 1.5;
      g.setLineDash(paused ? [4, 3] : onPath ? [] : [8, 3]);
      g.stroke();
      g.setLineDash([]);
    }
    // The direction that is shown: the paused port's, else the busier one's.
    if (few && (paused || value > 0)) {
      const p = paused ? stopped : busiest;
      const link = cable.links.find((l) => l.from_a === p || l.from_b === p)!;
      const low = cable.a.tier <= cable.b.tier ? cable.a : cable.b;
      const up = layout.of.get(link.from_a === p ? link.a : link.b) === low;
      arrow(g, up ? [ax, ay, bx, by] : [bx, by, ax, ay], paused ? ink("--c-pause") : String(g.strokeStyle), Math.max(4, g.lineWidth + 2.5));
    }
    g.globalAlpha = 1;
  });
}

const grades = 6; // of load in a bundle

/** bundle draws links as one band, a half for each direction as they keep right, divided by the share of ports of each
 * colour: a maximum, or a quantile, would show any large fabric as full. */
function bundle(g: CanvasRenderingContext2D, cable: Cable, [ax, ay, bx, by]: [number, number, number, number], layout: Layout, props: Drawn, ramp: string[], steps: string[], calm: string) {
  const q = props.queues;
  const long = Math.hypot(bx - ax, by - ay) || 1;
  const [nx, ny] = [-(by - ay) / long, (bx - ax) / long]; // to the right of a line that goes up
  const wide = Math.min(9, 3 + Math.log2(cable.links.length)); // of a half
  const low = cable.a.tier <= cable.b.tier ? cable.a : cable.b;
  for (const up of [true, false]) {
    const ports = new Map<string, number>();
    const order: [number, string][] = [];
    for (const l of cable.links) {
      const p = (layout.of.get(l.a) === low) === up ? l.from_a : l.from_b;
      const v = at(props.data, p, props.t);
      const [rank, colour] = props.states.get(l.from_a)?.down
        ? [-1, ink("--bad")]
        : props.on.has(p)
          ? [99, ink("--c-pause")]
          : v === 0
            ? [0, calm]
            : q
              ? ((k: number): [number, string] => [k, steps[k]])(queueStep((v / 255) * q.scale, q.limits[p]))
              : ((k: number): [number, string] => [k, ramp[Math.round(((k - 0.5) / grades) * 255)]])(Math.ceil((v / 255) * grades));
      if (!ports.has(colour)) order.push([rank, colour]);
      ports.set(colour, (ports.get(colour) ?? 0) + 1);
    }
    let off = 0.5;
    for (const [, colour] of order.sort((a, b) => b[0] - a[0])) {
      const w = (ports.get(colour)! / cable.links.length) * wide;
      const d = (up ? 1 : -1) * (off + w / 2);
      g.strokeStyle = colour;
      g.lineWidth = w;
      line(g, ax + nx * d, ay + ny * d, bx + nx * d, by + ny * d);
      off += w;
    }
  }
}

/** arrow is the head of a directed link, three fifths of the way along. */
function arrow(g: CanvasRenderingContext2D, [ax, ay, bx, by]: [number, number, number, number], colour: string, size: number) {
  const long = Math.hypot(bx - ax, by - ay) || 1;
  const [dx, dy] = [((bx - ax) / long) * size, ((by - ay) / long) * size];
  const [x, y] = [ax + 0.6 * (bx - ax), ay + 0.6 * (by - ay)];
  g.fillStyle = colour;
  g.beginPath();
  g.moveTo(x + 1.6 * dx, y + 1.6 * dy);
  g.lineTo(x - dy, y + dx);
  g.lineTo(x + dy, y - dx);
  g.fill();
}

/** cut draws which cables a failure leaves: those to what failed are dashed. */
function cut(g: CanvasRenderingContext2D, layout: Layout, loss: Loss) {
  const [calm, bad] = [ink("--line-2"), ink("--bad")];
  layout.cables.forEach((cable, i) => {
    const dead = cable.links.filter((l) => loss.gone.has(l.a) || loss.gone.has(l.b)).length;
    const [ax, ay, bx, by] = ends(cable, (i % 5) - 2);
    g.strokeStyle = dead > 0 ? bad : calm;
    g.lineWidth = dead > 0 ? 1.2 : 0.7;
    g.globalAlpha = dead > 0 ? 0.3 + (0.7 * dead) / cable.links.length : 1;
    g.setLineDash(dead > 0 ? [3, 4] : []);
    line(g, ax, ay, bx, by);
  });
  g.setLineDash([]);
  g.globalAlpha = 1;
}

/** line draws a line from one point to another. */
function line(g: CanvasRenderingContext2D, ax: number, ay: number, bx: number, by: number) {
  g.beginPath();
  g.moveTo(ax, ay);
  g.lineTo(bx, by);
  g.stroke();
}

/** harm colours a box by what a failure does to it, and says whether all of it has failed. */
function harm(g: CanvasRenderingContext2D, b: Box, loss: Loss): boolean {
  const share = (of: (n: number) => number) => b.nodes.reduce((sum, n) => sum + of(n), 0) / b.nodes.length;
  const fill = (part: number, colour: string, alpha: number) => {
    if (part <= 0) return;
    g.save();
    g.clip();
    g.globalAlpha = alpha;
    g.fillStyle = colour;
    g.fillRect(b.x, b.y + b.h * (1 - part), b.w, b.h * part);
    g.restore();
  };
  const gone = share((n) => (loss.gone.has(n) ? 1 : 0));
  const shown = b.role === "host" && !b.group && b.w > 40 && b.h > 40; // its NICs and GPUs say it
  fill(
    shown
      ? 0
      : Math.min(
          1,
          share((n) => loss.thin.get(n) ?? 0),
        ),
    "#e69f00",
    0.5,
  );
  fill(shown ? 0 : share((n) => loss.hosts.get(n) ?? 0), ink("--bad"), 0.45);
  fill(gone, ink("--ink"), 1);
  return gone > 0.5;
}

/** frame draws one around servers that share NVLink, with its name and rate, and says which boxes have one. */
function frame(g: CanvasRenderingContext2D, around: Frame[], boxes: Box[]): Set<Box> {
  const framed = new Set<Box>();
  for (const fr of around) {
    g.beginPath();
    g.roundRect(fr.x - 3, fr.y - 5, fr.w + 6, fr.h + 25, 6);
    g.fillStyle = ink("--sunk");
    g.strokeStyle = ink("--line-2");
    g.lineWidth = 1.5;
    g.fill();
    g.stroke();
    g.fillStyle = ink("--ink");
    const words = caption(fr.domain, (t) => g.measureText(t).width <= fr.w);
    g.fillText(words, fr.x + fr.w / 2, fr.y + fr.h + 10);
    for (const b of boxes) if (fr.domain.nodes.includes(b.nodes[0])) framed.add(b);
  }
  return framed;
}

/** captions says beside boxes that an open place has been spread into which place that is. */
function captions(g: CanvasRenderingContext2D, boxes: Box[]) {
  g.fillStyle = ink("--ink");
  g.strokeStyle = ink("--bg");
  g.lineWidth = 3;
  for (let i = 0, k = 0; i < boxes.length; i = k) {
    const { within, tier, y, h, x } = boxes[i];
    for (k = i; k < boxes.length && boxes[k].within === within && boxes[k].tier === tier; k++);
    const width = boxes[k - 1].x + boxes[k - 1].w - x;
    if (!within || g.measureText(within).width >= width) continue;
    g.strokeText(within, x + width / 2, y + h + 7);
    g.fillText(within, x + width / 2, y + h + 7);
  }
}

/** write puts a box's words into it: upright where they fit better, and otherwise what tells it from others. */
function write(g: CanvasRenderingContext2D, b: Box) {
  const wide = (t: string) => g.measureText(t).width;
  if (b.w > 11 && b.h > 40 && (b.w < 30 || (!b.group && wide(b.short) > b.w - 4))) {
    g.save();
    g.translate(b.x + b.w / 2, b.y + b.h / 2);
    g.rotate(-Math.PI / 2);
    g.fillText(b.short, 0, 0, b.h - 4);
    g.restore();
    return;
  }
  const all = whole(b);
  if (b.group && b.w > 30 && wide(all) > b.w - 4) {
    // What is in a group, in a line of its own.
    g.fillText(wide(b.label) > b.w - 4 ? b.short : b.label, b.x + b.w / 2, b.y + b.h / 2 - 6, b.w - 4);
    g.font = "9.5px system-ui, sans-serif";
    g.fillText(`${b.nodes.length} ${b.noun}`, b.x + b.w / 2, b.y + b.h / 2 + 7, b.w - 4);
    g.font = "11px system-ui, sans-serif";
    return;
  }
  const tail = b.short.replace(/^[a-z-]*(?=\d)/i, "");
  if (b.w > 30) g.fillText(text(g, b), b.x + b.w / 2, b.y + b.h / 2, b.w - 4);
  else if (wide(tail) <= b.w - 2) g.fillText(tail, b.x + b.w / 2, b.y + b.h / 2);
}

/** whole is a group's name and what is in it. */
const whole = (b: Box) => (b.label === b.noun ? `${b.nodes.length} ${b.noun}` : `${b.label}: ${b.nodes.length} ${b.noun}`);

/** text is a box's, as much of it as there is room for. */
function text(g: CanvasRenderingContext2D, b: Box): string {
  if (!b.group) return b.label;
  const all = [whole(b), `${b.short}: ${b.nodes.length} ${b.noun}`, b.short];
  return all.find((t) => g.measureText(t).width <= b.w - 4) ?? b.short;
}

/** server draws NICs, NVLink and GPUs of a server; of a failure, which of them are cut off. */
function server(g: CanvasRenderingContext2D, props: Drawn, b: Box, parts: Inside, dead: boolean) {
  const { topology } = props.info;
  const node = b.nodes[0];
  const { loss } = props;
  const [fine, gpu] = [ink("--fine"), ink("--c-compute")];
  const row = (n: number, y: number, h: number, colour: (i: number) => string) => {
    for (let i = 0; i < n; i++) {
      g.fillStyle = colour(i);
      g.fillRect(b.x + 4 + (i * (b.w - 8)) / n, y, Math.max(1, (b.w - 8) / n - 2), h);
    }
  };
  const nics = parts.nics.get(node) ?? [];
  const gpus = gpusOf(topology, node);
  const cut = new Set(loss?.cut.get(node));
  row(nics.length, b.y + 4, 7, (i) =>
    !dead && loss?.nics.has(nics[i]) ? ink("--bad") : fine,
  );
  if (topology.domains ? parts.owner.has(node) : gpus > 1) row(1, b.y + b.h - 32, 3, () => ink("--line-2"));
  row(gpus, b.y + b.h - 25, 9, (i) => (!dead && cut.has(i + 1) ? ink("--bad") : gpu));
  g.fillStyle = ink(dead ? "--bg" : "--ink");
  g.fillText(b.label, b.x + b.w / 2, b.y + b.h - 8, b.w - 4);
}
