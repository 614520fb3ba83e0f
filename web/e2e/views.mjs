// Opens every view in Chromium and compares what it shows with the API's figures.
// node views.mjs BASE RUN-WITH-CASCADE RUN-WITH-CAPTURE TRAINING-RUN REPORT.html BROKEN LOSSY PLACED WIDE [SHOTS]
import assert from "node:assert/strict";
import { begin, digits, percent, plain, time } from "./page.mjs";

const [base, cascade, captured, training, report, broken, lossy, placed, wide, shots] = process.argv.slice(2);
const { page, browser, problems, json, open, text, eventually, settled, slider, shows, check, pages } = await begin(base, shots);
// costs is what a cause costs in an account: its own time and that of CC recovering after it.
const costs = (of, key) =>
  key === "rate_not_given_back_ps"
    ? Object.entries(of).reduce((n, [k, ps]) => (k.endsWith("_reaction_ps") ? n - ps : n), of[key] ?? 0)
    : (of[key] ?? 0) + (of[key.replace(/_ps$/, "_reaction_ps")] ?? 0);

// The list, by keyboard: filter, sort, open.
await open("");
await page.getByTestId("runs").waitFor();
const listed = (await json("api/runs")).length;
await eventually(
  async () => (await page.getByTestId("runs").locator("[data-run]").count()) === listed,
  "every run is listed",
);
assert.match(
  await page.getByTestId("runs").innerText(),
  /cannot be read|not a run directory/,
  "a broken run says why",
);
await check("runs");
await page.getByLabel("filter", { exact: true }).focus();
await page.keyboard.type(training);
await page.waitForFunction(() => document.querySelectorAll("[data-testid=runs] [data-run]").length === 1);
await eventually(() => /filter=/.test(page.url()), "the address carries the filter");
await page.getByRole("link", { name: training, exact: true }).focus();
await page.keyboard.press("Enter");
await page.getByTestId("figures").waitFor();

// Figures equal the summary.
for (const run of [training, cascade, captured]) {
  const { summary } = await json(`api/runs/${run}/info`);
  await open(`#/run/${run}`);
  await page.getByTestId("figures").waitFor();
  await page.getByText("Counters and settings").press("Enter");
  const { signals } = await json(`api/runs/${run}/answer`);
  for (const [n, what] of [
    [summary.ecn_marks, "ECN mark"],
    [summary.pfc_pauses, "PFC pause"],
  ])
    if (n > 0) assert.ok(signals.includes(`${n.toLocaleString("en-US")} ${what}`), `${run}: ${signals}`);
  for (const [id, figure] of [
    ["step-time", time(summary.step_time_ps)],
    ["signals", signals],
  ])
    await eventually(async () => (await text(id)) === figure, `${run}: ${id} is ${figure}`);
}
await open(`#/run/${training}/fabric`);
await slider().waitFor();
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
await open(`#/run/${cascade}/fabric?metric=pause&at=0`);
await slider().focus();
for (let i = 1; i <= steps; i++) {
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((n) => document.querySelector(".scrub").value === String(n), i);
}
/** The time of a column is in the address. */
const timeIs = (t) => {
  const at = String(Math.ceil((t / cols) * summary.step_time_ps));
  return page.waitForFunction((at) => new URLSearchParams(location.hash.split("?")[1]).get("at") === at, at);
};
await timeIs(steps);
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
await timeIs(cols - 1);
await page.reload();
await slider().waitFor();
await eventually(async () => (await slider().inputValue()) === String(cols - 1), "a reload stays at the end");
await page.goBack(); // to what was before the view, not to a step of it
await eventually(() => page.url() === "about:blank", "back leads out of the view");
assert.deepEqual(problems.splice(0), [], "playback");

// A grid of fewer columns, as runs of more than 4,166 ports have: what is full in the
// middle column is drawn hot there and calm beside it.
await page.route(/\/(info|grid)(\?|$)/, async (route) => {
  const answer = await route.fetch();
  const body = await answer.json();
  body.cols = 7;
  if (body.data !== undefined) {
    const n = 7 * body.ports;
    const bytes = Buffer.alloc(2 * n); // high bytes, low bytes
    for (let p = 0; p < body.ports; p++) bytes[p * 7 + 3] = bytes[n + p * 7 + 3] = 255;
    body.rows = Array.from({ length: body.ports }, (_, p) => p);
    body.data = bytes.toString("base64");
  }
  await route.fulfill({ json: body });
});
const hotPixels = () =>
  page.evaluate(() => {
    const c = document.querySelector("canvas");
    const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
    let n = 0;
    // The end of the ramp of load, #0d3d6d.
    for (let i = 0; i < data.length; i += 4) if (data[i] < 20 && data[i + 1] > 50 && data[i + 1] < 72 && data[i + 2] > 100) n++;
    return n;
  });
for (const [t, hot] of [
  [2, false],
  [3, true],
  [4, false],
]) {
  const of = (await json(`api/runs/${captured}/info`)).summary.step_time_ps;
  await open(`#/run/${captured}/fabric?metric=util&at=${Math.ceil((t / 7) * of)}`);
  await slider().waitFor();
  assert.equal(await slider().getAttribute("max"), "6");
  await settled();
  assert.equal((await hotPixels()) > 20, hot, `column ${t} of 7`);
}
await page.unroute(/\/(info|grid)(\?|$)/);

