// Measures the page in headless Chromium: first paint, and frames per second while
// the scrubber plays through a run. node bench.mjs BASE RUN
import { chromium } from "playwright-core";

const [base, run] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
page.setDefaultTimeout(180_000); // the machine may be busy
await page.goto(base);
await page.getByRole("heading").or(page.getByTestId("runs")).first().waitFor();
const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
await page.goto(`${base}#/run/${run}/fabric?metric=queue`);
const slider = page.getByRole("slider", { name: "time" });
await slider.waitFor();
await page.waitForTimeout(1500);
// Every frame the scrubber moves on by one column, as if dragged.
const frames = await page.evaluate(
  () =>
    new Promise((done) => {
      const slider = document.querySelector("input[type=range]");
      const times = [];
      let last = performance.now();
      let t = 0;
      const frame = (now) => {
        times.push(now - last);
        last = now;
        t = (t + 1) % 240;
        slider.value = String(t);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        if (times.length < 300) requestAnimationFrame(frame);
        else done(times.slice(10));
      };
      requestAnimationFrame(frame);
    }),
);
frames.sort((a, b) => a - b);
const at = (q) => frames[Math.floor(frames.length * q)];
console.log(
  `first paint ${paint.toFixed(0)} ms; scrubbing ${run}: ` +
    `${(1000 / at(0.5)).toFixed(0)} frames/s (median), ${(1000 / at(0.95)).toFixed(0)} in the slowest twentieth`,
);
await browser.close();
