package validate

import (
	"fmt"

	"railyard/unit"
)

var (
	stillLate = reason("UGAL-L with shallow buffers",
		"Until pauses of the full cable reach a switch, it sends straight what fills the buffers on that way. That is a part of messages of 256 packets, and all of it has to take the cable. Messages of 4 MB have what Valiant's detours have (last row).",
		"switch.queues.3.xoff=16KB switch.queues.3.xon=10KB", "0.347 where 0.332 is expected; with xoff=120KB 0.209. Credits or none, and bias, change less than seeds do")
	lastFlow = reason("the last flow of a permutation",
		"The last flow counts, and it shares the link of its groups with several. Flows on average end earlier than with Valiant's detours, as in the next row.",
		NoSetting, "the permutation decides; the mean over flows has no gap")
	fewPairs = reason("pairs of groups with several flows",
		"Some pairs of groups have several flows in a permutation, and their link is at another switch. Their packets take detours later than with Valiant.",
		NoSetting, "lb_options.bias=1KiB leaves 0.347 of the 0.348 expected, and lb=ugal-g, an ideal, has 0.333")
	lateCuts = reason("UGAL-L behind DCQCN",
		"DCQCN reduces rates by marks before the full link, whose queue stays short, so that switches send straight for longer than without it.",
		"lb_options.bias=0B", "0.286 where 0.274 is expected")
)

// adaptiveDragonflies compares minimal routing, Valiant's detours and UGAL on balanced dragonflies of three
// sizes, under the load that is worst for minimal routing and under the one that is best (Kim et al., ISCA
// 2008, figures 8 to 10; docs/references.md, deadlock-free).
func adaptiveDragonflies(large bool) (rows []Row, err error) {
	for _, c := range []struct {
		p     int
		bytes unit.Bytes
	}{{2, 4 * unit.MB}, {3, 2 * unit.MB}, {4, 1 * unit.MB}} {
		if c.p > 2 && !large {
			continue
		}
		perGroup := 2 * c.p * c.p
		hosts := perGroup * (perGroup + 1)
		for _, load := range []struct {
			name, workload string
			why            *Reason
		}{
			{"groups that send to their neighbours", toNeighbours(hosts, perGroup, c.bytes), nil},
			{"a permutation at random",
				fmt.Sprintf("workload: {traffic: {permutation: {bytes: %dB}}}\n", c.bytes), fewPairs},
		} {
			share, mean := map[string]float64{}, map[string]float64{}
			for _, lb := range []string{"minimal", "valiant", "ugal", "ugal-g"} {
				share[lb], mean[lb] = must2(shares(c.p, lb, load.workload, c.bytes))
			}
			where := fmt.Sprintf("%s, %d hosts", load.name, hosts)
			const last = "share of injected traffic, "
			const average = "share of line rate that flows get on average, "
			if load.why != nil {
				rows = append(rows, ugalRow("local", last+where, share["ugal"], share, load.why))
			} else {
				rows = append(rows, burst(c.p, where, share["ugal"]))
				rows = append(rows, must(takes(c.p, where))...)
				rows = append(rows, must(heldBack(c.p, where, hosts, perGroup, c.bytes))...)
				rows = append(rows, within("minimal routing, "+where+": share of injected traffic",
					"Kim et al. 2008: 1/ap, one cable for all of a group", 1/float64(perGroup),
					share["minimal"], 0.03, "%.4f"))
			}
			rows = append(rows, ugalRow("global", last+where, share["ugal-g"], share, lastFlow),
				ugalRow("global", average+where, mean["ugal-g"], mean, nil))
		}
	}
	if !large {
		return rows, nil
	}
	longer := must(longMessages())
	many, err := longBehindPauses()
	return append(rows, longer, many), err
}

