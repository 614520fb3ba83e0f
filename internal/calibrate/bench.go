package calibrate

import (
	"cmp"
	"fmt"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/measured"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/tally"
	"railyard/unit"
)

// Bench simulates measured points.
type Bench struct {
	Setup
	Start  scenario.Calibration // the scenario's existing calibration
	Points []Measurement
	Read   tally.Report // import statistics of the measurements

	hosts []string // names of servers with GPUs
	gpus  []int    // number of GPUs of each server
	done  int      // points
	known map[run]outcome
	first scenario.Calibration // initial calibration of the fit
	due   int                  // about how many there will be
	mtu   int                  // the scenario's path MTU; 0: it does not carry by RC
}

// run is a simulation for several points. Larger points scale like the largest one that the fit simulates.
type run struct {
	group string
	bytes unit.Bytes
	tuned unit.Bytes // the size for which NCCL's tuning model selects; 0: bytes
	cal   scenario.Calibration
	mtu   int
}

// outcome is a simulated result, and the estimate of NCCL's tuning model.
type outcome struct {
	seconds float64
	model   *coll.Choice
	runs    int
}

// Setup is the argument of a bench.
type Setup struct {
	Load     func() (*scenario.Document, error) // the scenario, anew each time
	Files    scenario.ReadFile                  // files of the scenario
	Simulate func(*scenario.Plan) (*result.Summary, error)
	Progress func(share float64, point string) // may be nil

	Aside     int        // every Nth point is held out; 0: none
	Most      unit.Bytes // maximum simulated bytes of a point, total over ranks; 0: mostBytes
	Largest   unit.Bytes // largest collective that the fit simulates with every change of a parameter
	Algorithm string     // algorithm of all-reduces; auto: as NCCL's tuning model has it
	Protocol  string     // protocol of collectives; "": auto
	Channels  int        // channels of rings; 0: one for each GPU of a server
	Step      float64    // measured step time of the scenario's training, seconds; 0: none
}

// Measurement is one point, and the work that does the same.
type Measurement struct {
	Point
	Group string // kind of the point
	Bytes unit.Bytes
	Model *coll.Choice // NCCL's tuning model for the last simulation; nil: none
	Runs  int          // runs of the last simulation, of which the last ones count; 0: one

	work    func(unit.Bytes) scenario.Workload // nil: the scenario's own
	on      []string                           // GPUs of a collective; nil: work is no collective
	size    unit.Bytes                         // of messages of which Bytes are several; 0: Bytes
	mtu     int                                // path MTU of the measurement; 0: the scenario's
	largest unit.Bytes                         // maximum bytes that the fit simulates
}

// maxPoints bounds how many points are fitted.
const maxPoints = 400

// NewBench reads the scenario and determines which of the measurements it can simulate.
func NewBench(s Setup, set *measured.Set) (*Bench, error) {
	doc, err := s.Load()
	if err != nil {
		return nil, err
	}
	plan, err := doc.Network(s.Files)
	if err != nil {
		return nil, err
	}
	b := &Bench{Setup: s, Read: set.Report, known: map[run]outcome{}}
	if plan.Default().Carried == nil {
		b.mtu = plan.RC.MTU
	}
	if doc.File.Calibration != nil {
		b.Start = *doc.File.Calibration
	}
	for h, host := range plan.Graph.Hosts {
		if first, last := plan.Graph.GPUsOf(h); last > first {
			b.hosts, b.gpus = append(b.hosts, plan.Graph.Nodes[host].Name), append(b.gpus, last-first)
		}
	}
	for _, x := range set.Table() {
		b.collective(&x)
	}
	for i := range set.Pairs {
		b.pair(&set.Pairs[i])
	}
	if s.Step > 0 {
		if doc.File.Workload.Training == nil {
			return nil, field.New("--step", "is how long a training step took, and the scenario has none")
		}
		b.Points = append(b.Points, Measurement{Point: Point{Name: "step", Measured: s.Step}, Group: "step"})
	}
	switch n := len(b.Points); {
	case n == 0:
		return nil, fmt.Errorf("nothing that was measured can be simulated on this scenario: %s", b.why())
	case n > maxPoints:
		return nil, fmt.Errorf("%d points are measured, at most %d are fitted; name fewer files", n, maxPoints)
	}
	b.keepAside()
	b.due = len(b.Points) * (3 + 3*len(Knobs))
	return b, nil
}

