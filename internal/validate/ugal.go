package validate

import (
	"fmt"

	"railyard/unit"
)

// Why UGAL-L differs.
const (
	localOnly = "a switch sees its own queues alone, and the cable that all of a group want is at another switch: until that one pauses, each of the a - 1 others fills its own cable to there, (a-1)/ap of what is injected, and Ethernet's deep buffers hold most of these messages; those of 64 MB on 72 hosts are longer (last row). Kim et al. have buffers of a few packets; with switch.queues.3.xoff=30KB it is as the row above says. UGAL-G sees the cable itself"
	stillLate = "pauses of 30 KB come sooner than those of deep buffers, and later than credits for a few packets; with 16 KB Valiant's detours, too, lose a tenth"
	lastFlow  = "the last flow counts here, and that one shares its groups' cable with several; flows on average end sooner than Valiant's, as the next row says"
	fewPairs  = "some pairs of groups have several flows in a permutation, whose cable is at another switch: their packets take detours later than Valiant's"
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
			{"groups that send to their neighbours", toNeighbours(hosts, perGroup, c.bytes), localOnly},
			{"a permutation at random",
				fmt.Sprintf("workload: {traffic: {permutation: {bytes: %dB}}}\n", c.bytes), fewPairs},
		} {
			share, mean := map[string]float64{}, map[string]float64{}
			for _, lb := range []string{"minimal", "valiant", "ugal", "ugal-g"} {
				share[lb], mean[lb] = must2(shares(c.p, lb, load.workload, c.bytes))
			}
			where := fmt.Sprintf("%s, %d hosts", load.name, hosts)
			if load.name != "a permutation at random" {
				rows = append(rows, must(earlyPauses(c.p, where, load.workload, c.bytes)))
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

// earlyPauses is UGAL by local queues where switches pause each other after seven packets.
func earlyPauses(p int, where, workload string, bytes unit.Bytes) (Row, error) {
	const shallow = "switch: {queues: {3: {xoff: 30KB, xon: 20KB, wred_max: 0B, wred_min: 0B}}}\n"
	by := map[string]float64{}
	for _, lb := range []string{"valiant", "ugal"} {
		by[lb], _ = must2(shares(p, lb, workload+shallow, bytes))
	}
	return ugalRow("local", "share of what is injected, pauses from 30 KB on, "+where, by["ugal"],
		map[string]float64{"valiant": by["valiant"]}, stillLate), nil
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
