package validate

import (
	"math"

	"railyard/cc"
	"railyard/unit"
)

// nicSender holds the NIC's form of DCQCN to HPCC's code for it (rdma-hw.cc 618 to
// 737, "mlx"; docs/references.md, dcqcn-nic), with the values of HPCC's runs.
func nicSender() ([]Row, error) {
	const line = 100 * unit.Gbps
	const source = "HPCC rdma-hw.cc, mlx"
	par := cc.DCQCNNIC(line)
	const g = 1.0 / 256
	par.G, par.AlphaInit, par.MinRate = g, 1, unit.Gbps

	c := cc.NewDCQCN(&par, line)
	c.OnCNP(0)
	rows := []Row{exact("rate right after the first CNP", source+": it only starts the timers", line,
		c.Decision().Rate)}
	first := c.Decision().TimerAt
	c.OnTimer(first)
	rows = append(rows, exact("first cut after the first CNP", source+": RateDecreaseInterval and 1 ns",
		4001*unit.Nanosecond, first),
		within("rate after it, share of line", source+": alpha has decayed four times",
			1-math.Pow(1-g, 4)/2,
			float64(c.Decision().Rate)/float64(line), 1e-6, "%.5f"))

	c = cc.NewDCQCN(&par, line)
	now := unit.Time(0)
	for ; now < 20*unit.Millisecond; now += 4 * unit.Microsecond {
		for d := c.Decision(); d.TimerAt <= now; d = c.Decision() {
			c.OnTimer(d.TimerAt)
		}
		c.OnCNP(now)
	}
	// Of four updates one hears the CNP: alpha = g + (1-g)^4 alpha behind it.
	want := g / (1 - math.Pow(1-g, 4))
	rows = append(rows, within("alpha settles behind a CNP every 4 us", source+": g / (1-(1-g)^4)", want,
		c.Alpha(now-3*unit.Microsecond), 0.005, "%.4f"),
		within("and before the next", source+": three decays lower", want*math.Pow(1-g, 3), c.Alpha(now),
			0.005, "%.4f"))

	// HPCC's values, packets and thresholds for 400G (run.py). Its code lets so
	// much go before the first cut that the receiver's port never runs empty.
	r := must(finish(`
name: incast
fabric: {kind: fat-tree, k: 8, host_link: {rate: 400Gbps, delay: 1us}}
server: {nic_latency: 0s}
switch: {buffer: 128MB,
  queues: {"3": {wred_min: 1600KB, wred_max: 6400KB, probability: 20, xoff: 20MB, xon: 19MB}}}
transport: {mtu: 1024, ack_every: 1}
cc: {dcqcn: {profile: nic, g: 0.00390625, alpha_init: 1, min_rate: 1Gbps, cnp_interval: 0s}}
workload: {traffic: {incast: {bytes: 1MB, fan_in: 32}}}
`))
	s, _, _ := r.Outcome("")
	return append(rows, within("incast of 32 x 1 MB at 400 Gbit/s with HPCC's values ends at line rate, us",
		"closed form: 32 x bytes / rate; HPCC's code in ns-3 holds line rate",
		32e6*8/400e9*1e6*(1024+82)/1024,
		unit.Time(s.StepTime).Seconds()*1e6, 0.01, "%.1f")), nil
}
