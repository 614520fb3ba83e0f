package goodput

// Set is a published set of failure rates.
type Set struct {
	Name  string
	Rates func() *Rates
}

// Sets are the failure rates that --rates takes by name; the first is the default. MegaScale (NSDI 2024) is not
// included: it states the effective time, not the failure rate.
var Sets = []Set{
	{"llama-3", Llama3},
	{"meta-rsc", of("Kokolis et al., HPCA 2025, arXiv 2410.21680: RSC-1, 6.50 failures per 1,000 node-days",
		Rate{Component: "host", Per: PerServer, Takes: "server", Events: 6.5, Days: 1_000, Units: 1})},
	{"opt", of("Zhang et al., OPT, arXiv 2205.01068, and its logbook: about 1.75 restarts a day on 992 GPUs",
		Rate{Component: "gpu", Events: 1.75, Days: 1, Units: 992})},
	{"bloom", of("Le Scao et al., BLOOM, arXiv 2211.05100: 1 to 2 GPU failures a week on 384 GPUs, 1.5 taken",
		Rate{Component: "gpu", Events: 1.5, Days: 7, Units: 384})},
}

// of returns a set with a job's failure rate without components. The whole rate belongs to the most numerous
// component.
func of(source string, all Rate) func() *Rates {
	return func() *Rates { return &Rates{Source: source, Rates: []Rate{all}} }
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
