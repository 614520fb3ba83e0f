package scenario_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/unit"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const dir = "../../scenarios"

func shipped(t *testing.T) []string {
	files, err := filepath.Glob(dir + "/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d scenarios shipped, %v", len(files), err)
	}
	return files
}

// Every shipped scenario resolves.
func TestShippedScenariosResolve(t *testing.T) {
	for _, f := range shipped(t) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		d, err := scenario.Parse(f, text, nil)
		if err == nil {
			_, err = d.Resolve(func(p string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, p)) })
		}
		if err != nil {
			t.Errorf("%v", err)
		}
	}
}

// The schema file is what the definition generates. By it, another project's validator accepts every shipped
// scenario and rejects an invalid one.
func TestSchema(t *testing.T) {
	file, err := os.ReadFile(dir + "/railyard.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, scenario.Schema()) {
		t.Fatal("scenarios/railyard.schema.json is stale: go run ./cmd/railyard schema > " +
			"scenarios/railyard.schema.json")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("railyard.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("railyard.json")
	if err != nil {
		t.Fatal(err)
	}
	check := func(text []byte) error {
		j, err := yaml.YAMLToJSON(text)
		if err != nil {
			return err
		}
		var v any
		if err := json.Unmarshal(j, &v); err != nil {
			return err
		}
		return s.Validate(v)
	}
	for _, f := range shipped(t) {
		text, _ := os.ReadFile(f)
		if err := check(text); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		if check(append(text, "\nsurprise: 1\n"...)) == nil {
			t.Errorf("%s with an unknown key passes the schema", f)
		}
	}
}

const good = `name: t
fabric:
  kind: rail
  hosts: 2
  spines: 2
  host_link: {rate: 400Gbps, cable: 3m}
server: {gpus: 2, nics: 2}
workload:
  traffic:
    permutation: {bytes: 1MB}
`

// Each bad input gets one error with its place and the accepted values.
func TestBadInput(t *testing.T) {
	replace := func(old, with string) string { return strings.Replace(good, old, with, 1) }
	for name, c := range map[string]struct{ text, want string }{
		"unknown key": {good + "colour: blue\n",
			`x.yaml:11:1: colour: unknown key; accepted: name, about, seed`},
		"near miss": {replace("hosts: 2", "host: 2"),
			`x.yaml:4:3: fabric.host: unknown key (did you mean "hosts"?)`},
		"rate without unit": {replace("400Gbps", "400"),
			`x.yaml:6:21: fabric.host_link.rate: "400" is not a rate: the unit is missing; write for ` +
				`example 400Gbps`},
		"xon above xoff": {good +
			"switch: {queues: {3: {xoff: 1MB, xon: 2MB, wred_max: 0B, wred_min: 0B}}}\n",
			"x.yaml:11:34: switch.queues.3.xon: 2MB is not below xoff 1MB"},
		"wred max above the buffer": {good + "switch:\n  queues:\n    3:\n      wred_max: 1GB\n",
			"x.yaml:14:7: switch.queues.3.wred_max: 1GB is above the buffer of 64MiB"},
		"cable that breaks twice": {good +
			"failures: [{link: 'rail-1:Eth1'}, {link: 'rail-1:Eth1', at: 1us}]\n",
			`failures[1].link: rail-1:Eth1 is a port of the cable that failures[0] breaks`},
		"cable back too early": {good + "failures: [{link: 'rail-1:Eth1', at: 5us, until: 2us}]\n",
			`failures[0].until: 2us is not after at, 5us`},
		"cable broken again": {good +
			"failures: [{link: 'rail-1:Eth3', at: 5us, until: 9us, converge: 2us}, " +
			"{link: 'rail-1:Eth3', at: 10us}]\n",
			`before it breaks again it must be back (until) and converged`},
		"rail that does not exist": {good + "failures: [{link: 'rail-9:Eth1'}]\n",
			`x.yaml:11:13: failures[0].link: unknown port "rail-9:Eth1"`},
		"gpu that does not exist": {replace("permutation: {bytes: 1MB}",
			"flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 1MB}]"),
			`unknown GPU "host-3/gpu-1"; names are host-1/gpu-1 to host-2/gpu-2`},
		"tp does not divide the heads": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"training: {model: llama-2-7b, tp: 3, dp: 1}"),
			"x.yaml:9:33: workload.training.tp: 3 does not divide the 32 attention heads of llama-2-7b"},
		"more gpus than the fabric": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"training: {model: llama-2-7b, tp: 8, dp: 4}"),
			"workload.training: tp 8 x pp 1 x dp 4 x cp 1 needs 32 GPUs, the fabric has 4"},
		"cyclic workload": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"ops: [{id: a, gpu: host-1/gpu-1, compute: 1us, after: [b]}, {id: b, gpu: host-1/gpu-1, "+
				"compute: 1us, after: [a]}]"),
			"workload.ops: the workload is cyclic: a waits"},
		"partitioned graph": {`fabric:
  kind: graph
  graph:
    hosts: [h1, h2]
    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}]
    links: [{from: h1, to: s1}, {from: h2, to: s2}]
server: {gpus: 1, nics: 1}
workload: {traffic: {permutation: {bytes: 1MB}}}
`, "x.yaml:1:1: fabric: the graph is partitioned: h1 cannot reach h2"},
		"10^9 hosts": {replace("hosts: 2", "hosts: 1000000000"),
			"x.yaml:4:3: fabric.hosts: 1000000000 is out of range 1–131072"},
		"many hosts": {replace("hosts: 2", "hosts: 100000"),
			"200000 GPUs are more than the 131072 that packet fidelity takes"},
		"binary file":     {"\x7fELF\x00\x01", "x.yaml: is a binary file, expected YAML text"},
		"empty file":      {" \n", "x.yaml: is empty"},
		"deep nesting":    {"a: " + strings.Repeat("[", 100_000), "x.yaml:1:35: nests deeper than 32 levels"},
		"bad indentation": {"fabric:\n\tkind: rail\n", "x.yaml:"},
		"a list":          {"- 1\n", "x.yaml:1:1: found a list, expected a mapping"},
		"alias":           {"name: &a x\nabout: *a\n", "anchors, aliases and tags are not accepted"},
		"no workload": {strings.Split(good, "workload:")[0],
			"workload: holds 0 workloads, expected exactly one"},
		"missing kind": {replace("kind: rail\n", "segments: 1\n"), "fabric.kind: is missing"},
		"unknown policy": {good + "lb: ecpm\n",
			`x.yaml:11:5: lb: unknown value "ecpm" (did you mean "ecmp"?); accepted: ecmp, ecmp-resilient`},
		"mtu too large": {good + "transport: {mtu: 9000}\n",
			"x.yaml:11:13: transport.mtu: 9000 is not 256, 512, 1024, 2048 or 4096"},
		"negative":     {replace("bytes: 1MB", "bytes: -1MB"), `"-1MB" is not a size`},
		"overflow":     {replace("bytes: 1MB", "bytes: 99999999999TB"), "the number is too large"},
		"endless work": {replace("bytes: 1MB", "bytes: 99999TB"), "is out of range 1B–100000GB"},
		"huge headroom": {good +
			"switch: {buffer: 100KB, queues: {3: {xoff: 50KB, xon: 10KB, wred_max: 40KB, wred_min: 20KB}}}\n",
			"x.yaml:11:10: switch.buffer: the headroom of rail-1's 4 ports takes"},
		"vpp without its schedule": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"training: {model: llama-2-7b, tp: 2, pp: 2, vpp: 2}"),
			"workload.training.vpp: 2 model chunks per rank need the schedule interleaved"},
		"interleaving unevenly": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"training: {model: llama-2-7b, tp: 2, pp: 2, vpp: 2, schedule: interleaved, global_batch: 3}"),
			"workload.training.schedule: interleaving needs a multiple of pp 2 microbatches, found 3"},
		"experts of a dense model": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"training: {model: llama-2-7b, tp: 2, dp: 2, ep: 2}"),
			"workload.training.ep: llama-2-7b has no experts; accepted: 1"},
		"zero 4": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"training: {model: llama-2-7b, tp: 2, dp: 2, zero: 4}"),
			"workload.training.zero: 4 is not 0, 1, 2 or 3"},
		"context cut unevenly": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"training: {model: llama-2-7b, tp: 2, cp: 2, sequence: 1023}"),
			"workload.training.cp: a sequence of 1023 tokens is not cut into 2 parts"},
		"unknown schedule": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"training: {model: llama-2-7b, tp: 2, schedule: dual-pipe}"),
			"workload.training.schedule: unknown value \"dual-pipe\"; accepted: 1f1b, gpipe, interleaved, " +
				"zero-bubble"},
		"halving three ranks": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"training: {model: llama-2-7b, tp: 1, dp: 3, global_batch: 3, dp_algorithm: halving-doubling}"),
			"workload.training.dp_algorithm: halving and doubling needs a power of two of ranks, found 3"},
		"no replicas": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"training: {model: llama-2-7b, tp: 2, dp: 0}"),
			"workload.training.dp: 0 is out of range 1–1048576"},
		"endless parallelism": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"training: {model: llama-2-7b, tp: 1, pp: 1, dp: 4, cp: 2000000000}"),
			"is out of range 1–1048576"},
		"nothing left for zero-bubble": {replace("traffic:\n    permutation: {bytes: 1MB}",
			"training: {model: llama-2-7b, tp: 2, pp: 2, global_batch: 4, schedule: zero-bubble, "+
				"recompute: full}"),
			"workload.training.recompute: zero-bubble schedules postpone what full recomputation does"},
		"a collective's wrong algorithm": {replace("permutation: {bytes: 1MB}",
			"collective: {kind: all-gather, bytes: 1MB, algorithm: tree}"),
			"workload.traffic.collective.algorithm: \"tree\" runs no all-gather; accepted: " +
				"auto, ring"},
		"channels of a tree": {replace("permutation: {bytes: 1MB}",
			"collective: {bytes: 1MB, algorithm: tree, channels: 4}"),
			"workload.traffic.collective.algorithm: channels and chunks are a ring's"},
		"nothing to leave out": {replace("permutation: {bytes: 1MB}",
			"collective: {bytes: 1MB, algorithm: auto, without: [tree, nvl]}"),
			"workload.traffic.collective.without[1]: \"nvl\" is nothing that the tuning model picks (did " +
				"you mean \"nvls\"?); accepted: ring, tree, nvls, nvls-tree, ll, ll128, simple"},
		"everything left out": {replace("permutation: {bytes: 1MB}",
			"collective: {bytes: 1MB, algorithm: auto, without: [ll, ll128, simple]}"),
			"workload.traffic.collective.without: leaves the tuning model nothing to run an all-reduce by"},
		"an empty collective": {replace("permutation: {bytes: 1MB}",
			"collective: {kind: all-reduce}"),
			"workload.traffic.collective.bytes: is missing; accepted: between 1B and 100000GB"},
		"too many channels": {replace("permutation: {bytes: 1MB}",
			"collective: {bytes: 1MB, channels: 65}"),
			"workload.traffic.collective.channels: 65 is out of range 0–64"},
		"a trace of nothing": {replace("traffic:\n    permutation: {bytes: 1MB}", "trace: {format: goal}"),
			"x.yaml:9:3: workload.trace.files: is missing"},
		"a trace of what": {replace("traffic:\n    permutation: {bytes: 1MB}", "trace: {format: gaol}"),
			`workload.trace.format: unknown value "gaol" (did you mean "goal"?)`},
		"twice the same key": {good + "name: again\n", "x.yaml:"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := scenario.Parse("x.yaml", []byte(c.text), nil)
			if err == nil {
				_, err = d.Resolve(nil)
			}
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error spans lines: %v", err)
			}
		})
	}
}