// Fit fits parameters: all that the points constrain or, with must, the named ones.
func (b *Bench) Fit(names []string) (*Fit, error) {
	params, err := Params(&b.Start, names)
	if err != nil {
		return nil, err
	}
	points := make([]Point, len(b.Points))
	for i := range b.Points {
		points[i] = b.Points[i].Point
	}
	return Run(params, points, len(names) > 0, b.model(params, b.time), b.model(params, b.whole))
}

// why returns the first reason for which a point was omitted.
func (b *Bench) why() string {
	if len(b.Read.Left) == 0 {
		return "contains no measurement"
	}
	return b.Read.Left[len(b.Read.Left)-1].Words()
}

// keepAside holds out every Nth point, except the smallest and largest of a kind, because inner points can be
// predicted from the outer ones.
func (b *Bench) keepAside() {
	if b.Aside == 0 {
		return
	}
	for i := range b.Points {
		g := b.Points[i].Group
		first := i == 0 || b.Points[i-1].Group != g
		last := i+1 == len(b.Points) || b.Points[i+1].Group != g
		end := first != last || i+1 == len(b.Points)
		b.Points[i].Held = (i+1)%b.Aside == 0 && !end
	}
}

func (b *Bench) leave(what, file string, line int) { tally.Note(&b.Read.Left, what, file, line) }

// seats returns the GPUs of n ranks on a number of servers, packed if the number is unknown.
func (b *Bench) seats(ranks, nodes int) (on []string, why string) {
	if nodes == 0 {
		for got := 0; got < ranks && nodes < len(b.gpus); nodes++ {
			got += b.gpus[nodes]
		}
	}
	if nodes > len(b.hosts) {
		return nil, fmt.Sprintf("points of %d servers, and the scenario has %d", nodes, len(b.hosts))
	}
	for k := range nodes {
		n := b.gpus[k]
		if ranks%nodes == 0 && ranks/nodes < n {
			n = ranks / nodes
		}
		for g := range min(n, ranks-len(on)) {
			on = append(on, fmt.Sprintf("%s/gpu-%d", b.hosts[k], g+1))
		}
	}
	if len(on) < ranks {
		return nil, fmt.Sprintf("points of %d ranks on %s, and the scenario's have %d", ranks,
			unit.Plural(nodes, "server"), len(on))
	}
	return on, ""
}

func (b *Bench) collective(x *measured.Collective) {
	switch {
	case x.Kind == coll.SendRecv:
		b.leave(fmt.Sprintf("points of %v, which is not a collective", x.Kind), x.File, x.Line)
		return
	case x.Ranks < 2:
		b.leave(fmt.Sprintf("points of %v whose ranks are not known (nccl-tests prints a line \"# Rank …\" of each)", x.Kind), x.File, x.Line)
		return
	}
	on, why := b.seats(x.Ranks, x.Nodes)
	if why != "" {
		b.leave(why, x.File, x.Line)
		return
	}
	kind := x.Kind.String()
	group := fmt.Sprintf("%s, %s", kind, unit.Plural(x.Ranks, "rank"))
	if x.Nodes > 0 {
		group += fmt.Sprintf(" on %d", x.Nodes)
	}
	algorithm, protocol := "auto", cmp.Or(b.Protocol, "auto")
	if x.Kind == coll.AllReduce {
		algorithm = b.Algorithm
	}
	if algorithm == coll.ByNVLS { // hardware that supports one algorithm only
		protocol = coll.Simple
	}
	b.Points = append(b.Points, Measurement{Group: group, Bytes: x.Bytes, on: on, largest: b.Largest,
		Point: Point{Name: fmt.Sprintf("%s, %v", group, x.Bytes), Measured: x.Time.Seconds()},
		work: func(n unit.Bytes) scenario.Workload {
			return scenario.Workload{Traffic: &scenario.Traffic{Collective: &scenario.CollSpec{Kind: kind,
				Bytes: n, Algorithm: algorithm, Protocol: protocol, Channels: b.Channels, Groups: "all"}}}
		}})
}

