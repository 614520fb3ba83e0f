package validate

import (
	"fmt"
	"io/fs"

	"railyard/cc"
	"railyard/internal/hostconf"
	"railyard/internal/sim"
	"railyard/unit"
)

// Three servers that send to one, by switches that pause and mark early.
const hostBase = `
name: servers
fabric: {kind: rail-only, hosts: 4, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
switch: {buffer: 1500KB, queues: {3: {xoff: 200KB, xon: 100KB, wred_min: 100KB, wred_max: 180KB}}}
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-4/gpu-1, bytes: 4MB}
      - {from: host-2/gpu-1, to: host-4/gpu-1, bytes: 4MB}
      - {from: host-3/gpu-1, to: host-4/gpu-1, bytes: 4MB}
`

// serverRows compares simulated NICs that a server's file configures with NICs that the scenario's own keys
// configure. It also compares files that disable a feature with the expected effect.
func serverRows() ([]Row, error) {
	const source = "a configuration of the servers' tools in place of the scenario's keys"
	own := must(finish(hostBase, "cc.dcqcn.ai=40Mbps", "cc.dcqcn.rate_timer=60us", "cc.dcqcn.g=0.015625",
		"transport.qps=2"))
	w := hostconf.Wanted{Host: "server", NICs: 1, DSCP: 24, CNPDSCP: 48, Prio: 3, CNPPrio: 7, Lossless: 8,
		MTU: 9000, QPs: 2, Retries: 7, Params: cc.Values{"ai": 40 * unit.Mbps, "g": 0.015625,
			"rate_timer": 60 * unit.Microsecond}}
	var rows []Row
	for _, kind := range hostconf.Kinds {
		want := own
		if kind != "mlx5" { // the NIC's own parameters have no public units
			want = must(finish(hostBase, "transport.qps=2"))
		}
		w.Kind = kind
		h, _ := must2(hostconf.Make(w))
		text := ""
		for _, f := range hostconf.Write(h) {
			text += f.Text
		}
		got, err := served(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		rows = append(rows, exact("NICs set by "+kind+"'s tools, incast: last byte", source,
			wholeOf(want), wholeOf(got)))
	}
	more, err := deprived()
	return append(rows, more...), err
}

// wholeOf returns how long a run's transfers took.
func wholeOf(r *sim.Run) unit.Time {
	s, _, _ := r.Outcome("")
	return unit.Time(s.StepTime)
}

// served runs the scenario with a server's configuration.
func served(text string) (*sim.Run, error) {
	r := must(startWith(hostBase, func(name string) ([]byte, error) {
		if name != "server.sh" {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return []byte(text), nil
	}, "hosts.config=server.sh"))
	return r, r.Go(nil)
}

// deprived runs configurations that disable one feature.
func deprived() ([]Row, error) {
	const head = "mlnx_qos -i eth0 --trust dscp\necho 96 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class\n"
	of := func(text string) (drops, cnps int64, err error) {
		r := must(served(head + text))
		s, _, _ := r.Outcome("")
		return s.Drops, s.CNPs, nil
	}
	const on = "mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0\n"
	drops, cnps := must2(of(on))
	lost, _ := must2(of("mlnx_qos -i eth0 --pfc 0,0,0,0,0,0,0,0\n" +
		"echo 0 > /sys/class/net/eth0/ecn/roce_rp/enable/3\n"))
	_, none := must2(of(on + "echo 0 > /sys/class/net/eth0/ecn/roce_np/enable/3\n"))
	const source = "settings of mlnx_qos and ecn/"
	some := func(claim string, n int64) Row {
		return Row{Claim: claim, Source: source, Expected: "> 0", Ours: fmt.Sprint(n), Diff: "-", OK: n > 0}
	}
	return []Row{
		exact("mlnx_qos --pfc 0,0,0,1,0,0,0,0: packets lost", source, int64(0), drops),
		some("PFC and roce_rp off at the servers: packets lost", lost),
		some("roce_np on: CNPs", cnps),
		exact("roce_np/enable/3 0: CNPs", source, int64(0), none),
	}, nil
}
