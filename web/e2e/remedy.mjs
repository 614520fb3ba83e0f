// The walk of somebody without a manual: start a scenario, read the cause, run its remedy, compare. By the pointer alone,
// with clicks and seconds counted. node remedy.mjs BASE [SHOTS]
import assert from "node:assert/strict";
import { begin, time } from "./page.mjs";

const [base, shots] = process.argv.slice(2);
const { page, browser, json, open, text, check, pages } = await begin(base, shots);
const most = 180; // seconds

let clicks = 0;
const click = async (place) => {
  await place.click();
  clicks++;
};
const began = Date.now();
await open("");
await click(page.getByRole("link", { name: "New run" }).first());
await click(page.getByRole("button", { name: "Run", exact: true }));
await click(page.getByRole("link", { name: "look at it" }).first());
await page.getByTestId("verdict").waitFor();
const cause = await text("verdict");
const ran = decodeURIComponent(/#\/run\/([^/?]*)/.exec(page.url())[1]);
await click(page.getByRole("button", { name: "Run this variant" }).first());
await page.getByTestId("waterfall").waitFor();
const compared = await text("verdict");
const took = (Date.now() - began) / 1000;
const variant = decodeURIComponent(/runs=([^&]*)/.exec(page.url())[1]).split(",")[1];
const [a, b] = await Promise.all([ran, variant].map(async (r) => (await json(`api/runs/${r}/info`)).summary.step_time_ps));
assert.ok(b < a && compared.includes(time(a - b)), compared);
assert.ok(took < most, `${took} s`);
await check("remedy");
await browser.close();
console.log(`${clicks} clicks, ${took.toFixed(1)} s: "${cause}" "${compared}"; ${pages()} pages looked at`);
