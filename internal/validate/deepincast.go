package validate

import (
	"fmt"

	"railyard/unit"
)

// deepIncast is a preset in an incast in which many hosts of a fat tree send to one host. Cables take 1 us. Each
// host sends 2 MB in 489 packets, unless mib is set. The tree has 128 hosts, or 250 if that is too few.
type deepIncast struct {
	name   string
	fan    int
	mib    int
	gbps   int
	sets   []string
	around int // bytes around each payload, with preamble and gap
	trims  bool
	// most is the slowest flow's time relative to the receiver's link, of the published value.
	most  float64
	of    string
	htsim float64 // uet-htsim, us until the last acknowledgement; 0: it has no run with these settings
	cut   int     // packets that it trims; 0: not known
}

const (
	uetIncast127 = "uet-htsim, 127 to one, 2 MB, 100G: 20,891 to 21,029 us; docs/references.md, uet-results"
	uetDeep      = "uet-htsim's NSCC: +1 to +3 % at 100G, +3.2 to +4.4 % at 800G, 128 to one; docs/references.md, uet-results"
	uetDeepRuns  = "uet-htsim at 40ccb05, run by us with seeds 1, 2, 3 and 13; docs/references.md, uet-results"
	deepBound    = "the receiver's cable, +3 %"

	// Bytes around a payload: Ethernet with FCS, preamble and gap, IPv4, UDP, BTH, RETH in each packet and ICRC; METH
	// and TSETH of MRC; IPv6 and PSP of Falcon.
	rcAround     = 18 + 20 + 20 + 8 + 12 + 16 + 4
	mrcAround    = rcAround + 4 + 4
	falconAround = 190
)

var (
	falconBurst = reason("Falcon's first windows",
		"Each path begins with the bytes that it holds, 1.2 MB of a connection, and 20,000 packets of the first burst are dropped. Isekai's connections begin with 32 packets.",
		"cc.swift.profile=falcon", "1.007 (next row); it is not the default, because a lone flow of 2 MB then takes 132 us instead of 29")
	falconMany = reason("Falcon's windows below a packet",
		"508 windows, four of each sender, would queue for 170 us, and flow scaling adds at most 60 us to the target. Windows fall below a packet and the link idles.",
		"cc.swift.fs_range=20", "1.006")
	trimHeaders = reason("windows of one packet",
		"A window is a packet at least. The packets of 127 senders are 533 KB, and cable and queue hold 325 KB, so that 1.3 packets are trimmed for each one that arrives. Their headers take 4.5 % of the link's time: 148 B each with preamble and gap. uet-htsim trims to 64 B and has no gap.",
		"switch.trim.size=64B", "within the bound (rows \"packets trimmed to 64 B\")")
	trimBurst = reason("first windows at 800G",
		"A first window is 448 of a flow's 489 packets. Most are trimmed, in uet-htsim as many. Their headers take 3.3 % of the link's time: 148 B each with preamble and gap. uet-htsim trims to 64 B and has no gap.",
		"switch.trim.size=64B", "1.030 (rows \"packets trimmed to 64 B\"); cc.nscc.max_window=1 leaves 1.038")
	trimMRC = reason("windows of one packet, MRC",
		"A window is a packet at least, for NSCC and for a receiver's penalty. With 200 senders the cable and the queue hold 78 packets; the others send again a round trip after each trim, and each header takes 148 B of the link. uet-htsim's NSCC does not wait: of 200 to one it trims 285,456 packets, and is +4.5 % with headers of 64 B and no gap.",
		"switch.queues.3.limit=700KB", "1.010: the queue holds a packet of each; switch.trim.size=86B leaves 1.035")
	trimBurstMRC = reason("first windows at 800G, MRC",
		"A first window is 448 of a flow's 489 packets. Most are trimmed, and their headers take 3.1 % of the link's time: 148 B each with preamble and gap. uet-htsim trims to 64 B and has no gap.",
		"switch.trim.size=86B", "1.039")
	srdBurst = reason("SRD's first burst",
		"Each sender begins with a round trip at line rate, and 13,000 packets are dropped at full queues. Retransmissions wait for responses or time-outs, and the last flows raise their rates meanwhile.",
		"transport.srd.gain=1 switch.queues.3.limit=12MB", "1.027")
)

