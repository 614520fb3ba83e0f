// Checks a configuration and counters, and asks for plans, by the page's forms in Chromium.
// node forms.mjs BASE CONFIGURATION [SHOTS]
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { begin } from "./page.mjs";

const [base, configuration, shots] = process.argv.slice(2);
const { page, browser, problems, json, open, text, eventually, check, pages } = await begin(base, shots);
const post = async (path, body) =>
  (await fetch(base + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).json();
const box = () => page.getByLabel("configuration or output of show commands");
const go = () => page.getByRole("button", { name: "Check", exact: true }).press("Enter");

// Without a run the front page is the life of the server's own run.
await open("");
await page.getByTestId("empty").waitFor();
for (const [chapter, sequence] of [[5, "ring"], [8, "mark"]]) {
  await page.locator(".chapters button").nth(chapter - 1).press("Enter");
  await page.getByRole("button", { name: sequence, exact: true, pressed: true }).waitFor();
  assert.equal(await page.getByTestId("why").count(), 0, `the example has ${sequence}`);
}
await check("front");

// A followed packet moves through the fabric: at each time it is where its hops say.
await open("#/run/~example/fabric");
const { packets } = await json("api/runs/~example/followed");
const [way] = packets[0].copies;
await page.getByLabel("packet in motion").selectOption({ index: 1 });
for (const h of way.hops) {
  await open(`#/run/~example/fabric?moving=0&at=${h.left_ps + 1000}`);
  await page.getByTestId("whereabouts").filter({ hasText: `on the link of ${h.name}` }).waitFor();
  if (h.came_ps > 0 && h.left_ps > h.came_ps + 2000) {
    await open(`#/run/~example/fabric?moving=0&at=${h.came_ps + 1000}`);
    await page.getByTestId("whereabouts").filter({ hasText: `in the queue of ${h.name}` }).waitFor();
  }
}
await check("motion");
await page.getByTestId("motion").getByRole("button", { name: "play" }).press("Enter");
await eventually(async () => / of .*: arrived/.test(await text("whereabouts")), "the packet arrives");

// A configuration that is pasted: every finding, with its line.
const config = readFileSync(configuration, "utf8");
await open("#/check");
await box().fill(config);
await go();
await page.getByTestId("lint").waitFor();
const { lint } = await post("api/texts", { texts: [{ name: "pasted.txt", text: config }] });
const rules = new Set(await page.getByTestId("lint").locator("[data-rule]").evaluateAll((all) => all.map((e) => e.dataset.rule)));
assert.deepEqual(rules, new Set(lint.findings.map((x) => x.rule)), "every rule is shown");
const first = lint.findings[0];
assert.ok((await text("lint")).includes(config.split("\n")[first.line - 1].trim()), "the line is quoted");
await check("lint");
// Counters as files.
const counters = (pauses) => `$ ethtool -S eth0\nNIC statistics:\n     rx_packets: 1000\n     rx_prio3_pause: ${pauses}\n`;
await open("#/check");
await page.getByLabel("files", { exact: true }).setInputFiles([
  { name: "host-1-eth0.txt", mimeType: "text/plain", buffer: Buffer.from(counters(5)) },
  { name: "host-2-eth0.txt", mimeType: "text/plain", buffer: Buffer.from(counters(9)) },
]);
await page.getByTestId("files").waitFor();
await go();
await page.getByTestId("diagnosis").filter({ hasText: /Read: 2.devices/ }).waitFor();
await check("diagnosis");
// What is neither is refused with the reason.
await open("#/check");
await box().fill("Called the vendor.\n");
await go();
await page.getByTestId("refused").filter({ hasText: "pasted.txt" }).waitFor();
problems.splice(0); // the browser logs the refused request

// Memory: every stage as the API has it; a value that changes changes the answer.
await open("#/plan/memory?model=gpt3-175b&tp=8&pp=4&dp=8");
const stages = page.getByTestId("stages").locator("[data-stage]");
await eventually(async () => (await stages.count()) === 4, "four stages");
const layout = { model: "gpt3-175b", gpu: "h100", tp: 8, pp: 4, dp: 8, cp: 1, ep: 1, vpp: 1, zero: 1, recompute: "selective",
  schedule: "1f1b", micro_batch: 1, sequence: 2048, microbatches: 8 };
const memory = await post("api/plan/memory", { layout });
const sums = memory.stages.map((s) => s.weight_bytes + s.gradient_bytes + s.optimizer_bytes + s.activation_bytes + s.buffer_bytes);
assert.deepEqual(await stages.evaluateAll((all) => all.map((e) => Number(e.dataset.bytes))), sums);
await check("plan-memory");
await page.getByLabel("PP", { exact: true }).fill("8");
await eventually(async () => (await stages.count()) === 8, "eight stages");
await page.getByLabel("ZeRO", { exact: true }).fill("7");
await page.getByTestId("refused").waitFor();
problems.splice(0); // the browser logs the refused request

await open("#/plan/search?model=gpt3-125m&batch=16&sequence=1024");
await page.getByTestId("candidates").waitFor();
const steps = await page.getByTestId("candidates").locator("[data-step]").evaluateAll((all) => all.map((e) => Number(e.dataset.step)));
assert.ok(steps.length > 0 && steps.every((s, i) => i === 0 || s >= steps[i - 1]), "the fastest first");
await check("plan-search");

await open("#/plan/failures");
await page.getByRole("button", { name: "Simulate" }).press("Enter");
await page.getByTestId("harm").waitFor();
await check("plan-failures");
await browser.close();
console.log(`${pages()} pages looked at`);
