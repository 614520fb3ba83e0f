package goodput

// Set is a published set of failure rates.
type Set struct {
	Name  string
	Rates func() *Rates
}

// Sets are the failure rates that --rates takes by name; the first is the default. MegaScale (NSDI 2024) is not
// among them: it says how much time was left, not how often something failed.
var Sets = []Set{
	{"llama-3", Llama3},
	{"meta-rsc", of("Kokolis et al., HPCA 2025, arXiv 2410.21680: RSC-1, 6.50 failures per 1,000 node-days",
		Rate{Component: "host", Per: PerServer, Takes: "server", Events: 6.5, Days: 1_000, Units: 1})},
	{"opt", of("Zhang et al., OPT, arXiv 2205.01068, and its logbook: about 1.75 restarts a day on 992 GPUs",
		Rate{Component: "gpu", Events: 1.75, Days: 1, Units: 992})},
	{"bloom", of("Le Scao et al., BLOOM, arXiv 2211.05100: 1 to 2 GPU failures a week on 384 GPUs, 1.5 taken",
		Rate{Component: "gpu", Events: 1.5, Days: 7, Units: 384})},
}

// of is a set that says how often a job failed and not what in it did: all is booked to what the job has many of.
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
