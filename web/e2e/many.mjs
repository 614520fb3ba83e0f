// Opens a study and a comparison of many runs in Chromium, and compares the pictures with the API's figures.
// node many.mjs BASE STUDY [SHOTS]
import assert from "node:assert/strict";
import { begin, time } from "./page.mjs";

const [base, study, shots] = process.argv.slice(2);
const { page, browser, json, open, text, eventually, check, pages } = await begin(base, shots);

/** frontOf is the Pareto front of points by two figures that are better when lower, by looking at every pair. */
const frontOf = (m, x, y) => {
  const all = m.base && !m.points.some((p) => p.name === m.base.name) ? [...m.points, m.base] : m.points;
  return all.filter((p) => {
    const worse = (q) => q.figures[x] <= p.figures[x] && q.figures[y] <= p.figures[y];
    const same = (q) => q.figures[x] === p.figures[x] && q.figures[y] === p.figures[y];
    return !all.some((q) => q !== p && worse(q) && !same(q));
  });
};

/** pictures compares heat map, Pareto front, parallel coordinates and table with the API's points. */
async function pictures(m) {
  const [step, queue] = m.by;
  const heat = page.getByTestId("heat");
  const cells = new Map();
  const axisOf = async (name, otherwise) => ((await page.getByLabel(name, { exact: true }).count()) ? Number(await page.getByLabel(name, { exact: true }).inputValue()) : otherwise);
  const x = await axisOf("columns", 0);
  const y = await axisOf("rows", x);
  for (const p of m.points) {
    const at = `${p.at[x]} ${y !== x ? p.at[y] : 0}`;
    if (p.at[x] < 0 || p.at[y] < 0) continue;
    cells.set(at, [...(cells.get(at) ?? []), p.figures[step]]);
  }
  const means = [...cells.values()].map((v) => v.reduce((a, b) => a + b) / v.length).sort((a, b) => a - b);
  const drawn = await heat.locator("[data-value]").evaluateAll((all) => all.map((e) => Number(e.dataset.value)));
  assert.deepEqual(drawn.sort((a, b) => a - b), means, "cells of the heat map");
  const best = frontOf(m, step, queue).map((p) => p.name);
  const marked = await page.getByTestId("pareto").locator("[data-front]").evaluateAll((all) => all.map((e) => e.dataset.point ?? "scenario"));
  assert.ok(marked.length > 0 && marked.every((n) => best.includes(n)), `front: ${marked}, expected of ${best}`);
  assert.equal(new Set(frontOf(m, step, queue).map((p) => `${p.figures[step]} ${p.figures[queue]}`)).size, marked.length);
  // Stars of the table, the picture and its sentence agree, and the axes are two figures.
  const axes = await Promise.all(["horizontal figure", "vertical figure"].map((l) => page.getByLabel(l, { exact: true }).inputValue()));
  assert.notEqual(axes[0], axes[1], "the axes of the Pareto front");
  const equal = m.points.filter((p) => best.some((n) => [step, queue].every((k) => p.figures[k] === (m.points.find((q) => q.name === n) ?? m.base).figures[k])));
  assert.match(await text("pareto"), new RegExp(`Pareto front, ${equal.length.toLocaleString("en-US")} point`));
  const starred = await page.getByTestId("points").locator("tbody th").evaluateAll((all) => all.filter((e) => e.textContent.includes("★")).map((e) => e.querySelector(".hidden")?.textContent.trim() ?? e.querySelector("button")?.textContent.trim() ?? "scenario"));
  for (const name of starred) assert.ok(name === "scenario" || equal.some((p) => p.name === name), `${name} has a star`);
  // What the seeds do not distinguish from the base is not green.
  assert.equal(await page.getByTestId("points").locator("td.good:has(small)").count(), 0, "noise is not a gain");
  const lines = page.getByTestId("parallel").locator("[data-point]");
  assert.equal(await lines.count(), m.points.length, "a line for each point");
  const table = await text("points");
  // Points that differ in one setting, and in no figure, share a row.
  const ranked = [...m.points].sort((a, b) => a.figures[step] - b.figures[step]).reduce((rows, p) => {
    const [q, by] = rows[rows.length - 1] ?? [];
    const differ = q ? m.axes.flatMap((_, k) => (p.at[k] === q.at[k] ? [] : [k])) : [];
    const same = q && m.study && !p.runs?.length && !q.runs?.length && `${m.by.map((k) => p.figures[k])} ${p.low} ${p.high}` === `${m.by.map((k) => q.figures[k])} ${q.low} ${q.high}`;
    if (same && differ.length === 1 && (by === undefined || by === differ[0])) rows[rows.length - 1][1] = differ[0];
    else rows.push([p]);
    return rows;
  }, []).slice(0, 20).map(([p]) => p);
  for (const p of ranked) assert.ok(table.includes(time(p.figures[step])), `${table} has ${time(p.figures[step])}`);
  // Bars and the dots of the seeds lie where the figures put them, all on one scale from zero; those beyond it are cut.
  const bars = await page.getByTestId("points").locator("tbody td.bars div").evaluateAll((all) =>
    all.map((e) => ({
      sum: [...e.querySelectorAll("i")].reduce((n, i) => n + Number.parseFloat(i.style.width), 0),
      dots: [...e.querySelectorAll("em")].map((d) => Number.parseFloat(d.style.left)),
      cut: e.querySelector("q") !== null,
    })),
  );
  const extra = await page.getByTestId("points").locator("tr.base").count();
  assert.equal(extra, m.base && !m.points.some((p) => p.name === m.base.name) ? 1 : 0, "the scenario has a row");
  assert.equal(bars.length, ranked.length + extra);
  if (extra > 0) bars.splice(ranked.filter((p) => p.figures[step] <= m.base.figures[step]).length, 1);
  const scale = bars[0].sum / ranked[0].figures[step];
  ranked.forEach((p, i) => {
    assert.ok(Math.abs(bars[i].sum - Math.min(100, scale * p.figures[step])) < 0.5, `bar ${i}: ${bars[i].sum} %`);
    assert.equal(bars[i].cut, scale * p.figures[step] > 100.01, `bar ${i} is cut`);
    const seeds = (p.seeds ?? []).map((s) => Math.round(scale * s)).filter((s) => s <= 100);
    if (p.high > p.low) assert.deepEqual(bars[i].dots.map((d) => Math.round(d)), seeds, `seeds of bar ${i}`);
  });
  const ties = await page.getByTestId("points").locator(".tie").count();
  const paired = ranked.some((p) => p.over);
  assert.equal(ties, paired ? 0 : ranked.slice(1).filter((p) => p.tie).length, "ties");
  const over = await page.getByTestId("points").locator("td.over").allInnerTexts();
  assert.equal(over.length, paired ? ranked.length + extra : 0, "each row has its difference from the best");
  assert.equal(over.filter((s) => /±|by rank/.test(s)).length, Math.max(0, over.length - 1), `differences: ${over}`);
}

