// What the editor completes at places of scenarios, by the real schema. A text ends where the cursor is.
// node complete.mjs
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { transformWithEsbuild } from "vite";

const { code } = await transformWithEsbuild(readFileSync("src/complete.ts", "utf8"), "complete.ts");
const { options, spot } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
const schema = JSON.parse(readFileSync("../scenarios/railyard.schema.json", "utf8"));
const names = {
  "training.model": ["llama-2-7b", "mixtral-8x7b"],
  gpu: ["h100", "b200"],
  hwsku: ["ACS-SN5600"],
  "types.model": ["sn5600", "dgx-h100"],
};
const offered = (text) => options(schema, names, spot(text)).map((o) => o.label);
const flow = "workload:\n  traffic:\n    flows:\n";
for (const [text, path, wants] of [
  ["", "", ["fabric", "cc", "lb"]],
  ["fabric:\n  ki", "fabric", ["kind", "hosts"]],
  ["fabric:\n  kind: ", "fabric.kind", ["rail", "fat-tree"]],
  ["fabric:\n  hosts: 4\nl", "", ["lb"]],
  ["cc: {algorithm: ", "cc.algorithm", ["dcqcn", "swift"]],
  ["cc: {algorithm: d", "cc.algorithm", ["dcqcn", "swift"]],
  ["cc: {", "cc", ["algorithm", "dcqcn"]],
  ["cc: {algorithm: dcqcn, dcqcn: {pro", "cc.dcqcn", ["profile", "alpha_timer"]],
  ["cc: {algorithm: dcqcn, dcqcn: {profile: nic}, ", "cc", ["hpcc"]],
  ["cc: {algorithm: dcqcn,\n  dcqcn: {profile: ", "cc.dcqcn.profile", ["nic", "paper"]],
  ["lb: ecmp # {a comment\nfabric: {host_link: {rate: 400Gbps, ca", "fabric.host_link", ["cable"]],
  [flow + "      - {", "workload.traffic.flows.[]", ["from", "to", "bytes"]],
  [flow + "      - {from: host-1/gpu-1, by", "workload.traffic.flows.[]", ["bytes"]],
  [flow + "      - from: host-1/gpu-1\n        ", "workload.traffic.flows.[]", ["to", "bytes"]],
  [flow + "    - from: host-1/gpu-1\n      ", "workload.traffic.flows.[]", ["to"]],
  [flow + "    - from: host-1/gpu-1\n  t", "workload", ["training", "traffic"]],
  ["workload:\n  traffic: {flows: [{from: host-1, ", "workload.traffic.flows.[]", ["to"]],
  ["events:\n  - direction: ", "events.[].direction", ["both", "out"]],
  ["workload:\n  training:\n    model: ll", "workload.training.model", ["llama-2-7b"]],
  ["workload: {training: {model: ", "workload.training.model", ["mixtral-8x7b"]],
  ["server: {gpus: 8, gpu: ", "server.gpu", ["h100"]],
  ["fabric:\n  types:\n    leaf:\n      model: ", "fabric.types.leaf.model", ["sn5600"]],
  ["fabric:\n  types:\n    leaf: {hwsku: ", "fabric.types.leaf.hwsku", ["ACS-SN5600"]],
  ["switch:\n  pfc: ", "switch.pfc", ["true", "false"]],
  ["transport: ", "transport", ["roce", "srd"]],
  ["transport: {kind: ", "transport.kind", ["mrc"]],
]) {
  assert.equal(spot(text).path.join("."), path, JSON.stringify(text));
  for (const w of wants) assert.ok(offered(text).includes(w), `${JSON.stringify(text)} offers ${offered(text).slice(0, 20)}, not ${w}`);
}
assert.ok(!offered("cc: {algorithm: ").includes("ecmp"), "values of another key");

// At the end of every key of every shipped scenario, that key is offered where it stands.
let places = 0;
for (const file of readdirSync("../scenarios").filter((n) => n.endsWith(".yaml"))) {
  const text = readFileSync(`../scenarios/${file}`, "utf8");
  for (const m of text.matchAll(/([\w-]+)(?=:( |\n))/g)) {
    const before = text.slice(0, m.index);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    if (/#|["']/.test(line) || !/^ *(- +)*$|[{,] *$/.test(line)) continue;
    const place = spot(before + m[1]);
    assert.equal(place.typed, m[1], `${file}: ${line}${m[1]}`);
    const parent = options(schema, names, { ...place, key: true });
    if (parent.length === 0) continue; // names that a scenario chooses
    places++;
    assert.ok(parent.some((o) => o.label === m[1]), `${file}: ${place.path.join(".")} has ${m[1]}`);
  }
}
console.log(`${places} places completed`);
