package scenario

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// bound is what one field may hold, written as in a scenario. The schema and Resolve
// both read it; what several fields must be together is checked where they are used.
type bound struct {
	key      string // [] stands for any place in a list, * for any name
	min, max string
	zero     bool   // also 0: not said, or the doc says what it means
	of       string // only these, instead of a range
}

// The largest and smallest of a kind, so that sums of them stay far from what 64 bits
// of picoseconds (106 days) and bytes hold.
const (
	slowest, fastest = "1Mbps", "100Tbps"
	longest          = "3600s"
	most             = "100000GB"
	memory           = "2000MB" // of a switch
)

// bounds has a row for every number of a scenario but the seed; a test holds it to that.
// Those of congestion control and load balancing stand with the algorithms and policies.
var bounds = slices.Concat(ccBounds(), lbBounds(), protocolBounds(), fixed,
	tagged(reflect.TypeFor[Switch](), "switch"), jobBounds())

// tagged are the rows of a block whose fields say their ranges themselves (range).
func tagged(t reflect.Type, row string) (rows []bound) {
	switch t.Kind() {
	case reflect.Array:
		return tagged(t.Elem(), row+".*")
	case reflect.Struct:
		for _, f := range keys(t) {
			at := field.Join(row, name(f))
			rows = append(rows, tagged(f.Type, at)...)
			if low, high, ok := strings.Cut(f.Tag.Get("range"), ","); ok {
				if f.Type.Kind() == reflect.Array {
					at += ".*"
				}
				rows = append(rows, bound{key: at, min: low, max: high})
			}
		}
	}
	return rows
}

// jobBounds are the rows of jobs, whose workloads may be what the one workload may be.
func jobBounds() []bound {
	rows := []bound{
		{key: "jobs[].gpus", min: "1", max: "1048576", zero: true},
		{key: "jobs[].start", min: "0s", max: longest},
		{key: "jobs[].dscp", min: "0", max: "63"},
	}
	for _, row := range fixed {
		if rest, ok := strings.CutPrefix(row.key, "workload."); ok {
			row.key = "jobs[]." + rest
			rows = append(rows, row)
		}
	}
	return rows
}

