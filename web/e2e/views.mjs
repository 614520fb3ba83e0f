// Opens every view in Chromium and compares what it shows with the API's figures.
// node views.mjs BASE RUN-WITH-CASCADE RUN-WITH-CAPTURE TRAINING-RUN REPORT.html BROKEN LOSSY PLACED [SHOTS]
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [base, cascade, captured, training, report, broken, lossy, placed, shots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
  // Playwright's defaults include a flag under which Chromium takes any number of changes of the address;
  // people's does not.
  ignoreDefaultArgs: ["--disable-ipc-flooding-protection"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
page.setDefaultTimeout(120_000); // the machine may be busy
const problems = [];
const origin = new URL(base).origin;
page.on(
  "console",
  (m) => (m.type() === "error" || /throttl/i.test(m.text())) && problems.push(`console: ${m.text()}`),
);
page.on("pageerror", (e) => problems.push(`page: ${e}`));
const asked = new Set(); // requests without an answer
let answers = 0;
page.on("request", (r) => asked.add(r));
for (const end of ["requestfinished", "requestfailed"]) page.on(end, (r) => asked.delete(r) && answers++);
await page.addInitScript(() => {
  // Answers that the page has not read to their end.
  window.unread = 0;
  const ask = window.fetch;
  window.fetch = async (...what) => {
    window.unread++;
    try {
      const answer = await ask(...what);
      await answer.clone().arrayBuffer();
      return answer;
    } finally {
      window.unread--;
    }
  };
});
page.on(
  "request",
  (r) =>
    !r.url().startsWith(origin) &&
    !/^(data|file|blob):/.test(r.url()) &&
    problems.push(`off the machine: ${r.url()}`),
);

const json = async (path) => (await fetch(base + path)).json();
const open = async (hash) => {
  await page.goto("about:blank");
  await page.goto(base + hash);
};
const text = (id) => page.getByTestId(id).innerText();
/** Waits until what is asked holds: what follows a key is drawn, and written into the address, a moment later. */
async function eventually(holds, what) {
  for (const end = Date.now() + 120_000; !(await holds()); await page.waitForTimeout(20))
    assert.ok(Date.now() < end, what);
}
/** Waits until all that was asked for is there, and two looks at the page, some frames apart, find the same. */
async function settled() {
  const look = () =>
    page.evaluate(
      () =>
        new Promise((done) => {
          const drawn = () =>
            done(
              window.unread > 0
                ? null
                : document.body.outerHTML + [...document.querySelectorAll("canvas")].map((c) => c.toDataURL()),
            );
          requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn)));
        }),
    );
  await eventually(async () => {
    const before = answers;
    const first = await look();
    return asked.size === 0 && first !== null && first === (await look()) && answers === before;
  }, "the page is drawn");
}
const shows = (place, words) =>
  eventually(async () => (await place.innerText()).includes(words), `${words} is shown`);
