package scenario

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/route"
	"railyard/internal/site"
	"railyard/transport/protocols"
)

// A plot is a scenario for leaves whose keys have one of a few prefixes, with values for those without bounds or an
// enum.
type plot struct {
	of, text string
	values   map[string]string
}

const (
	boards = "fabric: {kind: rail, hosts: 3, spines: 2, uplinks: 2}\n" +
		"server: {gpus: 4, nics: 4, gpu: h100, baseboard: {links: [9, 9], baseboards: 2, trunk: 4, pcie_switches: 2}}\n"
	small  = "server: {gpus: 2, nics: 2}\n"
	sends  = "workload: {traffic: {permutation: {bytes: 1MB}}}\n"
	rail   = "fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 4}\n" + small
	trains = "workload: {training: {model: gpt3-125m, tp: 2, dp: 4, global_batch: 32"
	stores = "storage: {servers: 4, nic_rate: 200Gbps}\nserver: {gpus: 2, nics: 2, pcie: 50GB/s}\n" +
		"fabric: {kind: rail, hosts: 4, spines: 2}\n"
	optical1 = "fabric: {kind: graph, graph: {hosts: [a, b], switches: [{name: s1, role: leaf}, {name: s2, role: leaf}], " +
		"links: [{from: s1, to: s2}, {from: a, to: s1}, {from: b, to: s2}]}}\nserver: {gpus: 1, nics: 1}\n" + sends
	fatTree = "fabric: {kind: fat-tree, k: 4, tiers: 2}\n" + sends
)

