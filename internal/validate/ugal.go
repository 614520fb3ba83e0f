package validate

import (
	"fmt"

	"railyard/unit"
)

// Why UGAL-L differs.
const (
	deepBuffers = "without congestion control the buffers of detours are full, too, and twice what waits there may wait on the straight way: of 64 MB it fills the switch of the full cable, which then pauses what passes it. Kim et al. have buffers of 16 flits. The less a switch takes, the more is carried: on 342 hosts 0.29, 0.37, 0.39 with switch.queues.3.xoff of 240, 120, 30 KB; 30 KB closes the gap (row above)"
	stillLate   = "pauses of 30 KB come sooner than those of deep buffers, and later than credits for a few packets; with 16 KB Valiant's detours, too, lose a tenth; no setting closes the gap"
	lastFlow    = "the last flow counts here, and that one shares its groups' cable with several; flows on average end sooner than Valiant's, as the next row says"
	fewPairs    = "some pairs of groups have several flows in a permutation, whose cable is at another switch: their packets take detours later than Valiant's. lb=ugal-g, an ideal, has 0.333; no setting closes the gap"
	lateCuts    = "DCQCN cuts senders by marks before the full cable, whose queue then stays short, and on detours alike: without credits (lb_options.credits=false) switches see nothing of it, and 0.08 is carried. No setting of DCQCN's closes the gap"
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
		for _, load := range []struct{ name, workload, why string }{
			{"groups that send to their neighbours", toNeighbours(hosts, perGroup, c.bytes), deepBuffers},
			{"a permutation at random",
				fmt.Sprintf("workload: {traffic: {permutation: {bytes: %dB}}}\n", c.bytes), fewPairs},
		} {
			share, mean := map[string]float64{}, map[string]float64{}
			for _, lb := range []string{"minimal", "valiant", "ugal", "ugal-g"} {
				share[lb], mean[lb] = must2(shares(c.p, lb, load.workload, c.bytes))
			}
			where := fmt.Sprintf("%s, %d hosts", load.name, hosts)
			if load.name != "a permutation at random" {
				rows = append(rows, must(heldBack(c.p, where, hosts, perGroup, c.bytes))...)
				rows = append(rows, within("minimal routing, "+where+": share of what is injected",
					"Kim et al. 2008: 1/ap, one cable for all of a group", 1/float64(perGroup),
					share["minimal"], 0.03, "%.4f"))
			}
			const last = "share of what is injected, "
			const average = "share of line rate that flows get on average, "
			rows = append(rows, ugalRow("local", last+where, share["ugal"], share, load.why),
				ugalRow("global", last+where, share["ugal-g"], share, lastFlow),
				ugalRow("global", average+where, mean["ugal-g"], mean, ""))
		}
	}
	if !large {
		return rows, nil
	}
	longer, err := longMessages()
	return append(rows, longer), err
}

// longMessages is UGAL by local queues where buffers hold a small part of what is sent.
func longMessages() (Row, error) {
	const bytes = 64 * unit.MB
	by := map[string]float64{}
	for _, lb := range []string{"valiant", "ugal"} {
		by[lb], _ = must2(shares(2, lb, toNeighbours(72, 8, bytes), bytes))
	}
	return ugalRow("local", "share of what is injected, groups that send 64 MB to their neighbours, 72 hosts", by["ugal"],
		map[string]float64{"valiant": by["valiant"]}, ""), nil
}

// heldBack is UGAL by local queues where buffers do not fill: under DCQCN, the default, with messages long enough
// for it to settle, and where switches pause each other after seven packets.
func heldBack(p int, where string, hosts, perGroup int, bytes unit.Bytes) (rows []Row, err error) {
	const shallow = "switch: {queues: {3: {xoff: 30KB, xon: 20KB, wred_max: 0B, wred_min: 0B}}}\n"
	for _, c := range []struct {
		claim, more, set, why string
		bytes                 unit.Bytes
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
		rows = append(rows, ugalRow("local", "share of what is injected, "+c.claim+where, by["ugal"],
			map[string]float64{"valiant": by["valiant"]}, c.why))
	}
	return rows, nil
}

// ugalRow holds UGAL to the better of what it chooses between.
func ugalRow(queues, what string, got float64, by map[string]float64, why string) Row {
	best := max(by["minimal"], by["valiant"])
	r := Row{Claim: "UGAL by " + queues + " queues: " + what,
		Source:   "within 10 % of the better of minimal routing and Valiant's detours",
		Expected: fmt.Sprintf(">= %.3f", 0.9*best), Ours: fmt.Sprintf("%.3f", got),
		Diff: fmt.Sprintf("%+.2f %%", 100*(got/best-1)), OK: got >= 0.9*best}
	if !r.OK {
		r.Note = why
	}
	return r
}