var fixed = []bound{
	{key: "fabric.hosts", min: "1", max: "131072", zero: true},
	{key: "fabric.segments", min: "1", max: "10000"},
	{key: "fabric.spines", min: "1", max: "1024", zero: true},
	{key: "fabric.uplinks", min: "1", max: "256", zero: true},
	{key: "fabric.pods", min: "1", max: "2048"},
	{key: "fabric.super_spines", min: "1", max: "4096", zero: true},
	{key: "fabric.super_uplinks", min: "1", max: "256"},
	{key: "fabric.planes", min: "1", max: "1024"},
	{key: "fabric.k", min: "1", max: "2048", zero: true},
	{key: "fabric.tiers", of: "2, 3"},
	{key: "fabric.ip", of: "4, 6"},
	{key: "fabric.lag", min: "1", max: "64"},
	{key: "fabric.min_links", min: "1", max: "64"},
	{key: "fabric.leaves", min: "1", max: "2048", zero: true},
	{key: "fabric.groups", min: "1", max: "131072", zero: true},
	{key: "fabric.group_size", min: "1", max: "512", zero: true},
	{key: "fabric.local_links", min: "1", max: "512", zero: true},
	{key: "fabric.global_links", min: "1", max: "512", zero: true},
	{key: "fabric.cubes[]", min: "1", max: "2048"},
	{key: "fabric.optics.spares", min: "0", max: "2048"},
	{key: "fabric.optics.reconfigure", min: "0s", max: "10s"},
	{key: "fabric.optics.swaps[].at", min: "0s", max: "86400s"},
	{key: "fabric.host_link.rate", min: slowest, max: fastest},
	{key: "fabric.host_link.cable", min: "0m", max: "100km"},
	{key: "fabric.host_link.delay", min: "0s", max: "1s"},
	{key: "fabric.host_link.bit_error_rate", min: "0", max: "0.01"},
	{key: "fabric.fabric_link.rate", min: slowest, max: fastest, zero: true},
	{key: "fabric.fabric_link.cable", min: "0m", max: "100km"},
	{key: "fabric.fabric_link.delay", min: "0s", max: "1s"},
	{key: "fabric.fabric_link.bit_error_rate", min: "0", max: "0.01"},
	{key: "fabric.far_link.rate", min: slowest, max: fastest, zero: true},
	{key: "fabric.far_link.cable", min: "0m", max: "100km"},
	{key: "fabric.far_link.delay", min: "0s", max: "1s"},
	{key: "fabric.far_link.bit_error_rate", min: "0", max: "0.01"},
	{key: "fabric.pipeline", min: "0s", max: "1s"},
	{key: "fabric.pause_response", min: "0s", max: "1s"},
	{key: "fabric.scheduled.cell", min: "32B", max: "16KiB"},
	{key: "fabric.scheduled.header", min: "0B", max: "4KiB"},
	{key: "fabric.scheduled.message", min: "1B", max: "4KiB"},
	{key: "fabric.scheduled.credit", min: "64B", max: "16MiB"},
	{key: "fabric.scheduled.speedup", min: "1", max: "4"},
	{key: "fabric.scheduled.egress", min: "64B", max: memory, zero: true},
	{key: "fabric.scheduled.timeout", min: "1us", max: "1s"},
	{key: "fabric.graph.switches[].tier", min: "0", max: "16"},
	{key: "fabric.graph.links[].rate", min: slowest, max: fastest, zero: true},
	{key: "fabric.graph.links[].cable", min: "0m", max: "100km"},
	{key: "fabric.graph.ocs[].ports", min: "2", max: "4096"},
	{key: "fabric.graph.ocs[].reconfigure", min: "0s", max: "10s"},
	{key: "fabric.graph.ocs[].schedule[].at", min: "0s", max: "86400s"},
	{key: "fabric.graph.links[].count", min: "0", max: "1024"},

	{key: "fabric.types[].gpus", min: "1", max: "576", zero: true},
	{key: "fabric.types[].nics", min: "1", max: "576", zero: true},
	{key: "fabric.types[].storage_nics", min: "1", max: "63", zero: true},
	{key: "fabric.types[].nic_ports", min: "1", max: "8", zero: true},
	{key: "fabric.types[].nic_rate", min: slowest, max: fastest, zero: true},
	{key: "fabric.types[].nvlink", min: slowest, max: fastest, zero: true},
	{key: "fabric.types[].nvlink_pair", min: slowest, max: fastest, zero: true},
	{key: "fabric.types[].tier", min: "1", max: "16", zero: true},
	{key: "fabric.types[].buffer", min: "1KB", max: memory, zero: true},
	{key: "fabric.types[].pipeline", min: "1ns", max: "1s", zero: true},
	{key: "fabric.types[].split", min: "1", max: "8", zero: true},
	{key: "fabric.nodes[].count", min: "1", max: "200000", zero: true},
	{key: "fabric.cables[].count", min: "1", max: "1024", zero: true},
	{key: "fabric.floor.rack", min: "100mm", max: "10m", zero: true},
	{key: "fabric.floor.row", min: "100mm", max: "1km", zero: true},
	{key: "fabric.floor.rise", min: "1mm", max: "100m", zero: true},
	{key: "fabric.floor.slack", min: "1mm", max: "100m", zero: true},
	{key: "fabric.floor.inside", min: "1mm", max: "100m", zero: true},
	{key: "fabric.cables[].lag", min: "1", max: "64", zero: true},
	{key: "fabric.cables[].min_links", min: "1", max: "64", zero: true},
	{key: "fabric.cables[].each", min: "1", max: "1024", zero: true},
	{key: "fabric.cables[].rate", min: slowest, max: fastest, zero: true},
	{key: "fabric.cables[].length", min: "0m", max: "100km"},
	{key: "fabric.cables[].fec", min: "0s", max: "1ms"},
	{key: "fabric.cables[].bit_error_rate", min: "0", max: "0.01"},

	{key: "server.gpus", min: "1", max: "576"},
	{key: "server.nics", min: "1", max: "576"},
	{key: "server.nic_ports", of: "1, 2"},
	{key: "server.nic_latency", min: "0s", max: "1s"},
	{key: "server.pcie", min: slowest, max: fastest, zero: true},
	{key: "server.rx_xoff", min: "1B", max: memory},
	{key: "server.rx_xon", min: "0B", max: memory},
	{key: "server.nvlink", min: slowest, max: fastest, zero: true},
	{key: "server.nvlink_domain", min: "1", max: "576", zero: true},
	{key: "server.nvlink_latency", min: "0s", max: "1s"},

	{key: "gpus[].bf16_tflops", min: "0.001", max: "1000000"},
	{key: "gpus[].fp8_tflops", min: "0.001", max: "1000000", zero: true},
	{key: "gpus[].fp4_tflops", min: "0.001", max: "1000000", zero: true},
	{key: "gpus[].memory", min: "1MB", max: "16TB"},
	{key: "gpus[].hbm", min: slowest, max: "1000Tbps"},
	{key: "gpus[].nvlink", min: slowest, max: fastest},
	{key: "gpus[].nvlink_pair", min: slowest, max: fastest, zero: true},

	{key: "transport.mtu", of: "256, 512, 1024, 2048, 4096"},
	{key: "transport.ack_every", min: "1", max: "65536"},
	{key: "transport.timeout", min: "0", max: "31"},
	{key: "transport.retries", min: "0", max: "7"},
	{key: "transport.window", min: "64", max: "65536"},
	{key: "transport.nak_after", min: "0", max: "65535"},
	{key: "transport.qps", min: "1", max: "128"},
	{key: "transport.data_dscp", min: "0", max: "63"},
	{key: "transport.cnp_dscp", min: "0", max: "63"},

	{key: "workload.trace.step", min: "0", max: "1000000000"},
	{key: "workload.training.tp", min: "1", max: "1048576"},
	{key: "workload.training.pp", min: "1", max: "1048576"},
	{key: "workload.training.dp", min: "1", max: "1048576"},
	{key: "workload.training.cp", min: "1", max: "1048576"},
	{key: "workload.training.ep", min: "1", max: "1048576"},
	{key: "workload.training.vpp", min: "1", max: "1048576"},
	{key: "workload.training.micro_batch", min: "1", max: "1048576"},
	{key: "workload.training.global_batch", min: "1", max: "1073741824", zero: true},
	{key: "workload.training.sequence", min: "1", max: "16777216"},
	{key: "workload.training.grad_bytes", of: "2, 4"},
	{key: "workload.training.bucket", min: "1KB", max: most},
	{key: "workload.training.efficiency", min: "0.1", max: "100"},
	{key: "workload.training.channels", min: "1", max: "64"},
	{key: "workload.training.zero", of: "0, 1, 2, 3"},
	{key: "storage.servers", min: "1", max: "4096", zero: true},
	{key: "storage.nics", min: "1", max: "64"},
	{key: "storage.nic_rate", min: slowest, max: fastest, zero: true},
	{key: "storage.switches", min: "1", max: "64"},
	{key: "storage.server_nics", min: "1", max: "64"},
	{key: "storage.read", min: slowest, max: fastest, zero: true},
	{key: "storage.write", min: slowest, max: fastest, zero: true},
	{key: "storage.latency", min: "0s", max: longest},
	{key: "storage.request", min: "512B", max: "1GB"},
	{key: "storage.command", min: "16B", max: "64KB"},
	{key: "storage.depth", min: "1", max: "4096"},
	{key: "storage.stripe", min: "1", max: "4096", zero: true},
	{key: "storage.capacity", min: "1MB", max: most, zero: true},
	{key: "storage.dscp", min: "0", max: "63"},
	{key: "workload.traffic.storage.read", min: "0B", max: most},
	{key: "workload.traffic.storage.write", min: "0B", max: most},
	{key: "workload.training.data.sample", min: "1B", max: "10GB", zero: true},
	{key: "workload.training.data.prefetch", min: "0", max: "1000"},
	{key: "workload.training.checkpoint.every", min: "1", max: "1000"},
	{key: "workload.training.checkpoint.bytes", min: "1", max: "64"},
	{key: "output.steps", min: "0", max: "1000"},
	{key: "workload.training.steps", min: "1", max: "1000"},
	{key: "workload.training.prefetch", min: "0", max: "1000"},
	{key: "workload.training.gathers", min: "1", max: "64", zero: true},

	{key: "workload.trace.bytes", min: "1B", max: most, zero: true},
	{key: "workload.trace.channels", min: "0", max: "64"},
	{key: "workload.traffic.collective.bytes", min: "1B", max: most},
	{key: "workload.traffic.collective.channels", min: "0", max: "64"},
	{key: "workload.traffic.collective.chunk", min: "1KB", max: most, zero: true},
	{key: "workload.traffic.permutation.bytes", min: "1B", max: most},
	{key: "workload.traffic.incast.bytes", min: "1B", max: most},
	{key: "workload.traffic.incast.fan_in", min: "1", max: "32767"},
	{key: "workload.traffic.background.load", min: "0.01", max: "1000"},
	{key: "workload.traffic.background.for", min: "1ns", max: longest},
	{key: "workload.traffic.alltoall.bytes", min: "1B", max: most},
	{key: "workload.traffic.ring-allreduce.bytes", min: "1B", max: most},
	{key: "workload.traffic.tree-allreduce.bytes", min: "1B", max: most},
	{key: "workload.traffic.halving-doubling.bytes", min: "1B", max: most},
	{key: "workload.traffic.all-gather.bytes", min: "1B", max: most},
	{key: "workload.traffic.reduce-scatter.bytes", min: "1B", max: most},
	{key: "workload.traffic.broadcast.bytes", min: "1B", max: most},
	{key: "workload.traffic.flows[].bytes", min: "1B", max: most},
	{key: "workload.traffic.flows[].start", min: "0s", max: longest},
	{key: "workload.ops[].compute", min: "0s", max: longest},
	{key: "workload.ops[].send", min: "0B", max: most},

	{key: "failures[].at", min: "0s", max: "86400s"},
	{key: "failures[].converge", min: "0s", max: longest},
	{key: "failures[].until", min: "0s", max: "86400s"},
	{key: "deviations[].mtu", min: "256B", max: "16KiB"},
	{key: "deviations[].dscp.*", min: "0", max: "7"},
	{key: "deviations[].xoff", min: "1KB", max: memory},
	{key: "deviations[].headroom", min: "1B", max: memory},
	{key: "deviations[].data_dscp", min: "0", max: "63"},
	{key: "deviations[].cnp_dscp", min: "0", max: "63"},
	{key: "deviations[].pcie", min: slowest, max: fastest},
	{key: "events[].at", min: "0s", max: "86400s"},
	{key: "events[].rate", min: slowest, max: fastest},
	{key: "events[].bit_error_rate", min: "0", max: "0.01"},
	{key: "events[].rate_share", min: "0.0001", max: "1"},
	{key: "events[].detect", min: "0s", max: longest},
	{key: "events[].converge", min: "0s", max: longest},
	{key: "events[].boot", min: "1ns", max: longest},
	{key: "events[].flap.period", min: "2ns", max: longest},
	{key: "events[].flap.duty", min: "0.001", max: "99.999", zero: true},
	{key: "events[].flap.count", min: "1", max: "10000"},
	{key: "fabric.routing.detect", min: "0s", max: longest},
	{key: "fabric.routing.converge", min: "0s", max: longest},
	{key: "on_failure.collective_timeout", min: "1ms", max: "86400s"},
	{key: "on_failure.restart", min: "0s", max: "864000s"},
	{key: "on_failure.checkpoint_every", min: "0s", max: "864000s"},
	{key: "calibration.message", min: "0s", max: "1ms"},
	{key: "calibration.nic_share", min: "1", max: "100", zero: true},
	{key: "calibration.nvlink_share", min: "1", max: "200", zero: true},
	{key: "calibration.launch", min: "0s", max: "100ms"},
	{key: "calibration.step", min: "0s", max: "10ms"},
	{key: "calibration.network_step", min: "0s", max: "10ms"},
	{key: "calibration.compute_share", min: "1", max: "500", zero: true},
	{key: "calibration.cnp_delay", min: "0s", max: "1ms"},
	{key: "calibration.cnp_interval", min: "1ns", max: "1s", zero: true},
	{key: "output.sample", min: "100ns", max: longest},
	{key: "output.rows", min: "1", max: "10000000"},
}

