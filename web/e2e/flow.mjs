// Runs without packets claim nothing of them, and one run's data never meet another's view. node flow.mjs BASE FLOWS THREE [SHOTS]
import assert from "node:assert/strict";
import { begin, plain } from "./page.mjs";

const [base, flows, three, shots] = process.argv.slice(2);
const { page, browser, json, open, settled, check, pages } = await begin(base, shots);

// In no view of a run by flows a count of what was not simulated, nor its absence.
const claims =
  /\b0 (marked|marks?|pauses?|rate reductions?|retransmitted|packets marked)|No (queue|sender|PFC|switch|port was|packet|time-?out|NAK)|no (NAK|time-?out|port was|CNP)|None in this window|was not needed|[Nn]ot one packet|after the queue|paused 0|Most is lost at host-/;
const looked = ["answer", "time", "fabric", "packet", "fabric?port=0&view=topology", "fabric?qp=0&view=topology"];
for (let chapter = 1; chapter <= 10; chapter++) looked.push(`life?chapter=${chapter}`);
for (const sequence of ["setup", "packet", "hosts", "mark", "pause", "nak", "completion"]) looked.push(`life?chapter=8&sequence=${sequence}`);
let said = 0;
for (const what of looked) {
  await open(`#/run/${flows}/${what}`);
  await settled();
  const text = plain(await page.locator("main").innerText());
  const found = claims.exec(text);
  assert.ok(!found, `${what}: ${text.slice(found?.index - 80, found?.index + 80)}`);
  if (/not simulated at flow fidelity/i.test(text)) said++;
  else assert.ok(!/^(time|packet|life.chapter=[4689])/.test(what), `${what} says what is not simulated`);
}
await check("flow");

// The Packet view draws the message's rate and the load of each port on its path.
await open(`#/run/${flows}/packet`);
await settled();
const chosen = (await json(`api/runs/${flows}/messages`)).messages[0];
const { path } = await json(`api/runs/${flows}/qp?id=${chosen.qp}`);
assert.ok(path.length > 1, "a path of several ports");
assert.equal(await page.getByTestId("course").locator("[data-lane=load]").count(), path.length, "a lane for each port");
assert.equal(await page.getByTestId("course").locator("[data-lane=rate]").count(), 1, "and one for its rate");

// From run to run by the address alone, without a reload: every view shows the run that the address names.
const [large, small] = await Promise.all([flows, three].map(async (r) => (await json(`api/runs/${r}/info`)).summary));
for (const view of ["answer", "time", "fabric", "packet", "life?chapter=7"]) {
  await open(`#/run/${flows}/${view}`);
  await settled();
  await page.evaluate((to) => (location.hash = to), `#/run/${three}/${view}`);
  await settled();
  if (view === "packet") assert.ok(plain(await page.getByTestId("packet-finding").innerText()).includes(small.slowest_flow.from.split("/")[0]), view);
  await page.evaluate((to) => (location.hash = to), `#/run/${flows}`);
  await settled();
  await check(`flow-${view.split("?")[0]}`);
}
// The journey's picture is of the message that its text is of.
const from = small.slowest_flow.from.split("/")[0];
await open(`#/run/${three}/life?chapter=7`);
await settled();
const drawn = plain(await page.getByTestId("passage").locator("svg").getAttribute("aria-label"));
assert.ok(drawn.startsWith(`${from}, then`), `${from}: ${drawn}`);
assert.notEqual(large.step_time_ps, small.step_time_ps);
await browser.close();
console.log(`${said} views say what is not simulated; ${pages()} pages looked at`);