// burst returns what UGAL by local queues carries of messages that all hosts send at the same time, without
// congestion control, into buffers that hold all of them. A switch of the balanced dragonfly has 3p-1 ports to
// others. Packets take the direct path while at most twice the bytes of a detour are queued there. The direct
// path's port thus takes two of 3p shares, for any size of messages. Each switch of the group sees what itself has
// sent to the full cable, so 4p/3 messages pass that one where a host sends one. It is how a backlog is divided,
// not what the network takes (takes).
func burst(p int, where string, got float64) Row {
	return within("UGAL by local queues: one burst into deep buffers, share of line rate, "+where,
		"arithmetic: 3/(4p), 2 of 3p shares of a group over one cable", 3/(4*float64(p)), got, 0.10, "%.3f")
}

// takes returns what UGAL by local queues takes of messages that arrive at random times, with buffers as Kim et al.
// have them. The latency over load of the smallest network is a group of its own.
func takes(p int, where string) ([]Row, error) {
	if p < 3 {
		return nil, nil
	}
	at, err := offered("ugal", "next-group", 42, fmt.Sprint("fabric.k=", p))
	return []Row{within("UGAL by local queues takes 42 % of the worst load: share delivered, "+where,
		"Kim et al. 2008, figure 8(b)", at.Drawn, at.Delivered, 0.04, "%.3f")}, err
}

// longMessages is UGAL by local queues where buffers hold a small part of what is sent.
func longMessages() (Row, error) {
	const bytes = 64 * unit.MB
	by := map[string]float64{}
	for _, lb := range []string{"valiant", "ugal"} {
		by[lb], _ = must2(shares(2, lb, toNeighbours(72, 8, bytes), bytes))
	}
	return ugalRow("local", "share of injected traffic, groups that send 64 MB to their neighbours, 72 hosts", by["ugal"],
		map[string]float64{"valiant": by["valiant"]}, nil), nil
}

// longBehindPauses is the largest network of heldBack with messages of 1,024 packets.
func longBehindPauses() (Row, error) {
	const bytes = 4 * unit.MB
	by := map[string]float64{}
	for _, lb := range []string{"valiant", "ugal"} {
		by[lb], _ = must2(shares(4, lb, toNeighbours(1056, 32, bytes)+shallow, bytes))
	}
	const what = "share of injected traffic, pauses from 30 KB on, groups that send 4 MB to their neighbours, 1056 hosts"
	return ugalRow("local", what, by["ugal"], map[string]float64{"valiant": by["valiant"]}, nil), nil
}

// shallow has switches pause each other after seven packets.
const shallow = "switch: {queues: {3: {xoff: 30KB, xon: 20KB, wred_max: 0B, wred_min: 0B}}}\n"

// heldBack is UGAL by local queues where buffers do not fill: under DCQCN, the default, with messages long enough
// for it to settle, and with shallow buffers.
func heldBack(p int, where string, hosts, perGroup int, bytes unit.Bytes) (rows []Row, err error) {
	for _, c := range []struct {
		claim, more, set string
		why              *Reason
		bytes            unit.Bytes
	}{
		{"pauses from 30 KB on, ", shallow, "cc.algorithm=none", stillLate, bytes},
		{"DCQCN, twice as much, ", "", "cc.algorithm=dcqcn", lateCuts, 2 * bytes},
	} {
		if c.set != "cc.algorithm=none" && p > 3 {
			continue // seconds
		}
		by := map[string]float64{}
		for _, lb := range []string{"valiant", "ugal"} {
			load := toNeighbours(hosts, perGroup, c.bytes) + c.more
			by[lb], _ = must2(shares(p, lb, load, c.bytes, c.set))
		}
		rows = append(rows, ugalRow("local", "share of injected traffic, "+c.claim+where, by["ugal"],
			map[string]float64{"valiant": by["valiant"]}, c.why))
	}
	return rows, nil
}

// ugalRow compares UGAL with the better of its two choices.
func ugalRow(queues, what string, got float64, by map[string]float64, why *Reason) Row {
	best := max(by["minimal"], by["valiant"])
	r := Row{Claim: "UGAL by " + queues + " queues: " + what,
		Source:   "within 10 % of the better of minimal routing and Valiant's detours",
		Expected: fmt.Sprintf(">= %.3f", 0.9*best), Ours: fmt.Sprintf("%.3f", got),
		Diff: fmt.Sprintf("%+.2f %%", 100*(got/best-1)), OK: got >= 0.9*best}
	return r.because(why)
}
