package scenario

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/internal/site"
	"railyard/internal/workload"
	"railyard/transport/protocols"
	"railyard/unit"
)

// Every number of a scenario has one row in the table of bounds, and every row belongs to a number.
func TestEveryNumberHasABound(t *testing.T) {
	rows := map[string]reflect.Type{}
	var walk func(rt reflect.Type, row string)
	walk = func(rt reflect.Type, row string) {
		if made := madeTypes[rt]; made != nil {
			rt = made
		}
		switch rt.Kind() {
		case reflect.Pointer:
			walk(rt.Elem(), row)
		case reflect.Struct:
			for _, f := range keys(rt) {
				walk(f.Type, field.Join(row, name(f)))
			}
		case reflect.Map:
			walk(rt.Elem(), row+".*")
		case reflect.Slice:
			walk(rt.Elem(), row+"[]")
		case reflect.Array:
			walk(rt.Elem(), row+".*")
		case reflect.Int, reflect.Int64, reflect.Float64, reflect.Uint8, reflect.Uint:
			rows[row] = rt
		}
	}
	walk(reflect.TypeFor[File](), "")
	for row, rt := range rows {
		b := bounded[row]
		if b == nil {
			t.Errorf("%s has no bounds: tag its field with range or of", row)
			continue
		}
		if b.holds(reflect.New(rt).Elem()) { // also: the row's texts parse
			continue
		}
	}
	for _, b := range bounds {
		if rows[b.key] == nil {
			t.Errorf("there are bounds for %s, which is not a number of a scenario", b.key)
		}
	}
	if len(bounds) != len(bounded) {
		t.Error("one key has two bounds")
	}
}