let seen = 0;
async function check(name) {
  await settled();
  if (shots) await page.screenshot({ path: `${shots}/${name}.png` });
  await page.evaluate(axe);
  const bad = await page.evaluate(async () =>
    (await window.axe.run(document)).violations
      .filter((v) => ["serious", "critical"].includes(v.impact))
      .map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 160)}`),
  );
  assert.deepEqual(bad, [], `${name}: accessibility`);
  assert.deepEqual(problems.splice(0), [], name);
  seen++;
}
const time = (ps) => {
  let v = ps;
  let i = 0;
  while (Math.abs(v) >= 1000 && i < 4) {
    v /= 1000;
    i++;
  }
  const digits = Math.abs(v) >= 100 || Number.isInteger(v) ? 0 : Math.abs(v) >= 10 ? 1 : 2;
  return `${v.toFixed(digits)} ${["ps", "ns", "µs", "ms", "s"][i]}`;
};

// The list, by keyboard: filter, sort, open.
await open("");
await page.getByTestId("runs").waitFor();
const listed = (await json("api/runs")).length;
await eventually(
  async () => (await page.getByTestId("runs").locator("tbody tr").count()) === listed,
  "every run is listed",
);
assert.match(
  await page.getByTestId("runs").innerText(),
  /cannot be read|no run directory/,
  "a broken run says why",
);
await check("runs");
await page.getByLabel("filter").focus();
await page.keyboard.type(training);
await page.waitForFunction(() => document.querySelectorAll("[data-testid=runs] tbody tr").length === 1);
await eventually(() => /filter=/.test(page.url()), "the address carries the filter");
await page.getByRole("link", { name: training, exact: true }).focus();
await page.keyboard.press("Enter");
await page.getByTestId("figures").waitFor();

// Figures equal the summary.
for (const run of [training, cascade, captured]) {
  const { summary } = await json(`api/runs/${run}/info`);
  await open(`#/run/${run}/fabric`);
  await page.getByTestId("figures").waitFor();
  for (const [id, figure] of [
    ["step-time", time(summary.step_time_ps)],
    ["marks", summary.ecn_marks.toLocaleString("en-US")],
    ["pauses", summary.pfc_pauses.toLocaleString("en-US")],
  ])
    await eventually(async () => (await text(id)) === figure, `${run}: ${id} is ${figure}`);
}
await check("fabric");

// The scrubber lands on the cascade: the receiver's leaf port is the root, it pauses
// the spine, the spine the other leaf, that leaf its servers.
const { spans, cols } = await json(`api/runs/${cascade}/pauses`);
const { ports, summary } = await json(`api/runs/${cascade}/info`);
const causes = (t) =>
  new Map(spans.filter(([, , first, last]) => first <= t && t <= last).map(([port, cause]) => [port, cause]));
const whole = (on) =>
  [...on].some(([port, leaf]) => {
    const spine = on.get(leaf); // a server, the leaf that it sends to, the spine
    return (
      ports[port].role === "host" &&
      spine !== undefined &&
      ports[leaf].peer.startsWith("spine") &&
      on.has(spine)
    );
  });
const steps = Array.from({ length: cols }, (_, t) => t).find((t) => whole(causes(t)));
assert.ok(steps > 0, "the incast reaches the other segment's servers");
await open(`#/run/${cascade}/fabric?metric=pause&t=0`);
const slider = page.getByRole("slider", { name: "time" });
await slider.focus();
for (let i = 1; i <= steps; i++) {
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((n) => document.querySelector(".scrub").value === String(n), i);
}
await page.waitForFunction(
  (n) => new URLSearchParams(location.hash.split("?")[1]).get("t") === String(n),
  steps,
);
const tree = page.getByTestId("pause-tree");
const root = /root: seg-1-rail-1:\w+ → host-1/;
let order = [];
const at = (what) => order.findIndex((l) => what.test(l));
await eventually(async () => {
  // drawn a moment after the last key
  order = (await tree.innerText()).split("\n");
  const spine = at(/pauses spine-1:\w+ → seg-1-rail-1/);
  const leaf = at(/pauses seg-2-rail-1:\w+ → spine-1/);
  // The servers come last.
  return root.test(order[0]) && spine > 0 && leaf > spine && at(/pauses host-\d+:nic1 → seg-2-rail-1/) > leaf;
}, "the cascade in its order");
// Its roots: of this time as the server ranks them, and of the whole run where nothing is paused.
const rootsOf = page.getByTestId("pause-roots");
const [step, from] = [summary.step_time_ps, Math.floor((steps / cols) * summary.step_time_ps)];
const ranked = await json(
  `api/runs/${cascade}/roots?from=${from}&to=${Math.floor(((steps + 1) / cols) * step)}`,
);
assert.match(ranked.roots[0].name, /^seg-1-rail-1:\w+ → host-1$/, "the root is the receiver's leaf port");
await shows(rootsOf, "at this time");
await shows(rootsOf, time(ranked.roots[0].pause_ps));
await shows(page.getByTestId("pause-flows"), `${ranked.flows[0].from} → ${ranked.flows[0].to}`);
await check("cascade");