func TestSet(t *testing.T) {
	d, err := scenario.Parse("x.yaml", []byte(good),
		[]string{"lb=spray", "transport.qps=4", "switch.queues.3.xoff=4MB",
			"workload.traffic.permutation.bytes=2MB"})
	if err != nil {
		t.Fatal(err)
	}
	if f := d.File; f.LB != "spray" || f.Transport.QPs != 4 || f.Switch.Queues[3].XOff != 4e6 ||
		f.Workload.Traffic.Permutation.Bytes != 2e6 {
		t.Errorf("%+v", f)
	}
	if scenario.Default().Switch.Queues[3].XOff == 4e6 {
		t.Error("--set changed the defaults")
	}
	d, err = scenario.Parse("x.yaml", []byte(good),
		[]string{"switches.config=a.cfg", "switches.spine-1=b.cfg"})
	if err != nil || len(d.File.Switches) != 2 {
		t.Errorf("%v %v", d.File.Switches, err)
	}
	for set, want := range map[string]string{"lb": "expected key=value", "lb=x": "accepted: ecmp",
		"nope=1": "unknown key", "fabric=1": "several values",
		"switch.queues.3.nope=1": "unknown key", "workload.training.tp=1": "not part of this scenario"} {
		if _, err := scenario.Parse("x.yaml", []byte(good), []string{set}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("--set %s: %v, want %q", set, err, want)
		}
	}
}