var plots = []plot{
	{"name seed fidelity fabric. server. switch. cc. lb transport. output. on_failure. workload.traffic.permutation calibration.",
		"hosts: {}\ncalibration: {}\n" + rail + sends, map[string]string{"server.gpu": "a100", "name": "other"}},
	{"switch.lag_seed fabric.lag fabric.min_links", "fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 4, lag: 2}\n" +
		small + sends, map[string]string{"fabric.min_links": "2"}},
	{"switch. cc.ndp fabric.ip", "transport: mrc\nswitch: {dscp: {49: 7}}\n" + rail + sends,
		map[string]string{"switch.trim.dscp": "49", "switch.trim.last_hop_dscp": "48"}},
	{"cc. switch.queues", "transport: eqds\n" + rail + sends, nil},
	{"switch.queues", "switch: {queues: {3: {limit: 1MB, wred_max: 0B, wred_min: 0B, trim: true, lossless: false, xon: 0B, xoff: 0B}}}\n" + rail + sends, nil},
	{"fabric. server.nic_ports", "fabric: {kind: pod, hosts: 2, spines: 4, super_spines: 4, pods: 2, planes: 2}\n" + strings.Replace(small, "nics: 2", "nics: 2, nic_ports: 2", 1) + sends, nil},
	{"fabric.kind fabric.k fabric.tiers fabric.leaves", fatTree, map[string]string{"fabric.k": "6"}},
	{"fabric.g fabric.l fabric.k", "fabric: {kind: dragonfly, k: 2}\n" + sends, nil},
	{"fabric.allow_deadlock lb", "fabric: {kind: torus, k: 3}\nserver: {gpus: 1, nics: 1}\nlb: dimension-order\n" + sends, nil},
	{"server. fabric.kind", "fabric: {kind: dual-rail, hosts: 4}\n" + strings.Replace(small, "nics: 2", "nics: 2, nic_ports: 2", 1) + sends, nil},
	{"server.nvlink_domain", rail + sends, map[string]string{"server.nvlink_domain": "4"}},
	{"fabric.optics fabric.cubes events[].cube", fmt.Sprintf(ofCubes, 2, "[2, 1, 1]", 1, "{at: 1ms, out: cube-1, in: cube-3}",
		"{cube: cube-2, at: 3ms, up: false}"), map[string]string{"fabric.optics.swaps[].out": "cube-2", "events[].cube": "cube-1",
		"fabric.optics.spares": "2"}},
	{"fabric.types fabric.nodes fabric.cables fabric.regions fabric.hwsku", rails, map[string]string{}},
	{"fabric.graph", fmt.Sprintf(optical, ringOf6, "{at: 20ms, circuits: [2-3, 4-5, 6-7, 8-9, 10-12, 11-1]}"), map[string]string{"fabric.graph.ocs[].ports": "16", "fabric.graph.ocs[].reconfigure": "5ms", "fabric.graph.ocs[].schedule[].at": "30ms"}},
	{"gpus[]", "gpus: {mine: {bf16_tflops: 100, memory: 80GB, hbm: 2TB/s, nvlink: 300GB/s}}\n" + strings.Replace(rail, "gpus:", "gpu: mine, gpus:", 1) + sends,
		nil},
	{"workload.training.", rail + trains + "}}\n", map[string]string{"workload.training.model": "gpt3-13b", "workload.training.cp": "2", "workload.training.bucket": "10MB", "workload.training.software": "megatron-lm"}},
	{"workload.training.", rail + trains + ", zero: 3, recompute: full}}\n", nil},
	{"workload.training.", rail + strings.Replace(trains, "dp: 4", "dp: 2, pp: 2, schedule: interleaved, vpp: 2, steps: 2", 1) + "}}\n", map[string]string{"workload.training.vpp": "3"}},
	{"workload.training.cp", rail + strings.Replace(trains, "dp: 4", "dp: 2, cp: 2", 1) + "}}\n", map[string]string{"workload.training.cp": "1"}},
	{"workload.training.", rail + strings.Replace(trains, "tp: 2, dp: 4", "tp: 1, dp: 8", 1) + ", zero: 1}}\n", nil},
	{"workload.training. storage.", stores + trains + ", data: {}, checkpoint: {}, steps: 4}}\n", map[string]string{"workload.training.checkpoint.every": "2"}},
	{"workload.traffic.storage storage.", stores + "workload: {traffic: {storage: {read: 1MB, write: 1MB}}}\n", nil},
	{"jobs[] placement", "jobs: {a: {gpus: 4, traffic: {ring-allreduce: {bytes: 1MB}}}}\n" + rail, map[string]string{"jobs[].on[]": ""}},
	{"fabric.pods fabric.super fabric.planes", "fabric: {kind: rail, hosts: 2, spines: 2, uplinks: 1, super_spines: 2, pods: 2, super_uplinks: 2}\n" + small + sends, map[string]string{"fabric.pods": "4", "fabric.planes": "2", "fabric.super_spines": "4", "fabric.super_uplinks": "1"}},
	{"fabric.groups", "fabric: {kind: dragonfly, k: 2, groups: 4}\n" + sends, map[string]string{"fabric.groups": "5"}},
	{"fabric.floor fabric.cables fabric.types fabric.nodes", strings.NewReplacer("  cables:", "  floor: {}\n  cables:", "count: 3", "count: 3, at: {row: su, rack: n}", "per: {su: 2, rail: 4}", "per: {su: 2, rail: 4}, at: {row: su, rack: rail}", ", length: 10m", "", "rate: 400Gbps, fec: 100ns", "rate: 100Gbps").Replace(rails),
		map[string]string{"fabric.cables[].nics": "1-2", "fabric.cables[].count": "2", "fabric.types[].domain": "su", "fabric.types[].tier": "2"}},
	{"fabric.cables[].", strings.NewReplacer("    - {from: host, to: leaf, same: su, match: {rail: nic}, length: 10m}\n", "", "rate: 400Gbps, fec: 100ns}\n", "rate: 100Gbps, count: 2}\n    - {from: host, to: leaf, same: su, match: {rail: nic}, length: 10m}\n").Replace(rails),
		map[string]string{"fabric.cables[].lag": "2", "fabric.cables[].from_ports": "5-8"}},
	{"fabric.cables[].min", strings.NewReplacer("    - {from: host, to: leaf, same: su, match: {rail: nic}, length: 10m}\n", "", "rate: 400Gbps, fec: 100ns}\n", "rate: 100Gbps, lag: 2}\n    - {from: host, to: leaf, same: su, match: {rail: nic}, length: 10m}\n").Replace(rails),
		map[string]string{"fabric.cables[].min_links": "2"}},
	{"fabric.types[].", strings.NewReplacer("    host: {gpus: 4, nics: 4, nic_rate: 200Gbps}\n", "", "split: 2}\n", "split: 2, role: rail}\n    host: {gpus: 4, nics: 4, nic_rate: 200Gbps}\n").Replace(rails),
		map[string]string{"fabric.types[].ports": "16x400Gbps", "fabric.types[].role": "leaf", "fabric.types[].split": "4", "fabric.types[].model": "tomahawk5", "fabric.types[].os": "sonic"}},
	{"fabric.types[].", rails, map[string]string{"fabric.types[].gpu": "a100"}},
	{"fabric.graph", strings.Replace(optical1, "{from: s1, to: s2}", "{from: s1, to: s2, count: 2}", 1), map[string]string{"fabric.graph.links[].count": "3"}},
	{"fabric.routing events[].d events[].c events[].link", "events: [{link: rail-1:Eth5, at: 1ms, up: false}]\n" + rail + sends, map[string]string{"events[].link": "rail-1:Eth6"}},
	{"events[].", "events: [{switch: spine-1, at: 1ms, up: false}]\n" + rail + sends, map[string]string{"events[].switch": "spine-2"}},
	{"events[].boot", "events: [{switch: spine-1, at: 1ms, boot: 1s}]\n" + rail + sends, nil},
	{"events[].nic events[].storm", "events: [{nic: host-1/nic-1, at: 1ms, storm: true}, {nic: host-1/nic-2, at: 0ms, storm: true}]\n" + rail + sends, map[string]string{"events[].nic": "host-2/nic-1"}},
	{"events[].server", "events: [{server: host-1, at: 1ms, up: false}]\n" + rail + sends, map[string]string{"events[].server": "host-2"}},
	{"server.baseboard.", boards + sends, map[string]string{"server.baseboard.baseboards": "4", "server.baseboard.pcie_switches": "4"}},
	{"events[].nvswitch", "events: [{nvswitch: host-1/nvswitch-1, at: 1ms, up: false}]\n" + boards + sends, map[string]string{"events[].nvswitch": "host-2/nvswitch-1"}},
	{"events[].pcie_switch", "events: [{pcie_switch: host-1/pcie-1, at: 1ms, up: false}]\n" + boards + sends, map[string]string{"events[].pcie_switch": "host-2/pcie-1"}},
	{"events[].flap", "events: [{link: rail-1:Eth5, at: 1ms, flap: {period: 1ms, count: 2}}]\n" + rail + sends, nil},
	{"events[].rate_share", "events: [{link: rail-1:Eth5, at: 1ms, rate_share: 0.25}]\n" + rail + sends, nil},
	{"events[].circuit events[].stuck events[].ocs", strings.Replace(fmt.Sprintf(optical, ringOf6, ""), "schedule: []", "schedule: [{at: 20ms, circuits: [2-3, 4-5, 6-7, 8-9, 10-12, 11-1]}]", 1) + "events: [{ocs: ocs-1, circuit: 2-3, at: 1ms, stuck: true}]\n",
		map[string]string{"events[].circuit": "4-5"}},
	{"failures[]", "failures: [{link: rail-1:Eth5, at: 1ms, converge: 1ms, until: 5ms}]\n" + rail + sends, map[string]string{"failures[].link": "rail-1:Eth6"}},
	{"deviations[].", "deviations: [{node: rail-1, pfc: false, dscp: {24: 0}}]\n" + rail + sends, map[string]string{"deviations[].node": "rail-2", "deviations[].pfc": "true", "deviations[].ecn": "false", "deviations[].watchdog": "false"}},
	{"deviations[].", "deviations: [{node: host-1, pfc: false}]\n" + rail + sends, nil},
	{"deviations[].port", "deviations: [{port: \"rail-1:Eth1\", pfc: false}]\n" + rail + sends, map[string]string{"deviations[].port": "rail-1:Eth2"}},
	{"workload.traffic.incast", rail + "workload: {traffic: {incast: {bytes: 1MB, fan_in: 2}}}\n", map[string]string{"workload.traffic.incast.target": "host-2/gpu-1"}},
	{"workload.traffic.flows", rail + "workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 1MB}]}}\n",
		map[string]string{"workload.traffic.flows[].from": "host-3/gpu-1", "workload.traffic.flows[].to": "host-3/gpu-1"}},
	{"workload.traffic.background", rail + "workload: {traffic: {background: {load: 10, sizes: 64KB, for: 100us}}}\n", map[string]string{"workload.traffic.background.sizes": "32KB"}},
	{"workload.traffic.collective", rail + "workload: {traffic: {collective: {kind: all-reduce, bytes: 1MB, algorithm: ring, channels: 2}}}\n", nil},
	{"workload.traffic.collective.a", rail + "workload: {traffic: {collective: {kind: all-reduce, bytes: 1MB}}}\n", nil},
	{"lb_options.bias lb_options.credits", "fabric: {kind: dragonfly, k: 2}\n" + sends, nil},
	{"lb_options.tier transport.forwarding", "transport: mrc\nswitch: {dscp: {49: 7}}\n" + rail + sends, nil},
	{"switch.queues.*.lossless", "switch: {queues: {3: {alpha: 1}}}\n" + rail + sends, nil},
	{"switch.queues.*.trim", "switch: {queues: {3: {limit: 1MB, wred_max: 0B, wred_min: 0B, lossless: false, xon: 0B, xoff: 0B}}}\n" + rail + sends, nil},
	{"storage.s", strings.Replace(stores, "servers: 4", "servers: 4, network: separate, switches: 2, server_nics: 2", 1) + "workload: {traffic: {storage: {read: 1MB, write: 1MB}}}\n", nil},
	{"workload.training.ep", rail + strings.Replace(trains, "model: gpt3-125m, tp: 2, dp: 4", "model: mixtral-8x7b, tp: 1, dp: 8", 1) + "}}\n", map[string]string{"workload.training.ep": "2"}},
	{"workload.traffic.background.to", "fabric: {kind: dragonfly, k: 2}\nworkload: {traffic: {background: {load: 10, sizes: 64KB, for: 100us}}}\n", nil},
	{"workload.ops[]", rail + "workload: {ops: [{id: a, gpu: host-1/gpu-1, send: 1KB, to: host-2/gpu-1}]}\n", map[string]string{"workload.ops[].gpu": "host-3/gpu-1", "workload.ops[].to": "host-3/gpu-1", "workload.ops[].id": "b"}},
	{"workload.ops[]", rail + "workload: {ops: [{id: a, gpu: host-1/gpu-1, compute: 1us}]}\n", nil},
	{"calibration.", "calibration: {}\n" + rail + "workload: {traffic: {collective: {kind: all-reduce, bytes: 1MB, algorithm: ring}}}\n", nil},
	{"calibration. workload.training.", "calibration: {}\n" + rail + trains + "}}\n", map[string]string{"calibration.compute_share": "50", "workload.training.global_batch": "64", "workload.training.micro_batch": "2"}},
	{"workload.training.", rail + strings.Replace(trains, "tp: 2, dp: 4", "tp: 1, dp: 4, pp: 2", 1) + "}}\n", map[string]string{"workload.training.schedule": "gpipe"}},
	{"jobs[].gpus", "jobs: {a: {traffic: {ring-allreduce: {bytes: 1MB}}, gpus: 4}}\n" + rail, map[string]string{"jobs[].gpus": "2"}},
	{"events[]", "events: [{link: rail-1:Eth5, at: 1ms, rate: 100G}]\n" + rail + sends, map[string]string{"events[].link": "rail-1:Eth6"}},
}