// Queues that are listed at a time, also short ones beside a long one, are no longer than their ports' peaks.
for (const run of [cascade, captured, training]) {
  const peaks = new Map((await json(`api/runs/${run}/info`)).ports.map((p) => [p.name, p.queue_peak_bytes]));
  await open(`#/run/${run}/fabric?metric=queue`);
  await page.getByTestId("busiest").waitFor();
  for (const row of await page.getByTestId("busiest").locator("tr").all()) {
    const [name, shown] = await row.locator("td").allInnerTexts();
    const [, v, unit] = /^([\d.]+)\s(B|KB|MB|GB)$/.exec(shown.trim()) ?? assert.fail(`${run}: ${name} ${shown}`);
    assert.ok(v * 1000 ** ["B", "KB", "MB", "GB"].indexOf(unit) <= 1.005 * peaks.get(name), `${run}: ${name} has ${shown}, its peak is ${peaks.get(name)} B`);
  }
  // In a window the list, the drawing and the lane below have columns of the window: one time, one longest queue.
  const s = (await json(`api/runs/${run}/info`)).summary;
  const [from, to] = [0.3, 0.35].map((x) => Math.round(x * s.step_time_ps));
  const { queue_bytes: queue } = await json(`api/runs/${run}/lanes?from=${from}&to=${to}`);
  if (!queue?.some((v) => v > 0)) continue;
  await open(`#/run/${run}/fabric?metric=queue&from=${from}&to=${to}`);
  const lane = page.locator("[data-lane='Queue, longest'] text").nth(1);
  await eventually(async () => {
    const bytes = (text) => {
      const [, v, unit] = /([\d.]+)\s(B|KB|MB|GB)/.exec(plain(text)) ?? [0, NaN, "B"];
      return v * 1000 ** ["B", "KB", "MB", "GB"].indexOf(unit);
    };
    const list = bytes(await page.getByTestId("busiest").locator("tr").first().locator("td").nth(1).innerText());
    const below = bytes(await lane.textContent());
    return Math.abs(list - below) <= 0.01 * below;
  }, `${run}: the list and the lane have one longest queue`);
}

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
await open(`#/run/${training}/time`);
await page.locator(".tracks").focus();
await page.keyboard.press("+");
await page.waitForURL(/from=.*to=/);
await check("time");
// The view opens on the window that lost time, where it is a part of the step; the title has the answer's figures.
for (const run of [training, wide, cascade]) {
  const a = await json(`api/runs/${run}/answer`);
  const [all, whole] = [await json(`api/runs/${run}/critical`), (await json(`api/runs/${run}/info`)).summary.step_time_ps];
  await open(`#/run/${run}/time`);
  await page.locator(".tracks canvas").waitFor();
  const title = page.locator(".timeline h1");
  if (a.rows?.[0]) await shows(title, time(a.rows[0].time_ps));
  if (a.losing_ps) {
    assert.ok(a.losing_ps[0] >= 0 && a.losing_ps[1] <= whole);
    await page.getByRole("button", { name: "Whole step" }).press("Enter");
    await page.waitForURL(new RegExp(`from=0&to=${whole}`));
  }
  all.path.forEach((p, i) => {
    const sum = all.shares[i]?.reduce((n, v) => n + v, 0) ?? 0;
    assert.ok(sum === 0 ? true : Math.abs(sum - 1) < 0.02, `${run}: causes of piece ${i} sum to ${sum}`);
    if (p.peer < 0) assert.equal(sum, 0, `${run}: piece ${i} computes`);
  });
}
await open(`#/run/${training}/time`);
await page.locator(".tracks canvas").waitFor();
// A rank is found by its name, also as messages name it.
await page.getByLabel("find a rank").fill("host-2/gpu-1");
await page.keyboard.press("Enter");
const second = (await json(`api/runs/${training}/info`)).topology.gpus_per_host;
await page.waitForURL(new RegExp(`rank=${second}(&|$)`));
// Hosts of a page of many ranks are folded but one; a button opens all, and the drawing grows by their ranks.
await open(`#/run/${wide}/time`);
const drawing0 = page.locator(".tracks > canvas");
await page.getByRole("button", { name: "Open hosts" }).waitFor();
const short = (await drawing0.boundingBox()).height;
await page.getByRole("button", { name: "Open hosts" }).press("Enter");
await eventually(async () => (await drawing0.boundingBox()).height >= short + 7 * 8 * 18, "seven hosts of eight ranks open");
await check("time-hosts");
// Lanes of the fabric on the same axis: their peaks are the API's, and rates are drawn for the queue pairs chosen.
await open(`#/run/${cascade}/time`);
await page.getByTestId("lanes").locator("[data-lane]").first().waitFor();
const lanes = await json(`api/runs/${cascade}/lanes`);
for (const [name, values] of [
  ["Queue, longest", lanes.queue_bytes],
  ["ECN marks", lanes.ecn_marks],
  ["Ports paused", lanes.paused],
]) {
  const lane = page.getByTestId("lanes").locator(`[data-lane="${name}"]`);
  const most = Math.max(...values);
  assert.equal(await lane.count(), most > 0 ? 1 : 0, name);
  if (most > 0) assert.equal(Number(await lane.getAttribute("data-max")), most, name);
}
// Flags stand at the samples with the first mark and pause, and the longest queue: within the columns that have them.
const flagged = await page.getByTestId("flags").locator("[data-at]").evaluateAll((all) => all.map((e) => Number(e.dataset.at)));
for (const [at, v] of [
  [lanes.first_mark_ps, lanes.ecn_marks],
  [lanes.first_pause_ps, lanes.paused],
  [lanes.longest_at_ps, lanes.queue_bytes.map((q) => q === Math.max(...lanes.queue_bytes))],
]) {
  const c = v.findIndex((x) => x > 0);
  if (c < 0) continue;
  assert.ok(flagged.includes(at), `${flagged} has ${at}`);
  assert.ok(v[Math.floor(at / lanes.width_ps)] > 0, `column of ${at}`);
}
// A run that records no rates offers none.
for (const run of [cascade, captured, wide, training]) {
  await open(`#/run/${run}/time`);
  await page.getByTestId("lanes").locator("[data-lane]").first().waitFor();
  const { qps } = await json(`api/runs/${run}/lanes`);
  const signals = await Promise.all(qps.slice(0, 3).map(async (q) => (await json(`api/runs/${run}/qp?id=${q.qp}`)).sent.at_ps.length));
  const select = page.getByLabel("show the rate of a queue pair");
  if (!signals.some((n) => n > 0)) {
    await eventually(async () => (await select.count()) === (qps.length > 0 ? 0 : await select.count()), `${run}: no rates`);
    continue;
  }
  if (qps.length < 4) continue;
  await select.selectOption({ index: 1 });
  await page.waitForURL(/qps=/);
}
await check("lanes");
if ((await json(`api/runs/${training}/info`)).summary.cnps > 0) {
  await open(`#/run/${training}/time`);
  await page.getByTestId("lanes").locator("[data-lane=rates] [data-qp]").first().waitFor();
}