// Played to its end at 60 steps a second: the address arrives where the slider does.
await open(`#/run/${cascade}/fabric`);
await page.getByLabel("speed").selectOption("60");
await page.getByRole("button", { name: "play", exact: true }).press("Enter");
await page.waitForFunction((n) => document.querySelector(".scrub").value === String(n - 1), cols, {
  timeout: 300_000,
});
await page.waitForFunction(
  (n) => new URLSearchParams(location.hash.split("?")[1]).get("t") === String(n - 1),
  cols,
);
await page.reload();
await slider.waitFor();
await eventually(async () => (await slider.inputValue()) === String(cols - 1), "a reload stays at the end");
await page.goBack(); // to what was before the view, not to a step of it
await eventually(() => page.url() === "about:blank", "back leads out of the view");
assert.deepEqual(problems.splice(0), [], "playback");

// A grid of fewer columns, as runs of more than 33,333 ports have: what is full in the
// middle column is drawn hot there and calm beside it.
await page.route(/\/(info|grid)(\?|$)/, async (route) => {
  const answer = await route.fetch();
  const body = await answer.json();
  body.cols = 7;
  if (body.data !== undefined) {
    const bytes = Buffer.alloc(7 * body.ports);
    for (let p = 0; p < body.ports; p++) bytes[p * 7 + 3] = 255;
    body.data = bytes.toString("base64");
  }
  await route.fulfill({ json: body });
});
const hotPixels = () =>
  page.evaluate(() => {
    const c = document.querySelector("canvas");
    const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
    let n = 0;
    // Viridis' end.
    for (let i = 0; i < data.length; i += 4) if (data[i] > 240 && data[i + 1] > 200 && data[i + 2] < 80) n++;
    return n;
  });
for (const [t, hot] of [
  [2, false],
  [3, true],
  [4, false],
]) {
  await open(`#/run/${captured}/fabric?t=${t}`);
  await slider.waitFor();
  assert.equal(await slider.getAttribute("max"), "6");
  await settled();
  assert.equal((await hotPixels()) > 20, hot, `column ${t} of 7`);
}
await page.unroute(/\/(info|grid)(\?|$)/);

// A port: its figures, its thresholds, its flows, a flow's path.
const hot = ports.reduce((a, b) => (b.role !== "host" && b.queue_peak_bytes > a.queue_peak_bytes ? b : a));
await open(`#/run/${cascade}/fabric?metric=queue&port=${hot.port}`);
const panel = page.getByTestId("port-panel");
await panel.waitFor();
await shows(panel, hot.name);
await panel.locator(".flows button").first().press("Enter");
await page.getByTestId("qp-panel").waitFor();
await shows(page.getByTestId("qp-panel"), hot.name); // the flow's path names the port
await eventually(() => /qp=/.test(page.url()), "the address carries the flow");
const chosen = Number(/qp=(\d+)/.exec(page.url())[1]);
const qpView = await json(`api/runs/${cascade}/qp?id=${chosen}`);
const ccOf = (await json(`api/runs/${cascade}/info`)).summary.cc.find((c) => c.service === qpView.qp.service);
for (const s of qpView.signals) {
  const signal = ccOf.signals.find((x) => x.name === s.signal);
  if (signal && s.at_ps.length > 1) await shows(page.getByTestId("qp-panel"), `${ccOf.title}: ${signal.doc}`);
}
await check("port");

// Time line: zoom by keyboard.
await open(`#/run/${training}/timeline`);
await page.locator(".tracks").focus();
await page.keyboard.press("+");
await page.waitForURL(/from=.*to=/);
await check("timeline");

// Why: the split adds up, the link leads to the moment.
await open(`#/run/${training}/why`);
await page.getByTestId("sums").waitFor();
const { worst, sums } = await json(`api/runs/${training}/collectives`);
const own = (c) => Object.entries(c.causes).filter(([k]) => !k.endsWith("_reaction_ps"));
for (const c of worst)
  assert.equal(
    own(c).reduce((sum, [, ps]) => sum + ps, 0),
    c.end_ps - c.start_ps,
  );
