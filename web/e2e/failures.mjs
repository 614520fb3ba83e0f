// What the page says of failures, on random fabrics, against looking at every pair of NICs.
// node failures.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { transformWithEsbuild } from "vite";

const { code } = await transformWithEsbuild(readFileSync("src/failures.ts", "utf8"), "failures.ts");
const { fabric, named, places, points, without } = await import(
  `data:text/javascript,${encodeURIComponent(code)}`
);

let seed = 1;
const random = (n) => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return Math.floor((seed / 0x80000000) * n);
};

/** draw makes a fabric of a few switches, cabled at random, and servers whose NICs have one to three cables. */
function draw() {
  const t = { kind: "graph", gpus_per_host: 0, nodes: [], links: [], nics: [], configs: [], domains: [] };
  const switches = 1 + random(8);
  for (let i = 0; i < switches; i++)
    t.nodes.push({ name: `sw-${i}`, role: "leaf", tier: 1 + random(3), config: -1 });
  const link = (a, b) =>
    t.links.push({ a, b, a_port: "", b_port: "", from_a: 0, from_b: 0, rate_bps: 1e11, length_mm: 1 }) - 1;
  for (let i = random(2 * switches + 1); i > 0 && switches > 1; i--) {
    const a = random(switches);
    link(a, (a + 1 + random(switches - 1)) % switches);
  }
  for (let h = 1 + random(5); h > 0; h--) {
    const host = t.nodes.length;
    const gpus = random(4);
    t.nodes.push({ name: `host-${h}`, role: "host", tier: 0, config: -1, gpus });
    for (let n = random(4); n > 0; n--) {
      const links = [];
      for (let c = 1 + random(3); c > 0; c--)
        links.push(random(2) ? link(host, random(switches)) : link(random(switches), host));
      t.nics.push({
        name: `host-${h}/nic-${n}`,
        host,
        rail: 0,
        links,
        gpus: gpus > 0 ? [1 + random(gpus)] : [],
      });
    }
    const last = t.domains.at(-1);
    if (last && random(2)) last.nodes.push(host);
    else t.domains.push({ name: "d", by: "NVLink", rate_bps: 1, gpus: 2, nodes: [host] });
  }
  return t;
}

/** reach is which switches a walk from each one meets. */
function reach(t, gone) {
  return t.nodes.map((n, from) => {
    const seen = new Set();
    if (n.role === "host" || gone.has(from)) return seen;
    const walk = [from];
    seen.add(from);
    while (walk.length > 0) {
      const at = walk.pop();
      for (const l of t.links)
        for (const [a, b] of [
          [l.a, l.b],
          [l.b, l.a],
        ])
          if (a === at && t.nodes[b].role !== "host" && !gone.has(b) && !seen.has(b)) {
            seen.add(b);
            walk.push(b);
          }
    }
    return seen;
  });
}

/** cutOff is the same as the page's, by sets of everybody that everybody reaches. */
function cutOff(t, gone) {
  const [before, now] = [reach(t, new Set()), reach(t, gone)];
  const leaves = (n) => n.links.map((l) => (t.links[l].a === n.host ? t.links[l].b : t.links[l].a));
  const standing = t.nics.map((n, i) => i).filter((i) => !gone.has(t.nics[i].host));
  const on = (part) => standing.filter((i) => leaves(t.nics[i]).some((s) => part.has(s))).length;
  const main = (s) => {
    // no other switch that was reached before is in a larger part, nor in an equal one that begins earlier
    const mine = [on(now[s]), -Math.min(...now[s])];
    return [...before[s]].every((o) => {
      if (gone.has(o) || now[o].has(s)) return true;
      const other = [on(now[o]), -Math.min(...now[o])];
      return mine[0] > other[0] || (mine[0] === other[0] && mine[1] > other[1]);
    });
  };
  return standing.filter((i) => !leaves(t.nics[i]).some((s) => !gone.has(s) && main(s)));
}

let cut = 0;
let found = 0;
for (let round = 0; round < 3000; round++) {
  const t = draw();
  const f = fabric(t);
  const gone = new Set(Array.from({ length: random(3) }, () => random(t.nodes.length)));
  const loss = without(f, gone);
  const want = cutOff(t, gone);
  assert.deepEqual(
    [...loss.nics].sort((a, b) => a - b),
    want,
    `round ${round}: ${JSON.stringify([t, [...gone]])}`,
  );
  if (gone.size === 0) assert.equal(loss.nics.size + loss.gpus + loss.thin.size + loss.hosts.size, 0);
  for (const [node, gpus] of loss.cut)
    for (const g of gpus) {
      const own = t.nics
        .map((n, i) => i)
        .filter((i) => t.nics[i].host === node && t.nics[i].gpus.includes(g));
      assert.ok(own.length > 0 && own.every((i) => loss.nics.has(i)), `round ${round}: GPU ${g} of ${node}`);
    }
  assert.equal(
    loss.gpus,
    [...loss.cut.values()].reduce((n, x) => n + x.length, 0),
  );
  assert.ok(loss.lent <= loss.gpus);
  cut += loss.nics.size;
  const single = points(f);
  assert.equal(single.untried, 0);
  const worst = t.nodes.flatMap((n, i) => {
    const nics = n.role === "host" ? 0 : cutOff(t, new Set([i])).length;
    return nics > 0 ? [{ node: i, nics }] : [];
  });
  worst.sort((a, b) => b.nics - a.nics || a.node - b.node);
  assert.deepEqual(single.list, worst, `round ${round}: points of ${JSON.stringify(t)}`);
  found += worst.length;
}
assert.ok(cut > 500 && found > 1000, "failures cut something off");

// Names of places: a node's, a place's, a bundle's, a number of a group's own.
const stands = [];
for (const pod of [1, 2])
  for (const rack of [1, 2, 3])
    stands.push({
      name: `host-${pod}-${rack}`,
      group: "host",
      places: [
        { word: "pod", at: pod },
        { word: "rack", at: rack },
      ],
    });
stands.push({ name: "spine-2", group: "spine", places: [{ word: "n", at: 2 }] });
const t = { nodes: stands };
for (const [name, want] of [
  ["host-2-1", [3]],
  ["nobody", []],
  ["pod=2", [3, 4, 5]],
  ["rack=2", [1, 4]],
  ["pod=1,rack=2-3", [1, 2]],
  ["spine n=1-2", [6]],
  ["host n=1-2", []],
])
  assert.deepEqual(named(t, name), want, name);
assert.deepEqual(
  places(t).map((p) => p.label),
  ["pod 1", "pod 2"],
  "a place that one node has is none",
);
console.log(`${found} single points of failure found`);
