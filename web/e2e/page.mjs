// A browser on the page: what the scripts beside this one share.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** plain has ordinary spaces and hyphens: those of the page do not break. */
export const plain = (s) => s.replaceAll("\u00a0", " ").replaceAll("\u2011", "-");
export const digits = (v) => v.toFixed(v >= 99.95 || Number.isInteger(v) ? 0 : v >= 9.995 ? 1 : 2);
export const time = (ps) => {
  if (ps === 0) return "0 s";
  let v = ps;
  let i = 0;
  while (v >= 999.5 && i < 4) {
    v /= 1000;
    i++;
  }
  return `${digits(v)} ${["ps", "ns", "µs", "ms", "s"][i]}`;
};
export const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** begin opens a browser for a server; check looks at a page for errors of any kind, and keeps it as SHOTS/NAME.png. */
export async function begin(base, shots) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
    // Playwright's defaults include a flag under which Chromium takes any number of changes of the address;
    // people's does not.
    ignoreDefaultArgs: ["--disable-ipc-flooding-protection"],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(Number(process.env.PATIENCE ?? 120_000)); // the machine may be busy
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
  const text = async (id) => plain(await page.getByTestId(id).innerText());
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
  const slider = () => page.getByRole("slider", { name: "time" });
  const shows = (place, words) =>
    eventually(async () => plain(await place.innerText()).includes(words), `${words} is shown`);
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
  return { page, browser, problems, json, open, text, eventually, settled, slider, shows, check, pages: () => seen };
}
