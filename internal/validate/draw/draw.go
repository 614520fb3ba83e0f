// Package draw creates random scenarios, for checks whose input their author must not choose: fabrics of every kind,
// all transports, controls and load balancing, failures, several jobs, patterns, trainings and traces. Each is drawn so
// that one cause is likely to lose time, which a run may not confirm. A seed and a number decide a scenario.
//
//	c, err := draw.New(7, 12)
//	s := whatif.Scenario{Name: c.Name, Text: []byte(c.Text), Read: c.Read}
package draw

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/rng"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/internal/topo"
)

// MostHosts is the maximum number of servers of a scenario, MostHops the maximum of estimated packet-hops.
const (
	MostHosts = 64
	MostHops  = 1_200_000
)

// Case is one scenario.
type Case struct {
	Name   string
	Number int
	Meant  cause.ID          // intended cause
	Text   string            // YAML
	Files  map[string]string // its files
	Tries  int               // number of its drawing; Refuse: why earlier ones were no scenarios
	Refuse []string
	seed   uint64
}

// Read reads the files that a case names.
func (c *Case) Read(name string) ([]byte, error) {
	text, ok := c.Files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

// Plan resolves a case.
func (c *Case) Plan() (*scenario.Plan, error) {
	d, err := scenario.Parse(c.Name, []byte(c.Text), nil)
	if err != nil {
		return nil, err
	}
	return d.Resolve(c.Read)
}

// strata are the intended causes of scenarios, in turn.
var strata = []cause.ID{cause.Latency, cause.Recovering, cause.Window, cause.Credit, cause.Collision,
	cause.SprayImbalance, cause.Oversubscription, cause.FailedCapacity, cause.SlowLink, cause.Incast, cause.Pause,
	cause.Retransmission, cause.Reordering, cause.Trimmed, cause.OnePort, cause.PCIe}

// Meant returns the cause that a number's scenario is meant to lose time to.
func Meant(number int) cause.ID { return strata[number%len(strata)] }

// mostTries bounds how often a number is drawn anew, and made smaller.
const (
	mostTries  = 40
	mostShrink = 12
)

// New draws the first scenario of a number, Next the one after another of its scenarios.
func New(seed uint64, number int) (*Case, error) { return from(seed, number, 0) }

// Next draws the next scenario of c's number: meant for the same cause, and otherwise another.
func (c *Case) Next() (*Case, error) { return from(c.seed, c.Number, c.Tries+1) }

// from draws a number's scenario, beginning with a drawing.
func from(seed uint64, number, first int) (*Case, error) {
	var refused []string
	for try := first; try < first+mostTries; try++ {
		shrink := 0
		for {
			d := &drawing{seed: seed, number: number, try: try, meant: Meant(number), shrink: shrink}
			c, err := d.draw()
			if err == nil {
				var p *scenario.Plan
				if p, err = c.Plan(); err == nil {
					if cost := sim.Estimate(p); cost.PacketHops > MostHops && shrink < mostShrink {
						shrink++
						continue
					} else if cost.PacketHops > 4*MostHops {
						err = fmt.Errorf("%d packet-hops", cost.PacketHops)
					} else if len(p.Graph.Hosts) > MostHosts {
						err = fmt.Errorf("%d hosts", len(p.Graph.Hosts))
					}
				}
			}
			if err == nil {
				c.Tries, c.Refuse = try, refused
				return c, nil
			}
			refused = append(refused, err.Error())
			break
		}
	}
	return nil, fmt.Errorf("number %d of seed %d: no scenario in %d drawings: %s", number, seed, mostTries,
		strings.Join(refused, "; "))
}

// drawing is a scenario while it is drawn.
type drawing struct {
	rng.Stream
	seed        uint64
	number, try int
	meant       cause.ID
	shrink      int // number of times that sizes are halved

	fabric, server string   // blocks
	blocks         []string // others
	sets           map[string][]string
	files          map[string]string

	size      int // bytes that a NIC sends
	rate      int // rate of a NIC's port, Gbit/s
	ports     int // of a NIC
	hosts     int
	gpus      int // of a server
	isolated  bool
	spread    bool // whether there is more than one path
	transport string
	gbn       bool        // go-back-N
	ordered   bool        // a flow's packets take one path at a time
	graph     *topo.Graph // nil until the fabric is drawn
}

func (d *drawing) of(words ...string) string { return words[d.Intn(len(words))] }
func (d *drawing) one(n ...int) int          { return n[d.Intn(len(n))] }
func (d *drawing) chance(p float64) bool     { return d.Float64() < p }
func (d *drawing) between(a, b int) int      { return a + d.Intn(b-a+1) }
func (d *drawing) is(ids ...cause.ID) bool {
	return slices.ContainsFunc(ids, func(id cause.ID) bool { return d.meant == id })
}

// set adds a key to a block.
func (d *drawing) set(block, format string, args ...any) {
	d.sets[block] = append(d.sets[block], fmt.Sprintf(format, args...))
}

// draw draws all of it.
func (d *drawing) draw() (*Case, error) {
	// The random choices do not depend on the number of halvings.
	d.Stream = rng.New(d.seed, fmt.Sprintf("scenario/%d/%d", d.number, d.try))
	d.sets, d.files = map[string][]string{}, map[string]string{}
	own := d.between(1, 1_000_000)
	d.carrier()
	d.rate = d.one(25, 50, 100, 100, 100, 200, 200, 400)
	d.size = d.bytes()
	d.network()
	head := fmt.Sprintf("name: drawn-%d-%d\nseed: %d\nfabric: %s\nserver: {%s}\n", d.seed, d.number, own, d.fabric,
		d.server)
	doc, err := scenario.Parse("fabric", []byte(head), nil)
	if err != nil {
		return nil, err
	}
	p, err := doc.Network(nil)
	if err != nil {
		return nil, err
	}
	d.graph = p.Graph
	d.balance()
	d.control()
	d.switches()
	d.work()
	d.events()
	text := head
	for _, block := range []string{"switch", "transport", "cc", "lb_options"} {
		if keys := d.sets[block]; len(keys) > 0 {
			text += block + ": {" + strings.Join(keys, ", ") + "}\n"
		}
	}
	text += strings.Join(d.blocks, "")
	text += "output: {sample: 1ms}\n" // link samples are not needed
	return &Case{Name: fmt.Sprintf("drawn-%d-%d.yaml", d.seed, d.number), Number: d.number, Meant: d.meant, Text: text,
		Files: d.files, seed: d.seed}, nil
}
