package validate

import (
	"fmt"

	"railyard/internal/result"
	"railyard/unit"
)

// Kim et al.'s balanced dragonfly (ISCA 2008, section 4.2) with p 2, a 4, h 2 and 9 groups: messages of one packet
// at random times, and switches that pause at 16 packets, the size of their buffers. Their dragonfly has p 4 and
// 1,056 terminals, its routers take a cycle, and its clock is not ours. So rows compare loads, and compare
// latencies only with each other.
const offeredLoad = `
name: load
fabric: {kind: dragonfly, k: 2, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
switch: {queues: {"3": {xoff: 67KB, xon: 33KB, wred_min: 0B, wred_max: 0B}}}
cc: {algorithm: none}
transport: {recovery: selective, write: only, nak_after: 32767, window: 32768}
workload: {traffic: {background: {load: 1, sizes: 4096B, for: 200us}}}
`

// offeredPoint is the result of it, and the number of links on packets' paths.
type offeredPoint struct {
	result.Load
	cables float64
}

// offered runs a routing at a load in percent.
func offered(lb, to string, percent float64, sets ...string) (offeredPoint, error) {
	if lb == "valiant" {
		sets = append(sets, "lb_options.per_packet=true")
	}
	r := must(finish(offeredLoad, append([]string{"lb=" + lb, "workload.traffic.background.to=" + to,
		fmt.Sprintf("workload.traffic.background.load=%g", percent)}, sets...)...))
	s, t, _ := r.Outcome("")
	if s.Drops > 0 || s.Deadlock != nil {
		return offeredPoint{}, fmt.Errorf("%s at %g %% lost %d packets, chains %+v", lb, percent, s.Drops, s.Deadlock)
	}
	alone := result.Alone{Base: float64(3 * unit.Microsecond)}
	return offeredPoint{result.NewLoad(t.Flows, float64(s.GPUs)*1e11, alone),
		float64(s.PacketHops) / float64(s.Packets)}, nil
}

// offeredRows are statements about their figures 8 and 14: the carried part of both loads for each routing, and the
// times of messages.
func offeredRows() (rows []Row, err error) {
	const worst = "next-group"
	const own = "lb_options.credits=false" // a switch sees only its own queues
	deep := []string{"switch.queues.3.xoff=268KB", "switch.queues.3.xon=134KB"}
	points := map[string]offeredPoint{}
	for _, p := range []struct {
		lb, to  string
		percent float64
		sets    []string
		as      string
	}{
		{"minimal", "all", 80, nil, "minimal 80"}, {"valiant", "all", 45, nil, "valiant 45"},
		{"valiant", "all", 70, nil, "valiant 70"}, {"ugal", "all", 80, nil, "ugal 80"},
		{"minimal", worst, 30, nil, "minimal worst"}, {"valiant", worst, 38, nil, "valiant worst"},
		{"ugal", worst, 45, nil, "ugal worst"}, {"ugal-g", worst, 45, nil, "ugal-g worst"},
		{"ugal", worst, 30, nil, "ugal 30"}, {"ugal-g", worst, 30, nil, "ugal-g 30"},
		{"ugal", worst, 30, deep, "ugal long"},
		{"ugal", worst, 30, []string{own}, "own 30"}, {"ugal", worst, 30, append(deep, own), "own long"},
		{"minimal", worst, 0.5, forLong, "minimal idle"}, {"valiant", worst, 0.5, forLong, "valiant idle"},
	} {
		points[p.as] = must(offered(p.lb, p.to, p.percent, p.sets...))
	}
	carries := func(as, what string) Row {
		p := points[as]
		return within(what+": share delivered", "Kim et al. 2008, figure 8", p.Drawn, p.Delivered, 0.04, "%.3f")
	}
	// Of 71 others, 64 are in other groups. Each detour crosses two cables between groups. Each host has one such
	// cable.
	most := 0.5 / (64. / 71)
	// A metre of cable takes 5.05 ns.
	cable := (unit.Serialize(4096+firstFrame+immDt+wireGap, 100*unit.Gbps) + unit.Time(30*5050)).Seconds()
	more := points["valiant idle"].cables - points["minimal idle"].cables
	rows = []Row{
		carries("minimal 80", "minimal routing takes uniform load to near capacity: 80 %"),
		carries("ugal 80", "UGAL by local queues does"),
		carries("valiant 45", "Valiant's detours take half of that: 45 %"),
		atMost("and no more: at 70 % they deliver", "two cables between groups, of one per host", most,
			points["valiant 70"].Delivered, "%.3f"),
		within("minimal routing delivers of the worst load", "1/ap", 1./8, points["minimal worst"].Delivered,
			0.03, "%.4f"),
		carries("valiant worst", "Valiant's detours take 38 % of the worst load, of a bound of 7/16"),
		carries("ugal-g worst", "UGAL by global queues takes 45 %"),
		carries("ugal worst", "UGAL by local queues takes 45 %"),
		atLeast("and is slow at loads between: at 30 %, of the time with global queues",
			"Kim et al. 2008, figure 8(b)", 1.5, ratio(points["ugal 30"], points["ugal-g 30"])).because(credits),
		atLeast("the more so the longer queues are: with 64 packets, of the time with 16",
			"Kim et al. 2008, figure 14", 1.5, ratio(points["ugal long"], points["ugal 30"])).because(credits),
		atLeast("the former where switches see their own queues alone (credits=false)",
			"Kim et al. 2008, figure 8(b)", 1.5, ratio(points["own 30"], points["ugal-g 30"])),
		atLeast("the latter there", "Kim et al. 2008, figure 14", 1.5, ratio(points["own long"], points["own 30"])),
		within(fmt.Sprintf("with no load detours, of %.2f cables more, take longer by, ns", more),
			"a packet's time on a cable of 30 m, for each", more*cable*1e9,
			float64(points["valiant idle"].Mean-points["minimal idle"].Mean)/1e3, 0.03, "%.0f"),
	}
	return rows, nil
}

var credits = reason("credits of the next switch",
	"A switch counts what the next one holds of its packets, one link delay later, and so sees a full link at another switch early. In Kim et al. it sees it once all buffers before it are full.",
	"lb_options.credits=false", "at least 1.5, as in Kim et al. (next rows)")

// forLong is long enough for figures of a network without load.
var forLong = []string{"workload.traffic.background.for=2ms"}

func ratio(a, b offeredPoint) float64 { return float64(a.Mean) / float64(b.Mean) }