// Reading continues after a file's first error, and all its numbers are checked.
func TestAllFaultsAtOnce(t *testing.T) {
	text := strings.NewReplacer("hosts: 2", "host: 2", "400Gbps", "400", "1MB", "much").Replace(good)
	_, err := scenario.Parse("x.yaml", []byte(text), nil)
	want := []string{`x.yaml:4:3: fabric.host: unknown key (did you mean "hosts"?); accepted: hosts, `,
		`x.yaml:6:21: fabric.host_link.rate: "400" is not a rate: the unit is missing`,
		`workload.traffic.permutation.bytes: "much" is not a size`}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d lines: %v", len(lines), err)
	}
	for i, w := range want {
		if !strings.Contains(lines[i], w) {
			t.Errorf("line %d: %s, want %s", i+1, lines[i], w)
		}
	}
	d, err := scenario.Parse("x.yaml", []byte(good),
		[]string{"fabric.hosts=-1", "seed=7", "transport.timeout=99"})
	if err == nil {
		_, err = d.Resolve(nil)
	}
	const both = "--set fabric.hosts=-1: -1 is out of range 1–131072\n" +
		"--set transport.timeout=99: 99 is out of range 0–31"
	if err == nil || err.Error() != both {
		t.Error(err)
	}
}

// An impossible combination of a --set value with a default is not an error of the file.
func TestSetIsToBlame(t *testing.T) {
	for set, want := range map[string]string{
		"switch.queues.3.xoff=1B": "--set switch.queues.3.xoff=1B: switch.queues.3.xon: 100KB is not " +
			"below xoff 1B",
		"switch.buffer=1KB": "--set switch.buffer=1KB: switch.queues.3.",
		"fabric.hosts=0":    "--set fabric.hosts=0: 0 is out of range",
	} {
		d, err := scenario.Parse("x.yaml", []byte(good), []string{set})
		if err == nil {
			_, err = d.Resolve(nil)
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("--set %s: %v, want %q", set, err, want)
		}
	}
}