// Message sizes that determine parameters of a path.
const (
	stream   = 8 * unit.MiB  // posted together in bandwidth measurements
	leastBig = 64 * unit.KiB // smaller messages measure the message rate of a NIC
)

func (b *Bench) pair(x *measured.Pair) {
	switch {
	case len(b.hosts) < 2:
		b.leave("messages between servers, of which the scenario has one", x.File, x.Line)
		return
	case x.Verb != "write" && x.Verb != "send":
		b.leave("latencies and rates of "+x.Verb, x.File, x.Line)
		return
	case x.Both:
		b.leave("rates of both directions together", x.File, x.Line)
		return
	case !x.Latency && x.Bytes < leastBig:
		b.leave("rates of messages below 64KiB, which messages per second limit", x.File, x.Line)
		return
	}
	n, t := x.Bytes, x.Time.Seconds()
	group := x.Verb + " latency"
	if !x.Latency {
		group = x.Verb + " bandwidth"
		n = max(n, stream)
		t = float64(n) * 8 / float64(x.Rate)
	}
	if n < 1 || !(t > 0) {
		b.leave("rows without a time or a rate", x.File, x.Line)
		return
	}
	from, to := b.hosts[0]+"/gpu-1", b.hosts[1]+"/gpu-1"
	mtu := 0
	if x.MTU > 0 && b.mtu > 0 && int(x.MTU) != b.mtu {
		mtu = int(x.MTU)
		tally.Note(&b.Read.Guessed, fmt.Sprintf("rows of perftest, simulated with their path MTU %d, not %d", mtu, b.mtu),
			x.File, x.Line)
	}
	b.Points = append(b.Points, Measurement{Group: group, Bytes: n, size: x.Bytes, mtu: mtu, largest: unit.GiB,
		Point: Point{Name: fmt.Sprintf("%s, %v", group, x.Bytes), Measured: t},
		work: func(n unit.Bytes) scenario.Workload {
			return scenario.Workload{Ops: []scenario.Op{{ID: "message", GPU: from, Send: n, To: to}}}
		}})
}

// Size returns the size of a measurement's messages.
func (m *Measurement) Size() unit.Bytes { return cmp.Or(m.size, m.Bytes) }

// model returns the time of points for values of the parameters.
func (b *Bench) model(params []Param, time func(*Measurement, scenario.Calibration) (float64, error)) Model {
	b.first = b.Start
	for _, p := range params {
		Find(p.Name).Put(&b.first, p.Start)
	}
	return func(values []float64, want func(int) bool) ([]float64, error) {
		cal := b.Start
		for i, v := range values {
			Find(params[i].Name).Put(&cal, v)
		}
		out := make([]float64, len(b.Points))
		for i := range b.Points {
			if want != nil && !want(i) {
				continue
			}
			var err error
			if out[i], err = time(&b.Points[i], cal); err != nil {
				return nil, fmt.Errorf("%s: %w", b.Points[i].Name, err)
			}
			b.done++
			if b.Progress != nil {
				b.Progress(min(0.99, float64(b.done)/float64(b.due)), b.Points[i].Name)
			}
		}
		return out, nil
	}
}

// time returns the estimated time of a point, in seconds, for the fit. A point above the simulated size scales like
// the largest simulated one.
func (b *Bench) time(p *Measurement, cal scenario.Calibration) (float64, error) {
	if p.work == nil || p.Bytes <= p.largest {
		return b.once(p, p.Bytes, 0, cal)
	}
	whole, err := b.whole(p, b.first)
	if err != nil {
		return 0, err
	}
	was, err := b.once(p, p.largest, 0, b.first)
	if err != nil {
		return 0, err
	}
	is, err := b.once(p, p.largest, 0, cal)
	return whole * is / was, err
}

// mostBytes is the largest total of a point that is simulated in full: a minute's work.
const mostBytes = 512 * unit.GiB