// The defaults are within the bounds. A value one step outside is rejected at its key, with the accepted values.
func TestOutsideTheBounds(t *testing.T) {
	f := Default()
	training := workload.NewTraining()
	f.Workload = Workload{Training: &training, Ops: []Op{{}}, Trace: &Trace{Bytes: 1},
		Traffic: &Traffic{Collective: &CollSpec{Bytes: 1}, Permutation: &Pattern{Bytes: 1},
			Incast:   &IncastSpec{Bytes: 1, FanIn: 1},
			AllToAll: &Pattern{Bytes: 1}, RingAllReduce: &Pattern{Bytes: 1},
			TreeAllReduce: &Pattern{Bytes: 1},
			Halving:       &Pattern{Bytes: 1}, AllGather: &Pattern{Bytes: 1},
			ReduceScatter: &Pattern{Bytes: 1}, Broadcast: &Pattern{Bytes: 1}, Flows: []FlowSpec{{Bytes: 1}},
			Background: &Background{Load: 1, For: unit.Second}, Storage: &Access{}}}
	keeps := func(t *workload.Training) {
		t.Data, t.Checkpoint = new(workload.Data), new(workload.Checkpoint)
		t.Data.Silent()
		t.Checkpoint.Silent()
	}
	keeps(&training)
	one := 1
	f.Storage = new(Storage)
	f.Storage.Silent()
	f.Storage.DSCP, f.Output.Steps = &one, &one
	dscp, sent := 26, *f.Workload.Traffic // jobs share no values, and each is set in turn
	for _, p := range []**Pattern{&sent.Permutation, &sent.AllToAll, &sent.RingAllReduce, &sent.TreeAllReduce,
		&sent.Halving, &sent.AllGather, &sent.ReduceScatter, &sent.Broadcast} {
		*p = &Pattern{Bytes: 1}
	}
	sent.Collective, sent.Incast = &CollSpec{Bytes: 1}, &IncastSpec{Bytes: 1, FanIn: 1}
	sent.Flows, sent.Background = []FlowSpec{{Bytes: 1}}, &Background{Load: 1, For: unit.Second}
	sent.Storage = &Access{}
	step := workload.NewTraining()
	keeps(&step)
	f.Jobs = []Job{{DSCP: &dscp, Workload: Workload{Training: &step, Ops: []Op{{}}, Traffic: &sent,
		Trace: &Trace{Bytes: 1}}}}
	f.Fabric.Graph = &Graph{Switches: []GraphNode{{}}, Links: []GraphLink{{}},
		OCS: []OCS{{Ports: 2, Schedule: []Mapping{{}}}}}
	f.Fabric.Cubes, f.Fabric.Optics = []int{1}, &Optics{Swaps: []Swap{{}}}
	f.Fabric.Types, f.Fabric.Nodes, f.Fabric.Cables = []site.Type{{}}, []site.Group{{}}, []site.Rule{{}}
	f.GPUs = []Accelerator{{BF16: 1, Memory: unit.GB, HBM: unit.Tbps, NVLink: unit.Tbps}}
	soon := unit.Microsecond
	f.Calibration, f.Server.Reorder = new(Calibration), new(Reorder)
	f.Failures = []Failure{{Converge: &soon}}
	f.Fabric.Routing.Detect = &soon
	f.Switch.Trim.Silent()
	settle := queue.Scheduled{Cell: 256, Header: 16, Message: 16, Credit: 4096, Speedup: 1.02,
		Egress: 1 << 20, Timeout: unit.Millisecond}
	f.Fabric.Scheduled = Scheduled{true, settle}
	four := 4
	f.Fabric.IP = &four
	f.Fabric.Floor = &site.Floor{}
	f.Fabric.FarLink = f.Fabric.HostLink
	lag, least := 4, 4 // each is set in turn
	f.Fabric.Lag, f.Fabric.MinLinks = &lag, &least
	slow, clean, half := unit.Gbps, 0., 0.5
	f.Server.Baseboard.Links = []int{9}
	f.Events = []Event{{NewRate: NewRate{Rate: &slow, Share: &half}, BitErrors: BitErrors{&clean},
		UpDown: UpDown{Boot: &soon, Flap: &Flap{Period: soon, Count: 1}}, Detect: &soon, Converge: &soon}}
	mtu, xoff, room, pcie, data, cnp := unit.Bytes(9216), unit.MB, unit.KB, unit.Gbps, 24, 48
	f.Deviations = []Deviation{{MTU: &mtu, DSCP: map[string]int{"24": 0}, XOff: &xoff, Headroom: &room,
		DataDSCP: &data, CNPDSCP: &cnp, PCIe: &pcie}}
	for _, name := range cc.Names() {
		for param, value := range cc.Lookup(name).Profile("").Values(100 * unit.Gbps) {
			f.SetCC(name, param, value)
		}
	}
	for _, name := range route.Names() {
		for param, value := range route.Lookup(name).Defaults {
			f.setLB(param, value)
		}
	}
	for _, p := range protocols.All {
		for param, value := range p.Defaults {
			v := reflect.New(reflect.TypeOf(value))
			v.Elem().Set(reflect.ValueOf(value))
			member(member(reflect.ValueOf(f.Transport.Protocols).Elem(), p.Name), param).Set(v)
		}
	}
	d := &Document{File: f, b: binder{file: "x.yaml", where: map[string]place{}}}
	if err := d.inBounds(); err != nil {
		t.Fatalf("the defaults are out of bounds: %v", err)
	}
	tried := map[string]bool{}
	numbers(reflect.ValueOf(&d.File).Elem(), "", "", func(v reflect.Value, key, row string) {
		b := bounded[row]
		tried[row] = true
		if !v.CanSet() { // below a map, which TestBadInput's like try
			return
		}
		saved := reflect.ValueOf(v.Interface())
		d.b.where[key] = place{} // a 0 that is set is not a missing number
		for _, bad := range outside(b, v) {
			v.Set(bad)
			if err := d.inBounds(); err == nil || !strings.Contains(err.Error(),
				key+": ") || !strings.Contains(err.Error(), b.refusal("")) {
				t.Errorf("%s = %v: %v", key, bad, err)
			}
		}
		v.Set(saved)
	})
	if len(tried) != len(bounds) {
		for b := range bounded {
			if !tried[b] {
				t.Logf("not tried: %s", b)
			}
		}
		t.Errorf("%d of %d bounds tried", len(tried), len(bounds))
	}
}

// outside returns values just beyond a bound.
func outside(b *bound, v reflect.Value) (out []reflect.Value) {
	add := func(text string, step int64) {
		x := reflect.New(v.Type()).Elem()
		if setScalar(x, text, "") != nil {
			return
		}
		switch {
		case x.CanFloat():
			x.SetFloat(x.Float() + float64(step))
		case !x.CanUint():
			x.SetInt(x.Int() + step)
		case x.Uint() > 0 || step > 0: // none is below 0
			x.SetUint(x.Uint() + uint64(step))
		default:
			return
		}
		if b.zero && x.IsZero() {
			return
		}
		out = append(out, x)
	}
	if b.of != "" {
		add("9999", 0)
		add("0", -1)
		return out
	}
	add(b.min, -1)
	add(b.max, 1)
	return out
}