// Answer: every figure is the summary's; parts, causes and pictures add up (TestAnswer checks the tables).
async function answered(run) {
  const { summary: s, ports } = await json(`api/runs/${run}/info`);
  const a = await json(`api/runs/${run}/answer`);
  await open(`#/run/${run}`);
  await page.getByTestId("verdict").waitFor();
  const sums = await page
    .locator(`${a.gain ? "details " : ""}[data-testid=step-bar] rect[data-cause]`) // of a run at its bound the path is below
    .evaluateAll((all) => all.map((r) => [r.dataset.part, r.dataset.cause, Number(r.dataset.ps)]));
  for (const part of a.parts)
    assert.equal(sums.filter(([p]) => p === part.key).reduce((n, [, , ps]) => n + ps, 0), part.time_ps, part.key);
  for (const x of [...a.losses, ...(a.minor ?? [])])
    assert.equal(sums.filter(([, c]) => c === x.key).reduce((n, [, , t]) => n + t, 0), x.own_ps + x.reaction_ps, `${run}: ${x.key}`);
  const [first] = a.losses;
  if (a.main && !a.main.startsWith(first?.name ?? "–")) await shows(page.getByTestId("verdict"), a.main.slice(1));
  else if (a.gain) await shows(page.getByTestId("verdict"), `at most ${time(a.left_ps)}`);
  else if (first) {
    const own = first.own_ps + first.reaction_ps;
    await shows(page.getByTestId("verdict"), `${time(own)} (${percent(own / s.step_time_ps)}`);
  }
  await shows(page.getByTestId("figures"), time(s.step_time_ps));
  // Row by row what the terminal prints of the time above line rate (TestAnswerIsTheTerminal holds the answer to it).
  const rows = (a.rows ?? []).map((x) =>
    [
      x.name,
      time(x.time_ps),
      percent(x.time_ps / s.step_time_ps),
      x.saves,
    ].join("\t"),
  );
  if (rows.length > 0) {
    await shows(page.getByTestId("losses"), `critical path: ${time(a.lost_ps)}`);
    const found = await page.getByTestId("losses").locator("tr").allInnerTexts();
    assert.deepEqual(found.map((r) => plain(r).trim().replace(/\n/g, "\t")), rows.map((r) => r.trim()), `${run}: rows of the losses`);
  }
  if (a.fidelity) {
    await shows(page.getByTestId("figures"), a.fidelity);
    await shows(page.getByTestId("method"), a.method.slice(1));
  } else assert.equal(await page.getByTestId("fidelity").count(), 0, `${run}: packets have no expected error`);
  await shows(page.getByTestId("seen"), `Parts sum to ${time(s.step_time_ps)}`);
  for (const [part, key] of [["compute", "compute"], ["tp", "exposed_tp"], ["pp", "exposed_pp"], ["dp", "exposed_dp"], ["bubble", "bubble"]])
    if (s.mfu && s[`${key}_ps`]) assert.equal(a.parts.find((p) => p.key === part)?.time_ps, s[`${key}_ps`], `${run}: ${part} as the terminal has it`);
    else if (s[`${key}_ps`] && s.compute_ps) await shows(page.getByTestId("seen"), time(s[`${key}_ps`]));
  const cards = await page.locator("[data-saves]").evaluateAll((all) => all.map((c) => Number(c.dataset.saves)));
  const saves = (r) => (r.tried ? r.saved_ps : r.expected_ps);
  const expected = a.remedies.map(saves);
  for (const ps of cards) assert.ok(expected.includes(ps), `${run}: ${ps} is what a remedy saves, or the most`);
  for (const card of await page.locator("article.card", { hasText: "not run" }).allInnerTexts())
    assert.ok(!/simulated|−\d/.test(card), `${run}: a variant that was not run has no figure: ${card}`);
  assert.equal(cards.length > 0, expected.some((ps) => ps >= 0.01 * s.step_time_ps), `${run}: remedies of 1 % have cards`);
  for (const ps of cards) assert.ok(ps >= 0.01 * s.step_time_ps, `${run}: a card saves ${ps}`);
  const large = a.remedies.filter((r) => saves(r) >= 0.01 * s.step_time_ps);
  const tried = large.filter((r) => r.tried);
  const sets = (tried.length > 0 ? tried : large.filter((r) => r.set)).map(saves);
  if (sets.length > 0) await shows(page.getByTestId("lede"), `${time(Math.max(...sets))} (${percent(Math.max(...sets) / s.step_time_ps)})`);
  const moments = page.getByTestId("moments");
  assert.equal(a.port.peak_bytes, ports[a.port.port].queue_peak_bytes);
  if (a.place && ports[a.place.port].role !== "host") assert.equal(a.port.port, a.place.port, `${run}: one port`);
  const apart = a.ends && a.ends.last_ps - a.ends.first_ps >= 0.005 * s.step_time_ps; // but for chance ranks end at one time
  if (apart) await shows(moments, a.ends.name);
  // Each cause of the bar answers the pointer and the keyboard.
  const segment = page.locator("[data-testid=step-bar] rect[data-cause=latency]").first();
  if ((await segment.count()) > 0 && !a.gain) {
    await segment.focus();
    await shows(page.getByTestId("told"), "latency");
  }
  if (a.pause) await shows(moments, time(a.pause.pause_ps));
}
for (const run of [training, cascade, captured, wide]) await answered(run);
for (const width of [1440, 1024, 390])
  for (const scheme of ["light", "dark"]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await open(`#/run/${wide}`);
    await page.getByTestId("sums").waitFor();
    const { scroll, header } = await page.evaluate(() => ({
      scroll: document.documentElement.scrollWidth - innerWidth,
      header: document.querySelector(".top").getBoundingClientRect().height,
    }));
    assert.ok(scroll <= 0, `answer is ${scroll} pixels too wide at ${width}`);
    if (width > 760) assert.equal(header, 56);
    await check(`answer-${width}-${scheme}`);
  }