const listed = (await json("api/runs")).filter((e) => !e.error).map((e) => e.name);
await open("");
await page.getByTestId("studies").getByRole("link", { name: study, exact: true }).press("Enter");
await page.getByTestId("points").waitFor();
const m = await json(`api/studies/${study}`);
await pictures(m);
assert.match(await text("verdict"), /earlier than the scenario/);
// A value keeps the points that have it, in all pictures, and the address says so.
const value = page.getByTestId("settings").getByRole("button", { name: m.axes[0].shown[0], exact: true });
await value.press("Enter");
const kept = m.points.filter((p) => p.at[0] === 0).length;
const dots = page.getByTestId("pareto").locator("[data-point]");
await eventually(async () => (await dots.count()) === kept, `${kept} points are kept`);
await eventually(() => /only=/.test(page.url()), "the address says which");
await value.press("Enter");
await eventually(async () => (await dots.count()) === m.points.length, "all points are back");
// A point that is looked at says its settings.
await page.getByTestId("points").getByRole("button", { name: new RegExp(`${m.points[0].name}$`) }).press("Enter");
await eventually(async () => (await text("looked")).includes(`--set ${m.axes[0].key}=`), "its settings are shown");
await check("study");

await open(`#/compare?runs=${listed.join(",")}`);
await page.getByTestId("points").waitFor();
const many = await json(`api/many?runs=${listed.join(",")}`);
await pictures(many);
for (const what of many.unlike) assert.ok((await text("unlike")).includes(what));
await check("many");
// A cell with one point opens its run.
const single = page.getByTestId("heat").locator("a[href*='#/run/']").first();
const to = await single.getAttribute("href");
await single.click();
await eventually(() => page.url().endsWith(to), "the cell opens its run");
await page.setViewportSize({ width: 390, height: 844 });
for (const hash of [`#/study/${study}`, `#/compare?runs=${listed.join(",")}`]) {
  await open(hash);
  await page.getByTestId("points").waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, `${hash} is as wide as the window`);
}
await check("narrow");
await browser.close();
console.log(`${pages()} pages looked at`);