// What was accepted silently, and looped, overflowed or was ignored.
func TestFoundOutOfBounds(t *testing.T) {
	const text = "fabric: {kind: rail, hosts: 2, spines: 2}\nserver: {gpus: 2, nics: 2}\n"
	for set, want := range map[string]string{
		"output.sample=0s":                   "output.sample: 0s is out of range 100ns–3600s",
		"output.sample=1ps":                  "is out of range",
		"output.rows=-1":                     "is out of range",
		"switch.watchdog.poll=1ps":           "switch.watchdog.poll: 1ps is out of range 10us–3600s",
		"switch.watchdog.detect=1ps":         "is out of range",
		"switch.watchdog.restore=1ps":        "is out of range",
		"transport.window=-4096":             "transport.window: -4096 is out of range 64–65536",
		"transport.nak_after=-1":             "is out of range",
		"transport.cnp_dscp=99":              "transport.cnp_dscp: 99 is out of range 0–63",
		"fabric.planes=0":                    "fabric.planes: 0 is out of range 1–1024",
		"fabric.uplinks=-1":                  "is out of range",
		"fabric.host_link.rate=0bps":         "is out of range",
		"lb_options.interval=1ps":            "is out of range",
		"lb_options.utilisation=101":         "lb_options.utilisation: 101 is out of range 0–100",
		"lb_options.utilisation=NaN":         "is not a number",
		"lb_options.utilisation=Inf":         "is not a number",
		"switch.queues.3.probability=1e-300": "", // as good as 0
		"switch.queues.3.alpha=-0.1":         "switch.queues.3.alpha: -0.1 is out of range 0–1024",
		"switch.queues.3.weight=-1":          "is out of range",
		"switch.dscp.24=8":                   "switch.dscp.24: 8 is out of range 0–7",
		"cc.dcqcn.g=1e-300":                  "is out of range",
		"cc.dcqcn.f=-5":                      "is out of range",
		"cc.dcqcn.ai=500Gbps":                "cc.dcqcn.ai: 500Gbps is above the line rate of 400Gbps",
		"cc.dcqcn.hai=500Gbps":               "cc.dcqcn.hai: 500Gbps is above",
		"cc.dcqcn.min_rate=500Gbps":          "cc.dcqcn.min_rate: 500Gbps is above",
		"cc.dcqcn.cnp_interval=1000s":        "is out of range",
		"server.rx_xon=1GB":                  "server.rx_xon: 1GB is not below rx_xoff",
	} {
		d, err := Parse("x.yaml", []byte(text+"workload: {traffic: {permutation: {bytes: 1MB}}}\n"),
			[]string{set})
		if err == nil {
			_, err = d.Resolve(nil)
		}
		got := ""
		if all := field.All(err); all != nil {
			got = all[0].Path + ": " + all[0].Msg
		}
		if want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
	gpu := func(i int) string { return fmt.Sprintf("host-%d/gpu-%d", i%2+1, i/2%2+1) }
	ops := "workload:\n  ops:\n"
	for i := range 2000 {
		ops += fmt.Sprintf("  - {id: o%d, gpu: %s, compute: 3600s, after: [%s]}\n", i, gpu(i),
			map[bool]string{true: fmt.Sprintf("o%d", i-1)}[i > 0])
	}
	train := func(more string) string {
		return "workload: {training: {model: llama-2-7b, dp: 1, " + more + "}}\n"
	}
	for what, c := range map[string]struct{ text, want string }{
		"chained computing": {ops, "workload: could take 83.3 days"},
		"three computings": {"workload: {ops: [{id: a, gpu: host-1/gpu-1, compute: 4000000s}]}\n",
			"is out of range 0s–3600s"},
		"a slow transfer": {"workload: {traffic: {permutation: {bytes: 100000GB}}}\n", "fits"},
		"efficiency": {train("efficiency: 1e-10"),
			"workload.training.efficiency: 1e-10 is out of range 1–100"},
		"efficiency of 0": {train("efficiency: 0"), "is out of range"},
		"an endless layer": {train("efficiency: 1, micro_batch: 1048576, sequence: 16777216"),
			"workload.training.micro_batch: 32 layers of"},
	} {
		d, err := Parse("x.yaml", []byte(text+c.text), nil)
		if err == nil && what == "a slow transfer" {
			d.File.Fabric.HostLink.Rate, c.want = unit.Mbps, "workload: could take"
		}
		if err == nil {
			_, err = d.Resolve(nil)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}