await page.emulateMedia({ colorScheme: "light" });
await page.setViewportSize({ width: 1280, height: 900 });
// A picture leads to its time.
await open(`#/run/${cascade}`);
await page.getByTestId("moments").getByRole("link", { name: /Longest PFC pause/ }).press("Enter");
await page.getByTestId("pause-tree").waitFor();

// Collectives: their causes add up, the link leads to the time.
await open(`#/run/${training}`);
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
await check("answer");
const instances = () => page.getByText("Instances that lost most").press("Enter");
await instances();
await page.getByRole("link", { name: "see it" }).first().press("Enter");
await page.getByTestId("port-panel").waitFor();
// The link leads to when it was worst, not to the begin of a transfer: traffic begins at 0.
await open(`#/run/${cascade}`);
await page.getByTestId("sums").waitFor();
await instances();
const [shown] = (await json(`api/runs/${cascade}/collectives`)).worst;
assert.ok(shown.start_ps === 0 && shown.at_ps > 0, "the moment lies behind the begin");
await page.getByRole("link", { name: "see it" }).first().press("Enter");
await page.getByTestId("port-panel").waitFor();
await eventually(
  async () => (await slider().inputValue()) === String(Math.floor((shown.at_ps / summary.step_time_ps) * cols)),
  "the scrubber is at that moment",
);
// The busiest moment plays from there, and not from the beginning.
await open(`#/run/${cascade}/fabric?metric=queue&at=${Math.ceil(summary.step_time_ps / cols)}`);
const away = await slider().inputValue();
await page.getByRole("button", { name: "busiest moment" }).press("Enter");
await eventually(async () => (await slider().inputValue()) !== away, "the busiest moment is shown");
const busy = Number(await slider().inputValue());
await page.getByLabel("speed").selectOption("4");
await page.getByRole("button", { name: "play", exact: true }).press("Enter");
await eventually(async () => Number(await slider().inputValue()) !== busy, "it plays");
assert.ok(Number(await slider().inputValue()) > busy, "it plays from the busiest moment");
await page.getByRole("button", { name: "pause", exact: true }).press("Enter");

