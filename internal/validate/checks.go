package validate

import "strings"

// Check is a group of rows, and what computing them costs. This package starts no goroutine: the caller runs groups
// of a report at the same time if it wants to.
type Check struct {
	Name    string
	Seconds float64 // of one processor
	MB      int     // resident at most, while it runs alone
	Run     func() ([]Row, error)
	Part    *Check // rows of a long group that take seconds; nil: none, or the group is short
}

// Long is the number of seconds from which a group is long. `railyard validate --quick`, the gate and the tests
// omit a long group, or compute a part of it.
const Long = 5

// Long reports whether a group takes long.
func (c *Check) Long() bool { return c.Seconds >= Long }

// Quick is the part of the group that takes seconds; ok is false if it is empty.
func (c Check) Quick() (quick Check, ok bool) {
	switch {
	case !c.Long():
		return c, true
	case c.Part != nil:
		return *c.Part, true
	}
	return Check{}, false
}

// Quick omits long groups, and returns their names.
func Quick(checks []Check) (rest []Check, left string) {
	var whole, parts []string
	for _, c := range checks {
		q, ok := c.Quick()
		switch {
		case !ok:
			whole = append(whole, c.Name)
		case c.Long():
			parts = append(parts, c.Name)
		}
		if ok {
			rest = append(rest, q)
		}
	}
	if len(whole) > 0 {
		left = strings.Join(whole, ", ")
	}
	if len(parts) > 0 {
		if left != "" {
			left += "; "
		}
		left += "large scenarios of " + strings.Join(parts, ", ")
	}
	return rest, left
}

func group(name string, seconds float64, mb int, run func() ([]Row, error)) Check {
	return Check{Name: name, Seconds: seconds, MB: mb, Run: func() (rows []Row, err error) {
		defer caught(&err)
		return run()
	}}
}

// parted is a long group. Its rows without the large scenarios take some seconds.
func parted(name string, seconds float64, mb int, part float64, rows func(large bool) ([]Row, error)) Check {
	c := group(name, seconds, mb, func() ([]Row, error) { return rows(true) })
	p := group(name, part, mb, func() ([]Row, error) { return rows(false) })
	c.Part = &p
	return c
}

// Checks lists every check in the order of the report. Seconds and MB are the output of `time railyard validate GROUP`
// on two processors of an EPYC. They order the groups and separate large ones; outdated values cause no failure.
func Checks() []Check {
	return []Check{
		group("closed forms", 0.4, 70, closedForms),
		group("sharing", 0, 50, sharing),
		group("collectives", 1, 60, collectives),
		group("GOAL", 0.1, 50, logRows),
		group("jobs", 0, 50, jobRows),
		group("messages by chance", 0.2, 120, queueRows),
		group("storage", 0.5, 60, storageRows),
		group("the seed's job", 0.6, 90, seedRows),
		group("inside servers", 0.1, 60, insides),
		group("NVSwitch chips and PCIe switches", 0.1, 60, insideChips),
		parted("NVLink domains", 6, 440, 2, domainRows),
		group("NVSwitch", 0.1, 60, nvlsRows),
		parted("measured collectives", 5, 200, 0.9, measuredRows),
		group("calibration", 14, 160, calibrations),
		group("trees", 1.4, 180, trees),
		group("transport", 0, 40, transportRows),
		group("PFC cascade", 0, 40, cascade),
		group("DCQCN sequence", 0, 40, dcqcnSequence),
		group("scheduled", 1.8, 130, scheduledRows),
		group("endpoints or fabric", 2.9, 100, thesisRows),
		group("failures", 0.3, 60, failures),
		group("circuits", 0.1, 50, circuitRows),
		group("PFC watchdog", 0.1, 60, watchdog),
		group("WRED without marks", 0.1, 50, wredDrops),
		group("servers", 0.1, 50, serverRows),
		group("injected faults", 9, 230, plantedRows),
		group("headroom", 1.3, 60, headroom),
		group("SONiC's headroom", 0, 40, sonicHeadroom),
		group("PFC thresholds", 0, 50, thresholds),
		parted("DCQCN fixed point", 12, 210, 2.9, fixedPoint),
		group("DCQCN in NICs", 0, 50, nicSender),
		group("Swift", 0.6, 160, swiftRows),
		parted("credit", 24, 320, 0.1, creditRows),
		group("lone flows", 4.4, 100, loneFlows),
		parted("trimming", 6, 290, 0.8, trimRows),
		group("NSCC", 0.3, 60, uecRows),
		parted("uet", 270, 1400, 4, uetRows),
		group("UEC paths", 30, 310, uecPaths),
		parted("mrc", 17, 1250, 2, mrcRows),
		group("Falcon", 5, 130, falconRows),
		group("srd", 0.5, 130, srdRows),
		group("kernel TCP", 2, 90, tcpRows),
		group("structured EVs", 0.4, 80, structuredRows),
		group("port channels", 1.9, 70, channelRows),
		parted("HPCC", 8, 140, 1, hpccRows),
		parted("slowdown over size", 58, 330, 3, slowdownRows),
		group("CSIG", 0.7, 80, csigRows),
		group("IFA", 1, 80, ifaRows),
		group("EQDS tunnel", 2, 90, tunnelRows),
		group("ECMP", 0.7, 70, ballsInBins),
		parted("load balancing", 5.5, 100, 2.5, loadBalancing),
		group("Meta's RoCE", 23, 300, metaRows),
		parted("spraying", 10, 220, 1.9, spraying),
		group("dragonflies", 0.9, 140, dragonflies),
		parted("adaptive dragonflies", 70, 1800, 1, adaptiveDragonflies),
		group("latency over load", 17, 320, offeredRows),
		group("tori", 16, 330, tori),
		group("slow links", 20, 210, slowLinks),
		group("blame", 3.6, 80, counterfactuals),
		group("recovery", 1.6, 90, recoveryRows),
		group("reorder memory", 1.5, 80, reorderRows),
		group("shared NICs", 0, 40, sharedNICs),
		group("models", 0, 40, models),
		group("sizing", 0, 40, sizing),
		group("memory", 0, 40, memory),
		group("memory at its peak", 0, 40, peakRows),
		group("published layouts", 4, 120, practisedRows),
		group("fabric sizes", 0, 40, fabrics),
		group("switches", 0, 40, switchCounts),
		group("planes", 0, 40, planeCounts),
		group("traffic", 0.5, 430, traffic),
		group("pipelines", 0, 60, bubbles),
		parted("fidelity", 39, 500, 3, flowed),
		parted("what repeats", 90, 800, 2.5, repeated),
		parted("estimates", 12.8, 150, 2.2, estimates),
		parted("Megatron", 14.5, 180, 0, throughput),
		group("Llama 3", 0, 40, llama3),
		group("published", 2, 100, trainingRows),
		group("goodput", 0.2, 40, goodputs),
	}
}
