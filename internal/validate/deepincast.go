package validate

import (
	"fmt"

	"railyard/unit"
)

// deepIncasts holds the presets of UEC and MRC to the wire where all other hosts of a fat tree with k = 8 send
// 2 MB each to one: 127 of 489 packets with 82 B around each payload. uet-htsim's runs of it end between 20,891
// and 21,029 us, with the last acknowledgement (docs/references.md, uet-results).
func deepIncasts() (rows []Row, err error) {
	const (
		wire   = 127 * (2_000_000 + 489*82) * 8 / 100e3 // us
		htsim  = (20_891 + 21_029) / 2.
		limit  = 1.03
		source = "the receiver's cable; uet-htsim: 1.01 to 1.02, docs/references.md, uet-results"
	)
	for _, c := range []struct {
		claim string
		sets  []string
		uec   bool
	}{
		{"RCCC, 127 to one on 128 hosts", []string{"transport=uec", "cc.algorithm=rccc"}, true},
		{"NSCC with RCCC, 127 to one on 128 hosts", []string{"transport=uec"}, true},
		{"MRC, 127 to one on 128 hosts", []string{"transport=mrc"}, false},
	} {
		r, err := finish(`
name: deep incast
fabric: {kind: fat-tree, k: 8, host_link: {rate: 100Gbps, delay: 1us}, fabric_link: {rate: 100Gbps, delay: 1us}}
server: {gpus: 1, nics: 1}
workload: {traffic: {incast: {bytes: 2MB, fan_in: 127}}}
`, c.sets...)
		if err != nil {
			return nil, err
		}
		s, _, _ := r.Outcome("")
		slowest := unit.Time(s.Flows.Max).Micros() + ackBack
		of := source
		if !c.uec {
			of = "the receiver's cable, +3 %"
		}
		row := atMost(c.claim+": slowest over what the link must carry", of, limit, slowest/wire, "%.4f")
		if rows = append(rows, row); c.uec {
			rows = append(rows, within(c.claim+": slowest, us", "uet-htsim, 20,891 to 21,029; docs/references.md, uet-results", htsim, slowest,
				0.02, "%.0f"))
		} else if !row.OK {
			rows[len(rows)-1].Note = fmt.Sprintf("senders learn of the incast from trimmed packets: headers of %d, 148 B each "+
				"with preamble and gap, take %.1f %% of the cable's time. Receivers that grant credit close the gap: transport=uec",
				s.Trims, 100*float64(s.Trims)*148*8/100e3/slowest)
		}
		rows = append(rows, exact(c.claim+": drops", "trimming", 0, int(r.Net.Drops)))
	}
	return rows, nil
}