// bounded is the table by key.
var bounded = func() map[string]*bound {
	m := map[string]*bound{}
	for i := range bounds {
		m[bounds[i].key] = &bounds[i]
	}
	return m
}()

var inList, inArray = regexp.MustCompile(`\[\d+\]`), regexp.MustCompile(`\.\d+(\.|$)`)

// rowOf is the row of a key.
func rowOf(key string) string {
	return inArray.ReplaceAllString(inList.ReplaceAllString(key, "[]"), ".*$1")
}

// accepted describes the accepted values for the schema: 2 or 3, or between 1 and 64.
func (b *bound) accepted() string {
	if b.of != "" {
		if i := strings.LastIndex(b.of, ", "); i >= 0 {
			return b.of[:i] + " or " + b.of[i+2:]
		}
		return b.of
	}
	s := fmt.Sprintf("between %s and %s", b.min, b.max)
	if b.zero {
		s = "0 or " + s
	}
	return s
}

// refusal describes why a value is not accepted.
func (b *bound) refusal(found string) string {
	if b.of != "" {
		return found + " is not " + b.accepted()
	}
	s := fmt.Sprintf("%s is out of range %s–%s", found, b.min, b.max)
	if b.zero {
		s += ", or 0"
	}
	return s
}

// holds reports whether a number is accepted.
func (b *bound) holds(v reflect.Value) bool {
	if b.zero && v.IsZero() {
		return true
	}
	read := func(text string) reflect.Value {
		x := reflect.New(v.Type()).Elem()
		if err := setScalar(x, text, ""); err != nil {
			// the table is wrong: our bug
			panic("scenario: the bound " + text + " of " + b.key + ": " + err.Error())
		}
		return x
	}
	if b.of != "" {
		for _, text := range strings.Split(b.of, ", ") {
			if v.Equal(read(text)) {
				return true
			}
		}
		return false
	}
	switch {
	case v.CanFloat():
		return v.Float() >= read(b.min).Float() && v.Float() <= read(b.max).Float()
	case v.CanUint():
		return v.Uint() >= read(b.min).Uint() && v.Uint() <= read(b.max).Uint()
	}
	return v.Int() >= read(b.min).Int() && v.Int() <= read(b.max).Int()
}

