package main

// group is a set of packages that gets an even share of the mutants.
type group struct {
	name     string
	packages []target
}

// target is a mutated package with the tests that should detect its mutants: the package's own tests, those of its
// importers, and groups of railyard validate. Importers that depend little on the package are omitted.
type target struct {
	path      string
	importers []string
	validate  []string
}

// table lists the mutated packages.
var table = []group{
	{"engine", []target{{"internal/engine",
		[]string{"internal/fabric", "internal/host", "internal/sim"},
		[]string{"closed forms", "PFC cascade"}}}},
	{"fabric", []target{{"internal/fabric",
		[]string{"internal/host", "internal/sim"},
		[]string{"PFC cascade", "PFC watchdog", "WRED without marks", "DCQCN sequence", "sharing",
			"port channels", "scheduled", "headroom", "tori", "trimming", "CSIG"}}}},
	{"queue", []target{{"internal/queue",
		[]string{"internal/fabric", "internal/host", "internal/scenario", "internal/swconf",
			"internal/swconf/nxos", "internal/swconf/sonic", "internal/swconf/nvue", "internal/diagnose",
			"internal/sim"},
		[]string{"SONiC's headroom", "headroom", "PFC thresholds", "WRED without marks", "DCQCN sequence",
			"scheduled", "trimming"}}}},
	{"cc", []target{{"cc",
		[]string{"cc/cctest", "internal/hostconf", "internal/host", "mrc", "rcudp", "internal/scenario",
			"internal/sim"},
		[]string{"DCQCN in NICs", "DCQCN fixed point", "Swift", "NSCC", "credit", "HPCC", "CSIG", "trimming"}}}},
	{"rc", []target{{"rc",
		[]string{"transport/window", "transport/transporttest", "internal/host", "rcudp", "internal/sim"},
		[]string{"transport", "closed forms", "recovery", "trimming"}}}},
	{"transport", []target{
		{"transport",
			[]string{"transport/transporttest", "transport/protocols", "internal/scenario", "internal/sim"},
			[]string{"srd"}},
		{"transport/window", []string{"srd", "falcon", "internal/sim"}, []string{"srd"}},
		{"mrc", []string{"transport/protocols", "rcudp", "internal/sim"}, []string{"mrc"}},
		{"srd", []string{"transport/protocols", "internal/sim"}, []string{"srd"}},
		{"falcon", []string{"transport/protocols", "internal/sim"}, nil},
	}},
	{"coll", []target{{"internal/coll",
		[]string{"internal/workload", "internal/measured", "internal/planner", "internal/trace",
			"internal/explain", "internal/exec", "internal/scenario", "internal/sim"},
		[]string{"collectives", "trees", "NVSwitch", "inside servers"}}}},
	{"exec", []target{{"internal/exec",
		[]string{"internal/explain", "internal/fidelity", "internal/sim"},
		[]string{"inside servers", "pipelines", "NVLink domains", "circuits", "storage"}}}},
}

// of returns the target of a mutant.
func (m *mutant) of() *target {
	for i := range m.group.packages {
		if t := &m.group.packages[i]; t.path == m.site.in.path {
			return t
		}
	}
	return nil
}