await eventually(
  async () => (await page.getByTestId("sums").locator("tbody tr").count()) === sums.length,
  "a row per kind",
);
await check("why");
await page.getByRole("link", { name: "see it" }).first().press("Enter");
await page.getByTestId("port-panel").waitFor();
// The link leads to when it was worst, not to the begin of a transfer: traffic begins at 0.
await open(`#/run/${cascade}/why`);
const [shown] = (await json(`api/runs/${cascade}/collectives`)).worst;
assert.ok(shown.start_ps === 0 && shown.at_ps > 0, "the moment lies behind the begin");
await page.getByRole("link", { name: "see it" }).first().press("Enter");
await page.getByTestId("port-panel").waitFor();
await eventually(
  async () => (await slider.inputValue()) === String(Math.floor((shown.at_ps / summary.step_time_ps) * cols)),
  "the scrubber is at that moment",
);
// The busiest moment plays from there, and not from the beginning.
await open(`#/run/${cascade}/fabric?metric=queue&t=1`);
await page.getByRole("button", { name: "busiest moment" }).press("Enter");
await eventually(async () => Number(await slider.inputValue()) > 5, "the busiest moment is shown");
const busy = Number(await slider.inputValue());
await page.getByLabel("speed").selectOption("4");
await page.getByRole("button", { name: "play", exact: true }).press("Enter");
await eventually(async () => Number(await slider.inputValue()) !== busy, "it plays");
assert.ok(Number(await slider.inputValue()) > busy, "it plays from the busiest moment");
await page.getByRole("button", { name: "pause", exact: true }).press("Enter");

// Packets: bytes of a field light up.
await open(`#/run/${captured}/packets`);
await page.locator("g.packet").first().focus();
await page.keyboard.press("Enter");
await page.getByTestId("layers").waitFor();
await page.getByRole("button", { name: "PSN", exact: true }).press("Enter");
await eventually(async () => (await page.locator(".hex .lit").count()) === 3, "a PSN has three bytes");
await check("packets");
// A packet that was followed: what it found and waited at each hop, and a way to the port.
const [one] = (await json(`api/runs/${captured}/followed`)).packets;
const ladder = page.getByTestId("followed");
await shows(ladder, `packet 1/+30: PSN ${one.psn} of queue pair 1, ${one.from} → ${one.to}`);
const [way] = one.copies;
assert.ok(way.hops.length === 2 && way.hops[1].found_bytes > 0, "it waited for the other sender's");
await shows(ladder, `arrived at ${way.ended_at} after ${time(way.end_ps - way.hops[0].left_ps)}`);
await shows(ladder, time(way.hops[1].left_ps - way.hops[1].ready_ps));
await ladder.getByRole("link", { name: way.hops[1].name }).first().press("Enter");
await page.getByTestId("port-panel").waitFor();
await open(`#/run/${training}/packets`);
await page.getByTestId("no-capture").waitFor();

// Other transports: named with what they mean; MRC's packets by its own headers, SRD's by what the simulator
// says of them.
for (const [run, name, means] of [
  [captured, "RoCEv2.", /one path and arrive in order.*pause their neighbours/],
  ["mrc", "MRC.", /another path.*never pause/],
  ["srd", "SRD.", /arrive in any order.*never pause/],
]) {
  await open(`#/run/${run}/packets`);
  await shows(page.getByTestId("transport"), name);
  assert.match(await text("transport"), means, run);
  await page.locator("g.packet").first().focus();
  await page.keyboard.press("Enter");
  const layers = page.getByTestId("layers");
  await layers.waitFor();
  if (run === "mrc") {
    for (const words of ["METH", "flow label", "the high half of MRC's entropy value", "IPv6 follows"])
      await shows(layers, words);
    await page.getByRole("button", { name: "psn", exact: true }).press("Enter");
    await eventually(async () => (await page.locator(".hex .lit").count()) === 3, "a PSN has three bytes");
  }
  if (run === "srd") await shows(page.getByTestId("said"), "data from 10.0.0.");
  await check(`packets-${run}`);
  await open(`#/run/${run}/life?chapter=4`);
  await page
    .getByRole("img", { name: run === "mrc" ? /METH/ : run === "srd" ? /SRD/ : /BTH, then RETH/ })
    .waitFor();
}