// No content of a file may cause a panic or an endless loop.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("fabric: {kind: fat-tree, k: 4}\nworkload: {traffic: {incast: {bytes: 1B, fan_in: 3}}}"))
	f.Add([]byte("[[[[{{{{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := scenario.Parse("x", text, nil)
		if err != nil {
			return
		}
		fb := &d.File.Fabric
		for _, n := range []int{fb.Hosts, fb.K, fb.Spines, fb.Segments, fb.Pods, fb.Supers, fb.SuperUp,
			fb.Uplinks, fb.Leaves, fb.Groups, fb.GroupSize, fb.Local, fb.Global} {
			if n > 8 { // large inputs take time
				return
			}
		}
		d.File.Workload.Training = nil
		d.Resolve(nil)
	})
}

// texts is a reader of configuration files that exist in a test only.
func texts(files map[string]string) scenario.ReadFile {
	return func(p string) ([]byte, error) {
		if t, ok := files[p]; ok {
			return []byte(t), nil
		}
		return nil, fmt.Errorf("%s: no such file", p)
	}
}

const nxos = `class-map type qos match-any ROCE
  match dscp 26
policy-map type qos IN
  class ROCE
    set qos-group 4
policy-map type queuing OUT
  class type queuing c-out-8q-q4
    bandwidth remaining percent 60
    random-detect minimum-threshold 10 kbytes maximum-threshold 20 kbytes drop-probability 3 weight 0 ecn
policy-map type network-qos NET
  class type network-qos c-8q-nq4
    mtu 9216
    pause pfc-cos 4
system qos
  service-policy type network-qos NET
  service-policy type queuing output OUT
interface Ethernet1/1
  priority-flow-control mode on
  service-policy type qos input IN
`

// A switch has the configuration of its name, else of its role, else of the fabric. The switch block sets what the
// configuration does not.
func TestSwitchTexts(t *testing.T) {
	other := strings.Replace(nxos, "percent 60", "percent 70", 1)
	third := strings.Replace(nxos, "percent 60", "percent 80", 1)
	text := good + "switch: {buffer: 32MB}\nswitches: {config: a.cfg, spine: b.cfg, spine-2: c.cfg}\n"
	d, err := scenario.Parse("x.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(texts(map[string]string{"a.cfg": nxos, "b.cfg": other, "c.cfg": third}))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"rail-1": 60, "rail-2": 60, "spine-1": 70, "spine-2": 80} {
		if s := p.SpecOf(p.Graph.Node(name)); s.Queues[4].Weight != want || s.DSCP[26] != 4 ||
			s.DSCP[24] != 0 || !s.Queues[4].Lossless || s.Buffer != 32e6 || s.Queues[4].XOff != 3_500_000 {
			t.Errorf("%s runs %+v", name, s.Queues[4])
		}
	}
	if len(p.Texts) != 3 || len(p.Notes) == 0 {
		t.Errorf("%d texts kept, notes %q", len(p.Texts), p.Notes)
	}
}

