// Measures the page in headless Chromium: when a view is usable, what it loads, and frames per second and long tasks while
// the scrubber plays through a run. Fails above the bounds that it prints. node bench.mjs BASE RUN…
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [base, ...runs] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const tries = 3;
const most = { usable: 3000, bytes: 5e6, task: 50, frames: 30 };
for (const run of runs) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(180_000); // the machine may be busy
  await page.addInitScript(() => {
    // What the page reads, as it comes out of its coding, and tasks that keep it from answering.
    window.bytes = 0;
    window.tasks = [];
    const ask = window.fetch;
    window.fetch = async (...what) => {
      const answer = await ask(...what);
      answer
        .clone()
        .arrayBuffer()
        .then((b) => (window.bytes += b.byteLength));
      return answer;
    };
    new PerformanceObserver((l) => l.getEntries().forEach((e) => window.tasks.push(e.duration))).observe({
      entryTypes: ["longtask"],
    });
  });
  await page.goto(base);
  await page.getByTestId("runs").waitFor();
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  const said = [`first paint ${paint.toFixed(0)} ms`];
  const over = [];
  const slider = page.getByRole("slider", { name: "time" });
  for (const [view, ready] of [
    ["answer", page.getByTestId("verdict")],
    ["time", page.locator(".tracks canvas")],
    ["fabric", slider],
    ["packet", page.getByTestId("packet-finding")],
  ]) {
    // The first time the server reads the run's tables; a busy machine makes any time longer, so the shortest counts.
    const took = [];
    for (let i = 0; i < tries; i++) {
      await page.goto("about:blank");
      const began = Date.now();
      await page.goto(`${base}#/run/${run}/${view}`);
      await ready.waitFor();
      took.push(Date.now() - began);
      await page.waitForTimeout(1000);
    }
    const bytes = await page.evaluate(() => window.bytes);
    said.push(`${view} ${Math.min(...took)} ms (first ${took[0]}) ${(bytes / 1e6).toFixed(1)} MB`);
    if (Math.min(...took) > most.usable) over.push(`${view} is usable after ${Math.min(...took)} ms`);
    if (bytes > most.bytes) over.push(`${view} reads ${bytes} bytes`);
  }
  for (const metric of ["queue", "util"]) {
    await page.goto("about:blank");
    await page.goto(`${base}#/run/${run}/fabric?metric=${metric}`);
    await slider.waitFor();
    await page.waitForTimeout(2000);
    // Every frame the scrubber moves on by one step, as if dragged.
    let [half, twentieth, long] = [0, 0, Infinity];
    for (let i = 0; i < tries; i++) {
      const { frames, tasks } = await page.evaluate(
        () =>
          new Promise((done) => {
            const slider = document.querySelector("input[type=range]");
            const [from, to] = [Number(slider.min), Number(slider.max)];
            const times = [];
            let last = performance.now();
            window.tasks = [];
            const frame = (now) => {
              times.push(now - last);
              last = now;
              slider.value = String(from + ((times.length % 240) / 240) * (to - from));
              slider.dispatchEvent(new Event("input", { bubbles: true }));
              if (times.length < 300) requestAnimationFrame(frame);
              else done({ frames: times.slice(10), tasks: window.tasks });
            };
            requestAnimationFrame(frame);
          }),
      );
      frames.sort((a, b) => a - b);
      const rate = (q) => 1000 / frames[Math.floor(frames.length * q)];
      half = Math.max(half, rate(0.5));
      twentieth = Math.max(twentieth, rate(0.95));
      long = Math.min(long, Math.max(0, ...tasks));
    }
    said.push(
      `scrubbing ${metric}: ${half.toFixed(0)} frames/s (median), ${twentieth.toFixed(0)} in the slowest twentieth` +
        (long > 0 ? `, longest task ${long.toFixed(0)} ms` : ""),
    );
    if (half < most.frames) over.push(`${metric} is scrubbed at ${half.toFixed(0)} frames/s`);
    if (long > most.task) over.push(`a task of ${long.toFixed(0)} ms while ${metric} is scrubbed`);
  }
  console.log(`${run}: ${said.join("; ")}`);
  assert.deepEqual(over, [], `${run}: bounds are ${JSON.stringify(most)}`);
  await page.close();
}
await browser.close();
