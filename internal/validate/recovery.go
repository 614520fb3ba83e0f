package validate

import (
	"fmt"

	"railyard/internal/result"
	"railyard/unit"
)

// recoveryRows counts retransmissions per loss, by bit errors, by reordering and by both, with go-back-N for
// comparison. The lost packets include ACKs, which are not retransmitted, so a ratio may be slightly below 1.
func recoveryRows() ([]Row, error) {
	text := `
name: recovery
fabric: {kind: fat-tree, k: 8, host_link: {rate: 400Gbps, delay: 1us}}
cc: {algorithm: none}
transport: {recovery: selective, write: only}
workload: {traffic: {permutation: {bytes: 8MB}}}
`
	run := func(sets ...string) (*result.Summary, error) {
		r := must(finish(text, sets...))
		s, _, _ := r.Outcome("")
		return s, nil
	}
	const ber = "fabric.host_link.bit_error_rate=0.00000001"
	var rows []Row
	for _, c := range []struct {
		claim string
		sets  []string
	}{
		{"selective repeat under loss", []string{ber}},
		{"selective repeat under loss, nak_after 0", []string{ber, "transport.nak_after=0"}},
		{"selective repeat, packets sprayed at random, under loss", []string{ber, "lb=spray-random"}},
		{"selective repeat, packets sprayed in turn, under loss", []string{ber, "lb=spray"}},
	} {
		s := must(run(c.sets...))
		ratio := float64(s.Retransmissions) / float64(s.Drops)
		rows = append(rows,
			Row{Claim: c.claim + ": packets retransmitted per packet lost",
				Source:   "IRN, SIGCOMM 2018: only lost packets are retransmitted",
				Expected: "0.9 to 1.1", Ours: fmt.Sprintf("%.3f (%d of %d)", ratio, s.Retransmissions,
					s.Drops), Diff: "-",
				OK: ratio >= 0.9 && ratio <= 1.1},
			Row{Claim: c.claim + ": ACK timeouts of 67 ms waited out", Source: "IRN's RTO, docs/references.md, irn",
				Expected: "0",
				Ours:     fmt.Sprintf("%d in %.2f ms", s.Timeouts, float64(s.StepTime)/float64(unit.Millisecond)),
				Diff:     "-", OK: s.Timeouts == 0})
	}
	for _, lb := range []string{"spray-random", "spray"} {
		s := must(run("lb=" + lb))
		rows = append(rows,
			exact(
				fmt.Sprintf("selective repeat, lb=%s, nothing lost, %d of %d packets out of order: retransmitted", lb, s.OutOfOrder, s.DataPackets),
				"a late packet is not a lost one", 0, int(s.Retransmissions)))
	}
	gbn := must(run(ber, "transport.recovery=go-back-n"))
	ratio := float64(gbn.Retransmissions) / float64(gbn.Drops)
	return append(rows, Row{Claim: "go-back-N under the same loss: packets retransmitted per packet lost",
		Source:   "IBTA 9.7: what follows a gap is dropped",
		Expected: "> 10", Ours: fmt.Sprintf("%.1f (%d of %d)", ratio, gbn.Retransmissions, gbn.Drops),
		Diff: "-", OK: ratio > 10}), nil
}