// unset are leaves that no --set of these scenarios can change alone, and the reason.
var unset = map[string]string{
	"fabric.optics.swaps[].in":  "the one cube that is spare",
	"fabric.types[].ports":      "is held against the cables; site_test.go",
	"fabric.cables[].nics":      "likewise",
	"fabric.cables[].to_ports":  "likewise, as from_ports",
	"fabric.graph.ocs[].ports":  "likewise; circuits_test.go",
	"fabric.floor.row":          "needs cables between rows; site_test.go",
	"storage.switches":          "must divide NICs; storage_test.go",
	"storage.server_nics":       "likewise",
	"storage.capacity":          "is held against the checkpoint; storage_test.go",
	"events[].ocs":              "circuits_test.go",
	"events[].circuit":          "likewise",
	"events[].stuck":            "likewise",
	"about":                     "a remark, which a run keeps with the file",
	"fabric.allow_deadlock":     "permits what is refused otherwise",
	"server.baseboard.model":    "has as many NVLinks as the GPU, as the default has; boards_test.go",
	"server.nic_ports":          "the kind of fabric decides it",
	"switches.*":                "a file; TestSwitchTexts",
	"hosts.*":                   "a file; hosts_test.go",
	"fabric.hwsku.*":            "a device that the ports must fit; devices_test.go",
	"fabric.types[].hwsku":      "likewise",
	"fabric.types[].topology":   "a file; machines_test.go",
	"fabric.nodes[].named":      "names, on which cables depend; site_test.go",
	"fabric.regions":            "a place of a dragonfly; site_test.go",
	"fabric.cables[].between":   "likewise",
	"fabric.cables[].each":      "likewise",
	"fabric.cables[].wrap":      "of a torus; site_test.go",
	"workload.traffic.matrix":   "a file; traffic_test.go",
	"fabric.graph.ocs[].phases": "phases_test.go",
	"workload.trace":            "files; trace_test.go",
	"fabric.graph.links[].from": "a name, on which the graph depends",
	"fabric.graph.links[].to":   "likewise",
	"fabric.cables[].from":      "likewise",
	"fabric.cables[].to":        "likewise",
	"fabric.types[].like":       "likewise",
	"fabric.nodes[].type":       "likewise",
}