// Life: ten chapters by keyboard, figures of this run.
await open(`#/run/${training}/life`);
const info = (await json(`api/runs/${training}/info`)).summary;
for (let i = 1; i <= 10; i++) {
  await page.getByRole("heading", { level: 2, name: new RegExp(`^${i}\\. `) }).waitFor();
  if (i === 9) await shows(page.locator(".captions"), time(info.step_time_ps));
  for (const title of await page.locator(".fig").evaluateAll((all) => all.map((e) => e.title)))
    assert.match(title, /^(computed from this run|cited): /);
  if (i === 8) await check("life");
  if (i < 10) await page.keyboard.press("ArrowRight");
}

// A key pressed in the very moment a chapter is drawn counts: here the pages turn themselves.
const quick = await browser.newPage();
quick.setDefaultTimeout(120_000);
await quick.addInitScript(() => {
  let seen = "";
  new MutationObserver(() => {
    const title = document.querySelector(".life h2")?.textContent ?? "";
    if (title === seen || !title) return;
    seen = title;
    dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", cancelable: true }));
  }).observe(document, { childList: true, subtree: true, characterData: true });
});
await quick.goto(`${base}#/run/${training}/life`);
await quick.getByRole("heading", { level: 2, name: /^10\. / }).waitFor();
await quick.close();

for (const run of [cascade, captured, lossy]) {
  await open(`#/run/${run}/life`);
  const of = (await json(`api/runs/${run}/info`)).summary;
  for (let i = 1; i <= 10; i++) {
    await page.getByRole("heading", { level: 2, name: new RegExp(`^${i}\\. `) }).waitFor();
    assert.doesNotMatch(
      await page.locator(".captions").innerText(),
      /undefined|NaN|Infinity/,
      `${run}, chapter ${i}`,
    );
    const said = await page.locator(".captions").innerText();
    if (i === 5 && run === lossy) assert.match(said, /Each sends to every other rank, all at once/);
    if (i === 5 && run === cascade) assert.match(said, /No collective ran|Every rank/);
    if (i === 8) {
      if (of.cnps === 0)
        assert.match(said, /No sender slowed down/, `${run}: no notification, nobody slows down`);
      if (of.drops > 0)
        assert.match(
          said,
          new RegExp(`${of.drops.toLocaleString("en-US")} packets were dropped`),
          `${run} lost packets`,
        );
      if (of.drops > 0) assert.doesNotMatch(said, /not needed/);
    }
    if (i < 10) await page.keyboard.press("ArrowRight");
  }
}

// Compare two.
await open(`#/compare?runs=${cascade},${captured}`);
await page.getByTestId("compare").waitFor();
await shows(page.getByTestId("compare"), time(summary.step_time_ps));
await check("compare");
await open(`#/compare?runs=${training},${captured}`);
await page.getByTestId("compare").waitFor();
for (const row of ["pipeline bubble", "MFU"]) await shows(page.getByTestId("compare"), row);