// inBounds holds every number of a scenario to its row.
func (d *Document) inBounds() error {
	var faults field.List
	numbers(reflect.ValueOf(&d.File).Elem(), "", "", func(v reflect.Value, key, row string) {
		b := bounded[row]
		if b == nil || b.holds(v) || len(faults) == maxFaults {
			return
		}
		found := fmt.Sprint(v.Interface())
		switch x := v.Interface().(type) {
		case Length:
			found = x.String()
		case unit.Time:
			if x == 0 {
				found = "0s"
			}
		}
		faults = append(faults, field.New(key, "%s", b.refusal(found)))
	})
	return faults.Err()
}

// numbers visits every number that is present, with its key and its row's.
func numbers(v reflect.Value, key, row string, visit func(v reflect.Value, key, row string)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			numbers(v.Elem(), key, row, visit)
		}
	case reflect.Struct:
		for _, f := range keys(v.Type()) {
			if optional(f) && at(v, f).IsZero() {
				continue
			}
			numbers(at(v, f), field.Join(key, name(f)), field.Join(row, name(f)), visit)
		}
	case reflect.Map:
		for _, k := range mapKeys(v) {
			numbers(v.MapIndex(reflect.ValueOf(k)), field.Join(key, k), field.Join(row, "*"), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			numbers(v.Index(i), field.At(key, i), row+"[]", visit)
		}
	case reflect.Array:
		for i, e := range elements(v) {
			numbers(e, field.Join(key, strconv.Itoa(i)), row+".*", visit)
		}
	case reflect.Int, reflect.Int64, reflect.Float64, reflect.Uint8, reflect.Uint:
		visit(v, key, row)
	}
}