var digests = map[string]string{} // digests of plots without changes

// referred reports whether a leaf is a name that others of the file refer to, or an entry of a list of names.
func referred(row string) bool {
	return strings.HasSuffix(row, "[]") || strings.HasSuffix(row, "].name")
}

func TestEveryLeafArrives(t *testing.T) {
	for _, pattern := range []string{"alltoall", "ring-allreduce", "tree-allreduce", "halving-doubling", "all-gather",
		"reduce-scatter", "broadcast"} {
		plots = append(plots, plot{"workload.traffic." + pattern, rail + "workload: {traffic: {" + pattern +
			": {bytes: 1MB}}}\n", nil})
	}
	leaves(reflect.TypeFor[File](), "", reflect.StructField{}, func(row string, f reflect.StructField) {
		for key := range unset {
			if row == key || strings.HasPrefix(row, key+".") || strings.HasPrefix(row, key+"[") {
				return
			}
		}
		if referred(row) || len(others(row, f)) == 1 && enumOf(f) != "" { // or a list of one word
			return
		}
		if why := arrives(t, row, f); why != "" {
			t.Errorf("%s: %s", row, why)
		}
	})
}

// leaves visits the single values of a block's type, with the field that holds each.
func leaves(t reflect.Type, row string, of reflect.StructField, visit func(row string, f reflect.StructField)) {
	if made := madeTypes[t]; made != nil {
		t = made
	}
	switch t.Kind() {
	case reflect.Pointer:
		of.Type = t.Elem()
		leaves(t.Elem(), row, of, visit)
	case reflect.Struct:
		for _, f := range keys(t) {
			if strings.HasPrefix(row, "jobs[]") && slices.Contains(names(reflect.TypeFor[Workload]()), name(f)) {
				continue // as below workload
			}
			leaves(f.Type, field.Join(row, name(f)), f, visit)
		}
	case reflect.Array, reflect.Map:
		of.Type = t.Elem()
		leaves(t.Elem(), row+".*", of, visit)
	case reflect.Slice:
		if t == reflect.TypeFor[site.Pairs]() {
			return
		}
		of.Type = t.Elem()
		leaves(t.Elem(), row+"[]", of, visit)
	default:
		visit(row, of)
	}
}