// deepIncasts compares what users get in such an incast with the rate of the receiver's cable, at three rates.
func deepIncasts() (rows []Row, err error) {
	const rccc, nscc = "cc.algorithm=rccc", "cc.algorithm=nscc"
	const small, either = "switch.trim.size=64B", "switch.trim.either=true" // as uet-htsim trims
	const long = "switch.queues.3.limit=700KB"
	for _, c := range []deepIncast{
		{"RCCC", 127, 0, 100, []string{"transport=uec", rccc}, rcAround, true, 1.03, uetIncast127, (20_891 + 21_029) / 2., 0},
		{"NSCC with RCCC", 127, 0, 100, []string{"transport=uec"}, rcAround, true, 1.03, uetIncast127, (20_891 + 21_029) / 2., 0},
		{"NSCC, packets trimmed to 64 B", 127, 0, 100, []string{"transport=uec", nscc, small, either}, rcAround, true, 1.03, uetDeep,
			21_029, 72_707},
		{"NSCC", 127, 0, 100, []string{"transport=uec", nscc}, rcAround, true, 1.03, uetDeep, 0, 0},
		{"NSCC, packets trimmed to 64 B", 127, 0, 800, []string{"transport=uec", nscc, small, either}, rcAround, true, 1.044, uetDeep,
			(2_640 + 2_655) / 2., (57_183 + 57_651) / 2},
		{"NSCC", 127, 0, 800, []string{"transport=uec", nscc}, rcAround, true, 1.044, uetDeep, 0, 0},
		{"MRC", 127, 0, 100, []string{"transport=mrc"}, mrcAround, true, 1.03, uetDeep, 0, 0},
		{"MRC, queues of 700 KB", 127, 0, 100, []string{"transport=mrc", long}, mrcAround, true, 1.03, uetDeep, 0, 0},
		{"MRC", 96, 0, 100, []string{"transport=mrc"}, mrcAround, true, 1.03, uetDeep, 0, 0},
		{"MRC", 16, 32, 100, []string{"transport=mrc"}, mrcAround, true, 1.03, uetDeep, 0, 0},
		{"MRC", 64, 0, 100, []string{"transport=mrc"}, mrcAround, true, 1.03, uetDeep, 0, 0},
		{"MRC", 200, 0, 100, []string{"transport=mrc"}, mrcAround, true, 1.03, uetDeep, 0, 0},
		{"MRC", 127, 0, 400, []string{"transport=mrc"}, mrcAround, true, 1.03, uetDeep, 0, 0},
		{"MRC", 127, 0, 800, []string{"transport=mrc"}, mrcAround, true, 1.044, uetDeep, 0, 0},
		{"SRD", 127, 0, 100, []string{"transport=srd"}, rcAround, false, 1.03, deepBound, 0, 0},
		{"SRD", 127, 0, 400, []string{"transport=srd"}, rcAround, false, 1.03, deepBound, 0, 0},
		{"SRD", 96, 0, 800, []string{"transport=srd"}, rcAround, false, 1.03, deepBound, 0, 0},
		{"Falcon", 127, 0, 100, []string{"transport=falcon"}, falconAround, false, 1.03, deepBound, 0, 0},
		{"Falcon", 127, 0, 800, []string{"transport=falcon"}, falconAround, false, 1.03, deepBound, 0, 0},
		{"Falcon with Isekai's constants (cc.swift.profile=falcon)", 127, 0, 800,
			[]string{"transport=falcon", "cc.swift.profile=falcon"}, falconAround, false, 1.03, deepBound, 0, 0},
	} {
		more, err := c.rows()
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func (c *deepIncast) rows() (rows []Row, err error) {
	k, hosts := 8, 128
	if c.fan >= hosts {
		k, hosts = 10, 250
	}
	bytes, size := 2_000_000, "2MB"
	if c.mib > 0 {
		bytes, size = c.mib<<20, fmt.Sprintf("%dMiB", c.mib)
	}
	r, err := finish(fmt.Sprintf(`
name: deep incast
fabric: {kind: fat-tree, k: %d, host_link: {rate: %dGbps, delay: 1us}, fabric_link: {rate: %[2]dGbps, delay: 1us}}
server: {gpus: 1, nics: 1}
workload: {traffic: {incast: {bytes: %s, fan_in: %d}}}
`, k, c.gbps, size, c.fan), c.sets...)
	if err != nil {
		return nil, err
	}
	s, _, _ := r.Outcome("")
	rate := float64(c.gbps) * 1e3 // bits per us
	wire := float64(c.fan*(bytes+(bytes+4095)/4096*c.around)) * 8 / rate
	slowest := unit.Time(s.Flows.Max).Micros() + 6*(1+(ackFrame+wireGap)*8/rate)
	claim := fmt.Sprintf("%s, %d to one on %d hosts, %dG", c.name, c.fan, hosts, c.gbps)
	if c.mib > 0 {
		claim += ", " + size
	}
	row := atMost(claim+": slowest over what the link must carry", c.of, c.most, slowest/wire, "%.4f")
	why := srdBurst
	switch {
	case c.name == "MRC" && c.gbps == 800:
		why = trimBurstMRC
	case c.name == "MRC":
		why = trimMRC
	case c.trims && c.gbps == 800:
		why = trimBurst
	case c.trims:
		why = trimHeaders
	case c.around == falconAround && r.Net.Drops == 0:
		why = falconMany
	case c.around == falconAround:
		why = falconBurst
	}
	rows = append(rows, row.because(why))
	if c.htsim > 0 {
		of := uetIncast127
		if c.gbps > 100 {
			of = uetDeepRuns
		}
		rows = append(rows, within(claim+": slowest, us", of, c.htsim, slowest, 0.02, "%.0f"))
	}
	if c.cut > 0 {
		rows = append(rows, within(claim+": trimmed packets", uetDeepRuns, float64(c.cut), float64(s.Trims), 0.1, "%.0f"))
	}
	if c.name == "MRC" && c.gbps == 100 {
		rows = append(rows, exact(claim+": retransmitted packets that were not trimmed", "trimming",
			0, int(s.Retransmissions-s.Trims)))
	}
	if c.trims {
		rows = append(rows, exact(claim+": drops", "trimming", 0, int(r.Net.Drops)))
	}
	return rows, nil
}