// whole returns the time of a point in seconds, simulated with all its bytes. Beyond mostBytes it is extrapolated
// in proportion.
func (b *Bench) whole(p *Measurement, cal scenario.Calibration) (float64, error) {
	n := p.simulated(cmp.Or(b.Most, mostBytes))
	if n == p.Bytes {
		return b.once(p, n, 0, cal)
	}
	t, err := b.once(p, n, p.Bytes, cal)
	return t * float64(p.Bytes) / float64(n), err
}

// Simulated returns the simulated bytes of a point.
func (p *Measurement) Simulated() unit.Bytes { return p.simulated(mostBytes) }

func (p *Measurement) simulated(most unit.Bytes) unit.Bytes {
	if p.work == nil {
		return p.Bytes
	}
	return min(p.Bytes, max(p.largest, most/unit.Bytes(max(1, len(p.on)))))
}

// Total returns the number of bytes of a point over all its ranks.
func (p *Measurement) Total() unit.Bytes { return p.Bytes * unit.Bytes(max(1, len(p.on))) }

// Spec returns the collective that Time simulated of a point; nil if the point is none, on a part of the GPUs, or
// extrapolated.
func (b *Bench) Spec(point int) *scenario.CollSpec {
	p, gpus := &b.Points[point], 0
	for _, n := range b.gpus {
		gpus += n
	}
	if p.on == nil || len(p.on) != gpus || p.Simulated() != p.Bytes {
		return nil
	}
	spec := p.work(p.Bytes).Traffic.Collective
	spec.Repeat = p.Runs
	return spec
}

// Time returns the simulated time of a point, in seconds, with the calibration that the scenario has.
func (b *Bench) Time(point int) (float64, error) { return b.whole(&b.Points[point], b.Start) }

// once simulates a point with the given bytes, cached, as NCCL runs a collective of tuned bytes.
func (b *Bench) once(p *Measurement, n, tuned unit.Bytes, cal scenario.Calibration) (t float64, err error) {
	key := run{p.Group, n, tuned, cal, p.mtu}
	if o, ok := b.known[key]; ok {
		p.Model, p.Runs = o.model, o.runs
		return o.seconds, nil
	}
	p.Runs = 0
	summary, err := b.repeated(p, n, tuned, cal, 0)
	runs := iterations(n, cmp.Or(b.Most, mostBytes), len(p.on))
	if err == nil && runs > 1 && p.on != nil && summary.CNPs > 0 {
		p.Runs = runs
		summary, err = b.repeated(p, n, tuned, cal, runs)
	}
	if err != nil {
		return 0, err
	}
	took := unit.Time(summary.StepTime)
	if p.on != nil {
		took = summary.Iteration()
	}
	b.known[key] = outcome{took.Seconds(), p.Model, p.Runs}
	return took.Seconds(), nil
}

// iterations returns how many runs of a collective are simulated, for the time that the last ones add. It is more than
// one if congestion control reacts to the collective, because nccl-tests times runs after warm-up runs over the same
// queue pairs. The first CNP halves the rate of a queue pair for DCQCN's 300 us, and later ones take less. Ranks that
// end a run early begin the next one, so even long runs take less time than the first one.
func iterations(n, most unit.Bytes, ranks int) int {
	switch {
	case 3*n*unit.Bytes(max(1, ranks)) > most:
		return 1
	case n > 64*unit.MiB:
		return 3
	}
	return 5
}

// repeated simulates a point.
func (b *Bench) repeated(p *Measurement, n, tuned unit.Bytes, cal scenario.Calibration, runs int) (*result.Summary,
	error) {
	doc, err := b.Load()
	if err != nil {
		return nil, err
	}
	if doc.File.Calibration = &cal; p.mtu > 0 {
		doc.File.Transport.MTU = p.mtu
	}
	if p.work != nil {
		w := p.work(n)
		if runs > 0 {
			w.Traffic.Collective.Repeat = runs
		}
		doc.Instead(w, p.on)
		doc.TunedFor = tuned
	}
	plan, err := doc.Resolve(b.Files)
	if err != nil {
		return nil, err
	}
	p.Model = plan.Modelled
	return b.Simulate(plan)
}