// others are accepted values of a leaf.
func others(row string, f reflect.StructField) (values []string) {
	if e := enumOf(f); e != "" {
		return strings.Split(e, ",")
	}
	v := reflect.New(f.Type)
	switch v.Elem().Kind() {
	case reflect.Bool:
		return []string{"true", "false"}
	case reflect.String:
		return []string{"other"}
	case reflect.Uint64:
		return []string{"77"}
	}
	if b := bounded[row]; b != nil {
		for _, share := range []float64{0, 0.3, 0.5, 0.7, 0.9, 1} {
			values = append(values, b.draw(f.Type, share))
		}
	}
	return values
}

func arrives(t *testing.T, row string, f reflect.StructField) (why string) {
	chosen := []string{}
	below, _, _ := strings.Cut(strings.TrimPrefix(row, "cc."), ".")
	switch {
	case strings.HasPrefix(row, "cc.") && below != row && cc.Lookup(below) != nil:
		chosen = append(chosen, "cc.algorithm="+below)
	case strings.HasPrefix(row, "lb_options."):
		for _, n := range route.Names() {
			for _, p := range route.Lookup(n).Params {
				if row == "lb_options."+p.Name {
					chosen = append(chosen, "lb="+n)
				}
			}
		}
	}
	for _, p := range protocols.All {
		if strings.HasPrefix(row, "transport."+p.Name+".") {
			key := "transport.kind="
			if p.Lossy { // in a lossy class
				key = "transport="
			}
			chosen = append(chosen, key+p.Name)
		}
	}
	if len(chosen) == 0 {
		chosen = []string{""}
	}
	for _, at := range plots {
		if !slices.ContainsFunc(strings.Fields(at.of), func(of string) bool { return strings.HasPrefix(row, of) }) {
			continue
		}
		values := others(row, f)
		if v, ok := at.values[row]; ok {
			values = append([]string{v}, values...)
		}
		for _, choice := range chosen {
			with := func(more ...string) (*Plan, error) {
				if choice != "" {
					more = append([]string{choice}, more...)
				}
				return resolved(t, at.text, more...)
			}
			before, seen := digests[at.text+choice]
			if !seen {
				was, err := with()
				if err != nil {
					digests[at.text+choice] = ""
					why += fmt.Sprintf("\n  %.20s: %v", at.text, err)
					continue
				}
				before = digest(was)
				digests[at.text+choice] = before
			}
			if before == "" {
				continue
			}
			key := strings.NewReplacer("[]", "[0]", "dscp.*", "dscp.24", ".*", ".3").Replace(row)
			for _, value := range values {
				p, err := with(key + "=" + value)
				if err != nil {
					why += "\n   " + err.Error()
					continue
				}
				_, v := p.Resolved()
				switch {
				case v[key] == "":
					why += "\n  not listed with " + value
				case digest(p) == before:
					why += "\n  no change with " + value
				default:
					return ""
				}
			}
		}
	}
	return why + " "
}