// A fabric that is described by places: pods, of which one opens into racks in all tiers, and says where.
await open(`#/run/${placed}/fabric`);
const drawing = page.getByRole("img", { name: "the fabric" });
await drawing.waitFor();
/** What is said of the box at some place of the drawing, from 0 to 1 both ways. */
const boxAt = async (x, y) => {
  const { width, height } = await drawing.boundingBox();
  await drawing.hover({ position: { x: x * width, y: y * height } });
  return drawing.getAttribute("title");
};
// The servers of a pod share NVLink: who they are, how many and how fast is said of the box.
const { topology } = await json(`api/runs/${placed}/info`);
assert.deepEqual(
  topology.domains.map((d) => [d.name, d.gpus, d.nodes.length]),
  [
    ["pod 1", 48, 48],
    ["pod 2", 48, 48],
  ],
);
const ofPod = /^pod 1: 48 host; click to open; pod 1: 48 GPUs by NVLink, ([\d.]+) GB\/s each way per GPU$/;
let each;
await eventually(async () => (each = ofPod.exec(await boxAt(0.25, 0.93))?.[1]), "pod 1 of servers");
assert.ok(Math.abs(each / (topology.domains[0].rate_bps / 8e9) - 1) < 0.005, each);
assert.equal(await boxAt(0.25, 0.467), "pod 1: 48 rtsw; click to open");
assert.match(await boxAt(0.25, 0.04), /^ctsw-1, spine, n 1$/);
await drawing.click({ position: { x: 0.25 * (await drawing.boundingBox()).width, y: 515 } });
await eventually(() => /open=pod(%3D|=)1/.test(page.url()), "pod 1 is open");
await eventually(
  async () => (await boxAt(0.02, 0.93)).startsWith("pod 1, rack 1-2: 2 host"),
  "racks of pod 1",
);
assert.match(await boxAt(0.02, 0.467), /^pod 1, rack 1-2: 2 rtsw/);
await check("places");

// What a failure cuts off: by keyboard from the list, by a click, a place and a switch together.
await open(`#/run/${placed}/fabric`);
await page.getByLabel("show").selectOption("lost");
await page.getByRole("combobox", { name: "what fails" }).selectOption("rtsw-1-3");
const lost = page.getByTestId("lost-says");
await shows(lost, "1 NIC of 96, in 1 server, is cut off: they hang on this alone.");
await shows(lost, "1 GPU has no NIC left; it could still send by a neighbour's over NVLink.");
await eventually(() => /gone=rtsw-1-3/.test(page.url()), "the address carries what failed");
await check("lost");
await page.getByRole("button", { name: "rtsw-1-3 works again" }).press("Enter");
await eventually(async () => (await lost.innerText()).trim() === "", "nothing fails");
await page.getByRole("combobox", { name: "what fails" }).selectOption("ctsw-1");
await shows(lost, "Nobody is cut off");
await shows(lost, "at worst with 50.0 % of what they had");
await drawing.waitFor();
await drawing.click({ position: { x: 0.25 * (await drawing.boundingBox()).width, y: 505 } });
await shows(lost, "48 servers with 48 GPUs and 48 NICs are gone.");
await eventually(() => /gone=ctsw-1%7Cpod%3D1/.test(page.url()), "a switch and a place");
await check("lost-place");
const { topology: rails } = await json(`api/runs/${cascade}/info`);
await open(`#/run/${cascade}/fabric?metric=lost`);
const single = page.getByTestId("points");
await single.waitFor();
const alone = rails.nodes.map((n, i) => [
  n.name,
  n.role === "host"
    ? 0
    : rails.nics.filter((c) => c.links.every((l) => [rails.links[l].a, rails.links[l].b].includes(i))).length,
]);
for (const [name, nics] of alone)
  if (nics > 0 && name.includes("rail"))
    await shows(single, `${name}\t${nics}\t${((100 * nics) / rails.nics.length).toFixed(1)} %`);

// Links that are down or below their rate are drawn, named in a list, and whole before.
const brown = () =>
  page.evaluate(() => {
    const c = document.querySelector("canvas");
    const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
    let n = [0, 0];
    for (let i = 0; i < data.length; i += 4) {
      const [r, g, b] = data.slice(i, i + 3);
      if (r === 0xb3 && g === 0x26 && b === 0x1e) n[0]++; // down
      if (r === 0xc0 && g === 0x78 && b === 0x00) n[1]++; // below its rate
    }
    return n.map((x) => x > 20);
  });
const { summary: slowed, cols: moments } = await json("api/runs/slowed/info");
for (const [at, words, drawn] of [
  [20e6, /None\./, [false, false]],
  [120e6, /rail-1:Eth5 → spine-\d down since 50 µs/, [true, false]],
  [300e6, /rail-1:Eth5 → spine-\d at 50 Gbit\/s of 100 Gbit\/s since 200 µs/, [false, true]],
]) {
  await open(`#/run/slowed/fabric?t=${Math.floor((at / slowed.step_time_ps) * moments)}`);
  const states = page.getByTestId("link-states");
  await states.waitFor();
  await eventually(async () => words.test(await states.innerText()), `links at ${time(at)}: ${words}`);
  await eventually(async () => String(await brown()) === String(drawn), `drawn at ${time(at)}`);
  if (at === 120e6) await check("slowed");
}

