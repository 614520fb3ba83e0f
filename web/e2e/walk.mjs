// The same walk through every view in Chromium and in Firefox, both by WebDriver BiDi: at three widths, in both themes,
// no error, nothing wider than the window, and the figures of Firefox are those of Chromium. With one browser it walks
// that one. node walk.mjs BASE chromium=PATH,firefox=PATH RUN,RUN… [SHOTS]
import assert from "node:assert/strict";
import puppeteer from "puppeteer-core";

const [base, installed, listed, shots] = process.argv.slice(2);
const runs = listed.split(",");
const views = ["answer", "time", "fabric", "packet", "life"].flatMap((v) => runs.map((r) => [`${r}-${v}`, `#/run/${r}/${v}`]));
const pages = [
  ["runs", "#/runs"],
  ...views,
  ["compare", `#/compare?runs=${runs.slice(0, 2).join(",")}`],
  ["check", "#/check"],
  ["memory", "#/plan/memory", "[data-testid=stages]"],
  ["failures", "#/plan/failures"],
];
const widths = (process.env.WIDTHS ?? "1440,1024,390").split(",").map(Number);
const themes = (process.env.THEMES ?? "light,dark").split(",");

/** settled waits until the page has read its answers and looks the same for a few frames. */
const settled = (page) =>
  page.evaluate(async () => {
    const look = () =>
      document.querySelector("main")?.outerHTML + [...document.querySelectorAll("canvas")].map((c) => `${c.width} ${c.height}`);
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
    let last = "";
    for (let same = 0, left = 1200; same < 3; left--) {
      if (left === 0) throw new Error(`not drawn: ${document.querySelector("main")?.innerText.slice(0, 200)}`);
      await pause(50);
      const now = look();
      const loading = window.unread > 0 || document.querySelector(".loading");
      same = !loading && now === last ? same + 1 : 0;
      last = now;
    }
  });

/** figures are the numbers of a page with their units and what marks carry as data, each once. Where a label breaks its
 * lines depends on the font, so that texts are not compared. */
const figures = (page) =>
  page.evaluate(() => {
    const main = document.querySelector("main");
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    const found = new Set();
    while (walker.nextNode())
      for (const [n] of walker.currentNode.data.replace(/[\u00a0\u202f]/g, " ").matchAll(/[−+]?\d[\d,.]*( ?(%|×|[kKMGT]?B\b|[KMGT]?bit\/s|[pnµm]?s\b))?/g))
        found.add(n);
    for (const e of main.querySelectorAll("[data-ps], [data-max], [data-value], [data-bytes]")) found.add(JSON.stringify(e.dataset));
    return [...found].sort();
  });

/** walk opens every page in one browser, and returns the figures of each. */
async function walk(name, executablePath) {
  const browser = await puppeteer.launch({
    browser: name === "firefox" ? "firefox" : "chrome",
    executablePath,
    args: name === "firefox" ? [] : ["--no-sandbox"],
    protocol: "webDriverBiDi",
  });
  const seen = new Map();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000); // the machine may be busy
    const problems = [];
    page.on("console", (m) => m.type() === "error" && problems.push(`console: ${m.text()}`));
    page.on("pageerror", (e) => problems.push(`page: ${e.message}`));
    page.on("request", (r) => /^https?:/.test(r.url()) && new URL(r.url()).origin !== new URL(base).origin && problems.push(`off the machine: ${r.url()}`));
    await page.evaluateOnNewDocument(() => {
      window.unread = 0; // answers that the page has not read to their end
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
    for (const width of widths) {
      await page.setViewport({ width, height: width < 500 ? 844 : 900 });
      for (const theme of themes) {
        await page.goto(base);
        await page.evaluate((t) => localStorage.setItem("theme", t), theme);
        for (const [title, hash, ready] of pages) {
          const where = `${name} ${title} ${width} ${theme}`;
          await page.goto("about:blank");
          await page.goto(base + hash);
          if (ready) await page.waitForSelector(ready);
          await settled(page);
          const [wide, shown] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.dataset.theme]);
          if (shots) await page.screenshot({ path: `${shots}/${name}-${title}-${theme}-${width}.png`, fullPage: true });
          assert.ok(wide <= width, `${where}: ${wide} px wide`);
          assert.equal(shown, theme, where);
          assert.deepEqual(problems.splice(0), [], where);
          seen.set(`${title} ${width} ${theme}`, await figures(page));
        }
      }
    }
  } finally {
    await browser.close();
  }
  return seen;
}

const found = [];
for (const [name, path] of installed.split(",").map((s) => s.split("="))) {
  const began = Date.now();
  found.push([name, await walk(name, path)]);
  console.log(`${name}: ${found.at(-1)[1].size} pages, ${((Date.now() - began) / 1000).toFixed(0)} s`);
}
let compared = 0;
for (const [name, seen] of found.slice(1))
  for (const [page, figures] of seen) {
    const expected = found[0][1].get(page);
    const only = [figures.filter((s) => !expected.includes(s)), expected.filter((s) => !figures.includes(s))];
    assert.deepEqual(only, [[], []], `${page}: ${name} alone and ${found[0][0]} alone have`);
    compared += figures.length;
  }
if (found.length > 1) console.log(`${compared} figures are the same in both`);