// Packets: a packet that was followed first, else the slowest message, its path; the capture filtered, a mark jumped to,
// headers as a tree, the bytes of a field lit.
await open(`#/run/${captured}/packet`);
const messages = await json(`api/runs/${captured}/messages`);
const [one] = (await json(`api/runs/${captured}/followed`)).packets;
const its = messages.messages.find((m) => m.qp === one.qp && one.psn - one.first_psn >= m.first_packet && one.psn - one.first_psn < m.first_packet + m.packets);
const ideal = (m) => digits((m.done_ps - m.posted_ps) / m.ideal_ps);
await shows(page.getByTestId("packet-finding"), `Packet ${one.psn}, ${one.from} → ${one.to}`);
await shows(page.getByTestId("packet-finding"), `${its.from} → ${its.to}`);
await shows(page.getByTestId("packet-finding"), `${ideal(its)} × its ideal time`);
await shows(page.getByTestId("path"), `Queue pair ${its.qp}:`);
await open(`#/run/${training}/packet`);
const slowMost = (await json(`api/runs/${training}/messages`)).messages[0];
await shows(page.getByTestId("packet-finding"), `${slowMost.from} → ${slowMost.to}`);
// The bar from ideal to actual has the causes of the slowest message; they sum to its time. A message that is the whole
// critical path has the causes of the answer.
for (const run of [captured, wide, cascade]) {
  const { summary } = await json(`api/runs/${run}/info`);
  const [m] = (await json(`api/runs/${run}/messages`)).messages;
  const slow = summary.slowest_flow;
  if (slow.from !== m.from || slow.to !== m.to || slow.time_ps !== m.done_ps - m.posted_ps) continue;
  await open(`#/run/${run}/packet?message=${m.message}`);
  await page.getByTestId("bridge").waitFor();
  const path = m.posted_ps === 0 && m.done_ps === summary.step_time_ps && !slow.behind_ps && !summary.chain.compute_ps;
  const split = path ? summary.chain : slow.causes;
  const parts = await page.getByTestId("bridge").locator("rect[data-ps]").evaluateAll((all) => all.map((r) => [`${r.dataset.cause}_ps`, Number(r.dataset.ps)]));
  assert.equal(parts.reduce((n, [, ps]) => n + ps, 0), slow.time_ps, `${run}: the bar sums to the message's time`);
  for (const [key, ps] of parts) if (split[key] && key !== "line_rate_ps") assert.ok(ps <= costs(split, key), `${run}: ${key}`);
  const above = m.parts.filter((p) => p.above).reduce((n, p) => n + p.time_ps, 0);
  assert.equal(above, slow.time_ps - Math.min(m.ideal_ps, slow.time_ps), `${run}: what is above the ideal`);
  // Others that lost most have an account of their own.
  const other = (await json(`api/runs/${run}/messages`)).messages.find((x) => x.message !== m.message && x.causes && Object.keys(x.causes).length > 2);
  if (!other) continue;
  await open(`#/run/${run}/packet?message=${other.message}`);
  await page.getByTestId("bridge").waitFor();
  const its = await page.getByTestId("bridge").locator("rect[data-ps]").evaluateAll((all) => all.map((r) => [`${r.dataset.cause}_ps`, Number(r.dataset.ps)]));
  assert.equal(its.reduce((n, [, ps]) => n + ps, 0), other.done_ps - other.posted_ps, `${run}: the bar sums to message ${other.message}`);
  for (const [key, ps] of its) assert.equal(ps, other.parts.find((p) => `${p.key}_ps` === key).time_ps, `${run}: ${key} of message ${other.message}`);
}
await open(`#/run/${captured}/packet`);
const box = page.getByRole("listbox", { name: "packets" });
await box.focus();
await page.keyboard.press("ArrowDown");
await page.getByTestId("layers").waitFor();
await page.getByRole("button", { name: "PSN", exact: true }).press("Enter");
await eventually(async () => (await page.locator(".hex .lit").count()) === 3, "a PSN has three bytes");
await check("packets");
const all = (await json(`api/runs/${captured}/packets`)).packets;
const marked = all.find((p) => p.ce);
await page.getByRole("button", { name: "mark", exact: true }).press("Enter");
await eventually(() => new RegExp(`packet=${marked.number}(&|$)`).test(page.url()), "the next mark is chosen");
await page.getByLabel("filter packets").fill("middle mark");
const fits = all.filter((p) => p.ce && /Middle/.test(p.kind)).length;
await eventually(async () => (await box.getByRole("option").count()) === Math.min(fits, 27), "the filter holds");
assert.match(await page.getByRole("link", { name: "pcapng" }).getAttribute("href"), /capture\.pcapng$/);
// A packet that was followed: what it found and waited at each hop, and a way to the port.
await open(`#/run/${captured}/packet?qp=${one.qp}`);
const ladder = page.getByTestId("followed");
await shows(ladder, `packet 1/+30 of queue pair 1`);
const [way] = one.copies;
assert.ok(way.hops.length === 2 && way.hops[1].found_bytes > 0, "it waited for the other sender's");
await shows(ladder, `PSN ${one.psn}: ${way.kind}`);
await shows(ladder, `arrived at ${way.ended_at} after ${time(way.end_ps - way.hops[0].left_ps)}`);
await shows(ladder, `waits ${time(way.hops[1].left_ps - way.hops[1].ready_ps)}`);
await ladder.getByRole("link", { name: way.hops[1].name }).first().press("Enter");
await page.getByTestId("port-panel").waitFor();
// One that was not: the button runs the window again, and opens what it followed.
await open(`#/run/${training}/packet`);
await page.getByTestId("no-capture").waitFor();
const [slow] = (await json(`api/runs/${training}/messages`)).messages;
await page.getByRole("button", { name: "first, middle and last" }).press("Enter");
await page.getByTestId("followed").waitFor();
assert.ok(!page.url().includes(`/${training}/`), "the new run is opened");
await shows(page.getByTestId("followed"), `packet ${slow.qp}/+${slow.first_packet} of queue pair ${slow.qp}`);
await page.getByTestId("capture").waitFor();
await check("packets-followed");
// Or the one that waits longest: the run finds it.
await open(`#/run/${training}/packet`);
await page.getByRole("button", { name: "Follow the longest wait" }).press("Enter");
await page.getByTestId("followed").waitFor();
await shows(page.getByTestId("packet-finding"), `Packet `);
await shows(page.getByTestId("followed"), `${slow.qp}/longest-wait:${slow.first_packet}-${slow.first_packet + slow.packets - 1}`);

// A switch is drawn also where no packet waited in it: the peer of the port before it.
const names = async (run, qp) => {
  const { ports } = await json(`api/runs/${run}/info`);
  const path = ((await json(`api/runs/${run}/qp?id=${qp}`)).path ?? []).map((p) => ports[p.port]);
  const peers = path.map((p) => p.peer).filter((n) => !/^host-/.test(n));
  return peers.filter((n) => !path.some((p) => p.node === n));
};
let still;
for (const run of [wide, placed])
  for (const m of (await json(`api/runs/${run}/messages`)).messages.slice(0, 40))
    if (!still && (await names(run, m.qp)).length > 0) still = { run, qp: m.qp, message: m.message };
assert.ok(still, "in one switch no packet waited");
await open(`#/run/${still.run}/packet?qp=${still.qp}&message=${still.message}`);
await page.getByTestId("passage").locator("[data-lane]").first().waitFor();
const drawnPath = await page.getByTestId("passage").locator("svg").getAttribute("aria-label");
for (const name of await names(still.run, still.qp)) assert.ok(drawnPath.includes(name), `${name} is on the path: ${drawnPath}`);

