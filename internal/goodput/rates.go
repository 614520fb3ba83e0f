package goodput

import (
	"fmt"
	"io"
	"math"
	"regexp"

	"railyard/internal/field"
)

// Component is a part of a job that can fail.
type Component struct {
	Name  string
	Per   string // component with whose number it scales
	Takes bool   // whether its failure takes the server out of service until repair
	About string
}

// Components that rates can scale with.
const (
	PerGPU    = "gpu"
	PerServer = "server"
	PerJob    = "job"
)

// Components are the parts that Llama 3's table has (arXiv 2407.21783, table 5). Default numbers of each, and
// whether a failure takes the server, are assumptions. Parts of a GPU and its network scale with the GPUs, parts of
// a server with the servers, and software is one per job.
var Components = []Component{
	{"gpu", PerGPU, true, "a faulty GPU, NVLink included"},
	{"hbm", PerGPU, true, "a GPU's HBM3"},
	{"software", PerJob, false, "a bug in software"},
	{"network", PerGPU, true, "a switch or cable of the network"},
	{"maintenance", PerServer, true, "unplanned maintenance of a host"},
	{"sram", PerGPU, true, "a GPU's SRAM"},
	{"gpu-processor", PerGPU, true, "a GPU's system processor"},
	{"nic", PerGPU, true, "a NIC"},
	{"nccl-timeout", PerGPU, false, "a time-out of NCCL's watchdog, cause unknown"},
	{"silent-corruption", PerGPU, true, "a GPU that computes wrong values"},
	{"thermal", PerGPU, true, "a GPU's thermal interface and sensor"},
	{"ssd", PerServer, true, "a disk"},
	{"power", PerServer, true, "a power supply"},
	{"chassis", PerServer, true, "a server's chassis"},
	{"io-board", PerServer, true, "an expansion board"},
	{"dependency", PerJob, false, "a service that the job needs"},
	{"cpu", PerServer, true, "a CPU"},
	{"memory", PerServer, true, "a server's memory"},
}

// Rates are the failure rates of components.
type Rates struct {
	Source string `yaml:"source" json:"source"`
	Rates  []Rate `yaml:"rates" json:"rates"`
}

// Rate is the failure rate of one component: an observation, or the time between failures of one of them, or a
// number per second.
type Rate struct {
	Component string  `yaml:"component" json:"component"`
	Events    float64 `yaml:"events" json:"events,omitempty"` // period in days
	Days      float64 `yaml:"days" json:"days,omitempty"`
	Units     int     `yaml:"units" json:"units,omitempty"` // GPUs, servers or jobs that were observed
	MTBF      float64 `yaml:"mtbf_hours" json:"mtbf_hours,omitempty"`
	Second    float64 `yaml:"per_second" json:"per_second,omitempty"`
	Per       string  `yaml:"per" json:"per,omitempty" enum:"gpu,server,job"`
	Takes     string  `yaml:"takes" json:"takes,omitempty" enum:"server,nothing"`
}

// Llama3 returns the rates that Meta observed in 54 days of training Llama 3 405B on 16,384 GPUs. Failures of
// software and of the job's dependencies are assumed to scale with the GPUs, because a job on 8 GPUs does not crash
// daily.
func Llama3() *Rates {
	const gpus, servers = 16_384, 2_048
	r := &Rates{Source: "Grattafiori et al., The Llama 3 Herd of Models, arXiv 2407.21783, table 5: 419 unexpected interruptions in 54 days on 16,384 GPUs"}
	counts := []float64{148, 72, 54, 35, 32, 19, 17, 7, 7, 6, 6, 3, 3, 2, 2, 2, 2, 2}
	for i, n := range counts {
		r.Rates = append(r.Rates, Rate{Component: Components[i].Name, Events: n, Days: 54, Units: gpus})
		switch x := &r.Rates[i]; Components[i].Per {
		case PerServer:
			x.Units = servers
		case PerJob:
			x.Per = PerGPU
		}
	}
	return r
}

// names are the components' names.
func names() (all []string) {
	for _, c := range Components {
		all = append(all, c.Name)
	}
	return all
}

// part is a component as a job has it.
type part struct {
	name   string
	second float64 // failures per second of all of them together
	takes  bool
	job    bool // whether the rate is per job, for any number of servers
}

// named is the accepted form of user-defined component names.
var named = regexp.MustCompile(`^[\pL\pN][\pL\pN ._-]{0,39}$`)

