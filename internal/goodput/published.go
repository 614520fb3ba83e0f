package goodput

// Set is a published set of failure rates.
type Set struct {
	Name string
	GPUs int // of the job that was observed
	Days float64
	// Events are failures of the whole job in that time.
	Events float64
	Rates  func() *Rates
}

// Sets are the failure rates that --rates takes by name; the first is the default. MegaScale (NSDI 2024) is not
// among them: it says how much time was left, not how often something failed.
var Sets = []Set{
	{"llama-3", 16_384, 54, 419, Llama3},
	{"meta-rsc", 16_384, 1_000, 6.5 * 2_048, func() *Rates {
		return &Rates{Source: "Kokolis et al., HPCA 2025, arXiv 2410.21680: RSC-1, 6.50 failures per 1,000 node-days",
			Rates: []Rate{{Component: "host", Per: PerServer, Takes: "server", Events: 6.5, Days: 1_000, Units: 1}}}
	}},
	whole("opt", "Zhang et al., OPT, arXiv 2205.01068, and its logbook: about 1.75 restarts a day on 992 GPUs", 992, 1, 1.75),
	whole("bloom", "Le Scao et al., BLOOM, arXiv 2211.05100: 1 to 2 GPU failures a week on 384 GPUs, 1.5 taken", 384, 7, 1.5),
}

// whole is a set that says how often a job failed and not what in it did: all of it is booked to GPUs, so that it
// grows with the job.
func whole(name, source string, gpus int, days, events float64) Set {
	return Set{name, gpus, days, events, func() *Rates {
		return &Rates{Source: source, Rates: []Rate{{Component: "gpu", Events: events, Days: days, Units: gpus}}}
	}}
}

// Named returns a published set.
func Named(name string) (*Rates, bool) {
	for _, s := range Sets {
		if s.Name == name {
			return s.Rates(), true
		}
	}
	return nil, false
}

// SetNames are the names of published sets.
func SetNames() (all []string) {
	for _, s := range Sets {
		all = append(all, s.Name)
	}
	return all
}