// digest is a hash of a plan's content, without its notes and its document.
func digest(p *Plan) string {
	own := *p
	own.Notes, own.doc = nil, nil
	sum := sha256.New()
	var b []byte // not in sum yet: a large plan's text takes hundreds of MB
	seen := map[uintptr]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		if len(b) > 1<<16 {
			sum.Write(b)
			b = b[:0]
		}
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() || seen[v.Pointer()] {
				return
			}
			seen[v.Pointer()] = true
			walk(v.Elem())
		case reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Map:
			keys := v.MapKeys()
			slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			for _, k := range keys {
				b = fmt.Append(b, k, ":")
				walk(v.MapIndex(k))
			}
		case reflect.String:
			b = append(append(b, v.String()...), 0)
		case reflect.Bool:
			b = strconv.AppendBool(b, v.Bool())
		case reflect.Float32, reflect.Float64:
			b = append(strconv.AppendFloat(b, v.Float(), 'g', -1, 64), ' ')
		default:
			switch {
			case v.CanInt():
				b = append(strconv.AppendInt(b, v.Int(), 16), ' ')
			case v.CanUint():
				b = append(strconv.AppendUint(b, v.Uint(), 16), ' ')
			}
		}
	}
	walk(reflect.ValueOf(own))
	sum.Write(b)
	return string(sum.Sum(nil))
}