// mostPerSecond is the maximum rate of failures.
const mostPerSecond = 1

// of returns the rate of one unit per second, with its key.
func (r *Rate) of() (perSecond float64, key string, err error) {
	said := 0
	for _, f := range []struct {
		key string
		v   float64
	}{{"events", r.Events}, {"days", r.Days}, {"units", float64(r.Units)}, {"mtbf_hours", r.MTBF},
		{"per_second", r.Second}} {
		if f.v < 0 {
			return 0, "", field.New(f.key, "is negative: %g", f.v)
		}
	}
	for _, v := range []float64{r.Events, r.MTBF, r.Second} {
		if v > 0 {
			said++
		}
	}
	switch {
	case said > 1:
		return 0, "", field.New("", "give one of events, mtbf_hours and per_second")
	case r.MTBF > 0:
		return 1 / (r.MTBF * 3600), "mtbf_hours", nil
	case r.Events > 0 && (r.Days == 0 || r.Units == 0):
		return 0, "", field.New("events", "needs days and units: the number of events in how many days, on how many units")
	case r.Events > 0:
		return r.Events / (r.Days * 86400 * float64(r.Units)), "events", nil
	case r.Days > 0 || r.Units > 0:
		return 0, "", field.New("", "days and units have no effect without events")
	}
	return r.Second, "per_second", nil
}

// Check refuses impossible rates for a job of the given GPUs. Errors have their paths.
func (r *Rates) Check(gpus, perServer int) error {
	_, err := r.parts(gpus, perServer)
	return err
}

// parts returns the components of a job of the given GPUs. Errors have the paths of the rates.
func (r *Rates) parts(gpus, perServer int) ([]part, error) {
	var out []part
	var faults field.List
	fault := func(i int, err error) { faults = append(faults, field.All(field.Under(field.At("rates", i), err))...) }
	seen := map[string]bool{}
	sum := 0.0
	for i := range r.Rates {
		x := &r.Rates[i]
		c := find(x.Component)
		if c == nil && x.Per == "" {
			fault(i, field.Choice("component", x.Component, names(), "unknown component %s, which needs per: gpu, server or job",
				field.Quote(x.Component)))
			continue
		}
		if c == nil && !named.MatchString(x.Component) {
			fault(i, field.New("component", "%s is not a valid name; accepted: up to 40 letters, digits, spaces, dots and dashes",
				field.Quote(x.Component)))
			continue
		}
		if seen[x.Component] {
			fault(i, field.New("component", "%s is repeated", x.Component))
			continue
		}
		seen[x.Component] = true
		one, key, err := x.of()
		if err == nil && one > mostPerSecond {
			err = field.New(key, "%.4g failures a second of one %s; at most %d are simulated", one,
				x.Component, mostPerSecond)
		}
		if err != nil {
			fault(i, err)
			continue
		}
		p := part{name: x.Component, takes: c != nil && c.Takes && x.Takes == "" || x.Takes == "server"}
		per := x.Per
		if per == "" {
			per = c.Per
		}
		switch per {
		case PerGPU:
			p.second = one * float64(gpus)
		case PerServer:
			p.second = one * float64((gpus+perServer-1)/perServer)
		case PerJob:
			p.second, p.job = one, true
		}
		if p.second > 0 {
			out = append(out, p)
		}
		sum += p.second
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if sum > mostPerSecond || math.IsNaN(sum) {
		return nil, field.New("rates", "together %.4g failures a second of the whole job; at most %d are simulated", sum, mostPerSecond)
	}
	return out, nil
}

func find(name string) *Component {
	for i := range Components {
		if Components[i].Name == name {
			return &Components[i]
		}
	}
	return nil
}

// Write writes rates as a file that --rates takes.
func (r *Rates) Write(w io.Writer) {
	fmt.Fprintf(w,
		"# How often components fail: events in days on units that were observed, or mtbf_hours, or\n"+
			"# per_second of one of them. per: gpu, server or job; takes: server (until it is repaired) or\n"+
			"# nothing. Components of other names need per, and take no server by default.\n"+
			"source: %q\nrates:\n", r.Source)
	for _, x := range r.Rates {
		per := ""
		if x.Per != "" {
			per = ", per: " + x.Per
		}
		fmt.Fprintf(w, "  - {component: %s, events: %g, days: %g, units: %d%s}\n", x.Component, x.Events, x.Days, x.Units, per)
	}
}