// Other transports: named with what they mean; MRC's packets by its own headers, SRD's by what the simulator
// says of them.
for (const [run, name, means] of [
  [captured, "RoCEv2.", /one path and arrive in order.*pause their neighbours/],
  ["mrc", "MRC.", /another path.*never pause/],
  ["srd", "SRD.", /arrive in any order.*never pause/],
]) {
  await open(`#/run/${run}`);
  await page.getByText("Counters and settings").press("Enter");
  await shows(page.getByTestId("about"), name);
  assert.match(await text("about"), means, run);
  await open(`#/run/${run}/packet`);
  await page.getByRole("listbox", { name: "packets" }).focus();
  await page.keyboard.press("ArrowDown");
  const layers = page.getByTestId("layers");
  await layers.waitFor();
  for (let shut; (shut = layers.locator("details:not([open]) > summary")), (await shut.count()) > 0; )
    await shut.first().press("Enter");
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

// The journey of a packet and its marks are told of one port.
const told = [];
for (const chapter of [7, 8]) {
  await open(`#/run/${cascade}/life?chapter=${chapter}`);
  const passage = page.getByTestId("passage");
  await passage.locator("[data-lane=queue]").waitFor();
  told.push(/queued at (\S+?)[,.]( |$)/.exec(plain(await passage.locator("svg").getAttribute("aria-label")))?.[1]);
}
assert.ok(told[0] && told[0] === told[1], `${told} are one port`);

// Sequences: what the run has is drawn with as many steps as the scrubber says, what it lacks is said.
for (const [run, name] of [
  [cascade, "pause"],
  [cascade, "rank"],
  [training, "rank"],
]) {
  await open(`#/run/${run}/life?sequence=${name}`);
  const { sequence } = await json(`api/runs/${run}/sequence?name=${name}`);
  assert.ok(sequence.steps.length > 1, `${run} has the sequence ${name}`);
  const drawn = page.locator("svg.sequence g[class^='k-']");
  await eventually(async () => (await drawn.count()) === sequence.steps.length, `all steps of ${name} are drawn`);
  const scrubber = page.getByLabel("scene and step");
  await page.locator(`.scrubber[data-steps="${sequence.steps.length}"]`).waitFor();
  await scrubber.fill(String(Math.round((999 * 2) / sequence.steps.length)));
  await eventually(async () => (await drawn.count()) === 2, "two steps of two");
  if (name === "pause") await check("sequence");
}
await open(`#/run/${cascade}/life?sequence=ring`);
await shows(page.getByTestId("why"), "no ring all-reduce");

// Packet and Life draw the queue and the rate that the samples of a time have.
{
  const m = (await json(`api/runs/${cascade}/messages`)).messages[0];
  const { path, sent: rates } = await json(`api/runs/${cascade}/qp?id=${m.qp}`);
  const hot = path.reduce((a, b) => (b.wait_ps > a.wait_ps ? b : a));
  const { series } = await json(`api/runs/${cascade}/port?id=${hot.port}`);
  const within = series.filter(([from, length]) => from >= m.posted_ps && from + length < m.done_ps);
  const drawn = page.getByTestId("passage");
  for (const [from, length, , queue] of [within[0], within[within.length >> 1], within[within.length - 1]]) {
    const at = Math.floor(from + length / 2);
    const rate = rates.values[rates.at_ps.findLastIndex((t) => t <= at)] ?? 0;
    await open(`#/run/${cascade}/packet?qp=${m.qp}&message=${m.message}&at=${at}`);
    await eventually(
      async () => (await drawn.getAttribute("data-at")) === `${at}` && (await drawn.getAttribute("data-bytes")) === `${queue}`,
      `queue of ${queue} bytes at ${at}`,
    );
    assert.equal(Number(await drawn.getAttribute("data-value")), rate);
  }
  // A message's reason has the figures of its bar, above its ideal time.
  const { slowest_flow: slow, step_time_ps: step } = (await json(`api/runs/${captured}/info`)).summary;
  if (slow && !slow.behind_ps && slow.time_ps === step) {
    await open(`#/run/${captured}/packet`);
    const above = slow.time_ps - slow.ideal_ps;
    if (above > 0.05 * slow.time_ps) await shows(page.getByTestId("packet-finding"), `${time(above)} above ideal: `);
  }
  const { sequence } = await json(`api/runs/${captured}/sequence?name=packet`);
  await open(`#/run/${captured}/life?chapter=7`);
  await page.locator(`.scrubber[data-steps="${sequence.steps.length}"]`).waitFor();
  await page.getByLabel("scene and step").fill(String(6000 + Math.round(999 / sequence.steps.length)));
  await eventually(async () => (await drawn.getAttribute("data-at")) === `${sequence.steps[0].at_ps}`, "the scene stands at the step");
}

// The scenes of a followed packet have its own numbers: QPNs, PSN, rkey, and what both ends know after a step.
{
  const [p] = (await json(`api/runs/${captured}/followed`)).packets;
  const hex = (n, digits) => `0x${n.toString(16).padStart(digits, "0")}`;
  await open(`#/run/${captured}/life?chapter=3`);
  for (const words of [hex(p.requester_qpn, 6), hex(p.rkey, 8), `PSN ${p.first_psn}`]) await shows(page.getByTestId("pair"), words);
  await open(`#/run/${captured}/life?chapter=4`);
  for (const words of [`PSN ${p.psn}`, hex(p.responder_qpn, 6), "source port"]) await shows(page.getByTestId("stack"), words);
  await check("life-stack");
  await open(`#/run/${captured}/life?chapter=6&step=4`);
  const cells = async () => (await page.getByTestId("known").locator("tbody tr").allInnerTexts()).map((t) => plain(t).split("\t").slice(1).join(" "));
  await page.getByTestId("known").waitFor();
  assert.deepEqual((await cells()).slice(0, 5), ["INIT INIT", `${hex(p.requester_qpn, 6)} ${hex(p.requester_qpn, 6)}`, `${p.first_psn} ${p.first_psn}`, `– ${hex(p.responder_qpn, 6)}`, `– ${hex(p.rkey, 8)}`]);
  // One scrubber leads from scene to scene.
  await page.getByLabel("scene and step").fill("9500");
  await page.getByRole("heading", { level: 2, name: /^10\. / }).waitFor();
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
    const said = plain(await page.locator(".captions").innerText());
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

// Compare: bars by cause are the accounts, the waterfall leads from A to B, what is another work is said.
async function compared(a, b) {
  const [x, y] = await Promise.all([a, b].map(async (r) => (await json(`api/runs/${r}/info`)).summary));
  for (const [run, s] of [
    [a, x],
    [b, y],
  ]) {
    const drawn = await page
      .locator(`[data-run="${run}"] rect[data-cause]`)
      .evaluateAll((all) => all.map((r) => [r.dataset.cause, Number(r.dataset.ps)]));
    assert.equal(drawn.reduce((n, [, ps]) => n + ps, 0), s.step_time_ps, `${run}: the bar is the step`);
    for (const [cause, ps] of drawn) assert.equal(ps, costs(s.chain, cause + "_ps"), `${run}: ${cause}`);
  }
  const fall = await page
    .locator("[data-testid=waterfall] g[data-cause]")
    .evaluateAll((all) => all.map((g) => Number(g.dataset.ps)));
  const off = fall.reduce((n, ps) => n + ps, 0) - (y.step_time_ps - x.step_time_ps);
  assert.ok(Math.abs(off) <= 1e-4 * x.step_time_ps, `the waterfall is off by ${off}`);
}
await open(`#/compare?runs=${cascade},${captured}`);
await page.getByTestId("compare").waitFor();
await shows(page.getByTestId("compare"), time(summary.step_time_ps));
await shows(page.getByTestId("unlike"), "the bytes sent");
await compared(cascade, captured);
await check("compare");
await open(`#/compare?runs=${training},${captured}`);
await page.getByTestId("compare").waitFor();
for (const row of ["pipeline bubble", "MFU"]) await shows(page.getByTestId("compare"), row);

// A remedy that is run leads to the comparison, and then has its run's saving.
await open(`#/run/${wide}`);
await page.getByRole("button", { name: "Run this variant" }).first().press("Enter");
await page.waitForURL(/#\/compare\?runs=[^,&]*(,|%2C)/);
await page.getByTestId("waterfall").waitFor();
const variant = decodeURIComponent(/runs=([^&]*)/.exec(page.url())[1]).split(",")[1];
await compared(wide, variant);
const took = (await json(`api/runs/${variant}/info`)).summary.step_time_ps;
const base64 = (await json(`api/runs/${wide}/info`)).summary.step_time_ps;
await shows(page.getByTestId("verdict"), time(Math.abs(took - base64)));
assert.equal(await page.getByTestId("unlike").count(), 0);
await check("variant");
await open(`#/run/${wide}`);
await page.getByRole("link", { name: "Compare", exact: true }).or(page.getByText("No gain")).nth(1).waitFor();

// A fabric that is described by places: pods, of which one opens into racks in all tiers, and says where.
// Beyond 64 switches tiers come first; a drag chooses a window for all views, a click a time.
await open(`#/run/${placed}/fabric`);
const tiers = page.getByTestId("tiers");
await tiers.waitFor();
const queued = await json(`api/runs/${placed}/tiers`);
const most = [...queued.tiers].sort((a, b) => b.held_share - a.held_share)[0];
if (most.held_share > 0) await shows(page.getByTestId("verdict"), percent(most.held_share));
{
  const { summary: s, topology } = await json(`api/runs/${placed}/info`);
  const marks = topology.configs.map((c) => c.wred_min_bytes).filter((b) => b > 0);
  const over = marks.length === 0 || s.ecn_marks + s.pfc_pauses + s.drops > 0 || queued.culprits.some((c) => c.queue_peak_bytes >= Math.min(...marks));
  if (!over) await shows(page.getByTestId("culprits"), "No culprit");
  for (const c of over ? queued.culprits.slice(0, 5) : []) await shows(page.getByTestId("culprits"), percent(c.held_share));
}
const matrix = tiers.locator("canvas");
const area = await matrix.boundingBox();
await matrix.click({ position: { x: area.width * 0.6, y: 40 } });
await eventually(async () => / max /.test(await text("column")), "the figures of a time");
await check("tiers");
await page.mouse.move(area.x + area.width * 0.4, area.y + 40);
await page.mouse.down();
await page.mouse.move(area.x + area.width * 0.7, area.y + 40, { steps: 4 });
await page.mouse.up();
await page.waitForURL(/from=\d+&to=\d+/);
await page.getByRole("link", { name: "Time", exact: true }).press("Enter");
await page.waitForURL(/\/time\?from=\d+&to=\d+/);
// Scrubbing changes a line and words: the frames of a second are there.
await open(`#/run/${placed}/fabric`);
await slider().waitFor();
const frames = await page.evaluate(async () => {
  const input = document.querySelector(".scrub");
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  const start = performance.now();
  for (let i = 0; i < 60; i++) {
    set.call(input, String((i / 60) * Number(input.max)));
    input.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise(requestAnimationFrame);
  }
  return 60_000 / (performance.now() - start);
});
console.log(`scrubbing tiers: ${frames.toFixed(0)} frames/s`);
await open(`#/run/${placed}/fabric?view=topology`);
const drawing = page.getByRole("img", { name: "the fabric" });
await drawing.waitFor();
/** What is said of the box at some place of the drawing, from 0 to 1 both ways. */
const boxAt = async (x, y) => {
  const { width, height } = await drawing.boundingBox();
  await drawing.hover({ position: { x: x * width, y: y * height } });
  return plain((await drawing.getAttribute("title")) ?? "");
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
await eventually(async () => (each = ofPod.exec(await boxAt(0.25, 0.86))?.[1]), "pod 1 of servers");
assert.ok(Math.abs(each / (topology.domains[0].rate_bps / 8e9) - 1) < 0.005, each);
assert.equal(await boxAt(0.25, 0.44), "pod 1: 48 rtsw; click to open");
assert.match(await boxAt(0.25, 0.07), /^ctsw-1, spine, n 1$/);
await drawing.click({ position: { x: 0.25 * (await drawing.boundingBox()).width, y: 0.86 * (await drawing.boundingBox()).height } });
await eventually(() => /open=pod(%3D|=)1/.test(page.url()), "pod 1 is open");
await eventually(
  async () => (await boxAt(0.02, 0.86)).startsWith("pod 1, rack 1-2: 2 host"),
  "racks of pod 1",
);
assert.match(await boxAt(0.02, 0.44), /^pod 1, rack 1-2: 2 rtsw/);
await check("places");

// What a failure cuts off: by keyboard from the list, by a click, a place and a switch together.
await open(`#/run/${placed}/fabric?view=topology`);
await page.locator(".fabric > .bar select").first().selectOption("lost");
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
await drawing.click({ position: { x: 0.25 * (await drawing.boundingBox()).width, y: 0.86 * (await drawing.boundingBox()).height } });
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
      if (r === 0xb8 && g === 0x41 && b === 0x1c) n[0]++; // down
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
  await open(`#/run/slowed/fabric?at=${Math.floor((Math.floor((at / slowed.step_time_ps) * moments) / moments) * slowed.step_time_ps) + 1}`);
  const states = page.getByTestId("link-states");
  await states.waitFor();
  await eventually(async () => words.test(plain(await states.innerText())), `links at ${time(at)}: ${words}`);
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
  await open(`#/run/${name}`);
  await page.getByTestId(id).waitFor();
  assert.match(await text(id), words);
  for (const tag of tags) await page.locator(".which .tag").filter({ hasText: tag }).waitFor();
  await check(name);
}

// On a telephone nothing makes the page itself scroll sideways, and it stays accessible.
await page.setViewportSize({ width: 400, height: 800 });
for (const [name, hash] of [
  ["runs", ""],
  ["compare", `#/compare?runs=${training},${captured}`],
  ...["answer", "fabric", "time", "life"].map((v) => [v, `#/run/${training}/${v}`]),
  ["packets", `#/run/${captured}/packet?packet=1`],
  ["tiers", `#/run/${placed}/fabric`],
  ["lost", `#/run/${placed}/fabric?metric=lost&gone=pod%3D1`],
  ...["met", "cut", "locked"].map((r) => [r, `#/run/${r}`]),
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
await page.getByTestId("estimate").filter({ hasText: "packet-hops" }).waitFor();
await page.getByLabel("follow packets").check();
await page.getByLabel("capture ports").check();
await page.getByLabel("ports to capture").fill("rail-1:Eth3");
await page.getByRole("button", { name: "Run", exact: true }).press("Enter");
await page.getByRole("link", { name: "look at it" }).first().waitFor(); // perhaps that of a job before
await eventually(async () => (await json("api/jobs")).every((j) => j.state !== "running"), "the simulation ends");
const [newest] = await json("api/runs");
assert.equal((await json(`api/runs/${newest.name}/followed`)).packets[0].asked, "0/longest-wait");
assert.ok((await json(`api/runs/${newest.name}/packets`)).packets.length > 0, "the port is captured");
// Completion in flow style.
await open("#/new");
await page.locator(".cm-content").click();
await page.keyboard.press("Control+End");
await page.keyboard.type("cc: {algorithm: sw");
await page.locator(".cm-tooltip-autocomplete").getByText("swift").waitFor();
// Deleted, and back.
await open("");
const card = page.locator(`[data-run="${newest.name}"]`);
const total = (await json("api/runs")).length;
await card.getByRole("button", { name: "delete" }).press("Enter");
await page.getByTestId("undo").waitFor();
await card.waitFor({ state: "detached" });
assert.equal((await json("api/runs")).length, total - 1);
await check("deleted");
await open(`#/compare?runs=${training},${newest.name}`);
await shows(page.getByTestId("left-out"), `unknown run "${newest.name}"`);
problems.splice(0); // the browser logs the refused request
await open("");
await page.getByRole("button", { name: "Undo" }).press("Enter");
await card.waitFor();
assert.equal((await json("api/runs")).length, total);

// A run that cannot be read, dark, and the report from disk.
await open(`#/run/${broken}/fabric`);
await page.getByTestId("broken").waitFor();
problems.splice(0); // the browser logs the refused request
const theme = page.getByRole("button", { name: "Light or dark theme" });
await theme.press("Enter");
assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
await open(`#/run/${training}`);
await page.getByTestId("sums").waitFor();
await check("dark");
for (const [name, hash] of [
  ["dark-lost", `#/run/${placed}/fabric?metric=lost&gone=pod%3D1`],
  ["dark-packets", `#/run/mrc/packet?packet=1`],
  ["dark-runs", ""],
]) {
  await open(hash);
  await check(name);
}
await theme.press("Enter");
await page.goto("file://" + report);
await page.getByTestId("figures").waitFor();
for (const tab of ["Time", "Answer", "Packet", "Life", "Fabric"])
  await page.getByRole("link", { name: tab, exact: true }).press("Enter");
await check("disk");
// Its Packet has the messages, and Life the slowest.
await page.getByRole("link", { name: "Packet", exact: true }).press("Enter");
await page.getByTestId("bridge").waitFor();
await page.goto("file://" + report + "#/life?chapter=3");
await page.getByTestId("pair").locator("svg").waitFor();
await browser.close();
console.log(`${pages()} pages looked at`);