// Life of runs that are no described training: a step all the same, and a ring with every rank.
await open("#/run/ringed/life?chapter=5");
await eventually(async () => (await page.locator("g.ranked").count()) === 32, "32 ranks are drawn");
await open("#/run/listed/life?chapter=2");
await shows(page.locator(".captions"), "The step is a list of operations");

// How runs ended: jobs that met, a rank that was lost, a ring of pauses.
for (const [name, id, words, tags] of [
  ["met", "meetings", /spine-1.*experts.*replicas/s, []],
  [
    "cut",
    "outcome",
    /rank lost.*Broken then: switch rail-1.*Cut off: host-1\/gpu-1.*Finished were \d+ of 112/s,
    ["rank lost"],
  ],
  ["locked", "chains", /closed chains of pauses: .*broken by the PFC watchdog.*paused first/s, []],
]) {
  await open(`#/run/${name}/why`);
  await page.getByTestId(id).waitFor();
  assert.match(await text(id), words);
  for (const tag of tags) await page.locator("h1 .tag").filter({ hasText: tag }).waitFor();
  await check(name);
}

// On a telephone nothing makes the page itself scroll sideways, and it stays accessible.
await page.setViewportSize({ width: 400, height: 800 });
for (const [name, hash] of [
  ["runs", ""],
  ["compare", `#/compare?runs=${training},${captured}`],
  ...["fabric", "timeline", "why", "life"].map((v) => [v, `#/run/${training}/${v}`]),
  ["packets", `#/run/${captured}/packets?packet=1`],
  ["lost", `#/run/${placed}/fabric?metric=lost&gone=pod%3D1`],
  ...["met", "cut", "locked"].map((r) => [r, `#/run/${r}/why`]),
]) {
  await open(hash);
  await settled();
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(over <= 0, `${name} is ${over} pixels too wide`);
  await check(`narrow-${name}`);
}
await page.setViewportSize({ width: 1280, height: 900 });

// Start a run: an error at its line, then a change of one value.
await open("#/new");
await page.locator(".cm-content").waitFor();
await page.locator(".cm-content").click();
await page.keyboard.press("Control+End");
await page.keyboard.type("\nlb: sprai\n");
await page.getByRole("alert").filter({ hasText: 'did you mean "spray"' }).waitFor();
await page.locator(".cm-lint-marker-error").first().waitFor();
await check("editor");
await open(`#/new?from=${captured}`);
await page.locator(".cm-content").waitFor();
await page.getByLabel("changes").fill("seed=3");
await page.getByRole("button", { name: "run", exact: true }).press("Enter");
await page.getByRole("link", { name: "look at it" }).first().waitFor();

// A run that cannot be read, dark, and the report from disk.
await open(`#/run/${broken}/fabric`);
await page.getByTestId("broken").waitFor();
problems.splice(0); // the browser logs the refused request
await page.getByLabel("theme").selectOption("dark");
await open(`#/run/${training}/why`);
await page.getByTestId("sums").waitFor();
await check("dark");
for (const [name, hash] of [
  ["dark-lost", `#/run/${placed}/fabric?metric=lost&gone=pod%3D1`],
  ["dark-packets", `#/run/mrc/packets?packet=1`],
  ["dark-runs", ""],
]) {
  await open(hash);
  await check(name);
}
await page.getByLabel("theme").selectOption("");
await page.goto("file://" + report);
await page.getByTestId("figures").waitFor();
for (const tab of ["Time line", "Why", "Packets", "Life of a job", "Fabric"])
  await page.getByRole("link", { name: tab, exact: true }).press("Enter");
await check("disk");
await browser.close();
console.log(`${seen} pages looked at`);