// A port with PFC off in its configuration has none in the fabric.
func TestPortWithoutPFC(t *testing.T) {
	text := nxos +
		"interface Ethernet1/2-4\n  priority-flow-control mode on\n  service-policy type qos input " +
		"IN\ninterface Ethernet1/3\n  priority-flow-control mode off\n"
	d, err := scenario.Parse("x.yaml", []byte(good+"switches: {rail-1: a.cfg}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(texts(map[string]string{"a.cfg": text}))
	if err != nil {
		t.Fatal(err)
	}
	link, node, _ := p.Graph.FindPort("rail-1:Eth3")
	if priorities, ok := p.PFC[topo.LinkEnd{Link: link, Node: node}]; len(p.PFC) != 1 || !ok ||
		priorities != 0 {
		t.Errorf("%+v, notes %q", p.PFC, p.Notes)
	}
}

// DLB in the configuration is the fabric's load balancing unless the scenario sets its own.
func TestSwitchTextTurnsOnDLB(t *testing.T) {
	dlb := nxos + "hardware profile dlb\n  dlb-interface Ethernet1/1\n  mode flowlet\n  flowlet-aging 70\n"
	for extra, want := range map[string]string{"": "flowlet", "lb: ecmp\n": "ecmp"} {
		d, err := scenario.Parse("x.yaml", []byte(good+extra+"switches: {config: a.cfg}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(texts(map[string]string{"a.cfg": dlb}))
		if err != nil || p.LB.Name != want || want == "flowlet" &&
			p.LBValues["flowlet_gap"] != 70*unit.Microsecond {
			t.Errorf("%q: %v, lb %s, gap %v", extra, err, p.LB.Name, p.LBValues["flowlet_gap"])
		}
	}
}

// An unusable configuration is rejected at its key, with the configuration's own line.
func TestBadSwitchTexts(t *testing.T) {
	for name, c := range map[string]struct{ key, text, want string }{
		"no such file": {"{config: nope.cfg}", "",
			"x.yaml:11:12: switches.config: nope.cfg: no such file"},
		"no such switch": {"{spyne: a.cfg}", nxos,
			`x.yaml:11:12: switches.spyne: is neither a switch nor a role of this fabric ` +
				`(did you mean "spine"?); accepted: config, rail, spine, or a switch's name`},
		"FRR": {"{config: a.cfg}", "frr defaults datacenter\nhostname a\nrouter bgp 65000\n",
			"a.cfg: contains no queues"},
		"impossible": {"{config: a.cfg}", strings.Replace(nxos, "percent 60", "percent 160", 1),
			"a.cfg:8:33: queues.4.weight: 160 is out of range 0–100"},
		"thresholds": {"{config: a.cfg}", strings.Replace(nxos, "minimum-threshold 10",
			"minimum-threshold 30", 1), "a.cfg:9:5: queues.4.wred_min: 30KB is above wred_max 20KB"},
		"small MTU": {"{config: a.cfg}", strings.Replace(nxos, "mtu 9216", "mtu 1500", 1),
			"transport.mtu: 4096 bytes and up to 82 of headers"},
		"not a text": {"{config: [a]}", nxos, "x.yaml:11:20: switches.config: found a list, expected"},
		"another language": {"{config: a.cfg}",
			"sysname leaf\ninterface 100GE1/0/1\n dcb pfc enable mode manual\n undo portswitch\nquit\n",
			"switches.config: a.cfg:1:1: looks like Huawei or H3C VRP"},
	} {
		d, err := scenario.Parse("x.yaml", []byte(good+"switches: "+c.key+"\n"), nil)
		if err == nil {
			_, err = d.Resolve(texts(map[string]string{"a.cfg": c.text}))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\n got %v\nwant %s", name, err, c.want)
		}
	}
}

// A pause is repeated after half its time. A pause shorter than a frame in the other direction (4282 bytes,
// including the pause after it) keeps no queue lossless, and a note says so.
func TestShortPausesAreNoted(t *testing.T) {
	for quanta, noted := range map[string]bool{"10": true, "133": true, "134": false, "65535": false} {
		d,
			err := scenario.Parse("test.yaml",
			[]byte("name: x\nfabric: {kind: rail-only, hosts: 2}\nworkload: {traffic: {permutation: "+
				"{bytes: 1KB}}}\n"),
			[]string{"switch.pfc_quanta=" + quanta})
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(p.Notes, " "), "pfc_quanta"); got != noted {
			t.Errorf("pfc_quanta %s: notes %q", quanta, p.Notes)
		}
	}
}
