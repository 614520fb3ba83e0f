package dell

import (
	"fmt"
	"math"
	"strconv"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// define opens a named object, or forgets it.
func define[T any](p *parser, m *cli.Match, kind string, all map[string]*T) *T {
	name := m.Word("name")
	if m.No {
		delete(all, name)
		p.c.Undefine(kind, name)
		return nil
	}
	if all[name] == nil {
		all[name] = new(T)
		p.c.Define(kind, name, p.c.At(m, "name"), false)
	}
	return all[name]
}

// Kinds of objects, as messages call them.
const (
	wredKind   = "qos wred-policy"
	schedKind  = "qos scheduler-policy"
	bufferKind = "buffer profile"
)

func (k mapKind) String() string { return "qos map " + string(k) }

const (
	aClass    = "a traffic class from 0 to 7"
	aQueue    = "a queue from 0 to 7"
	aGroup    = "a priority group from 0 to 7"
	aPriority = "a priority from 0 to 7"
)

func (p *parser) qosRules(r *cli.Mode) {
	row := func(kind mapKind, from, to string, bound int, what, target string) {
		r.On("[no] qos map "+string(kind)+" <name>", func(m *cli.Match) *cli.Mode {
			t := define(p, m, kind.String(), p.maps[kind])
			if t == nil {
				return nil
			}
			t.at = p.c.At(m, "name")
			sub := cli.NewMode(string(kind) + "-map")
			sub.Set("[no] "+from+" <list> "+to+" <to:int>", func(m *cli.Match) {
				n, ok := 0, true
				if !m.No {
					n, ok = p.below(m, "to", 8, target)
				}
				for _, i := range p.list(m, "list", bound, what) {
					if ok {
						swconf.Assign(p.c, m, &t.to[i], "list", n)
					}
				}
			})
			return sub
		})
	}
	row(dscpTC, "dscp", "traffic-class", 64, "a list of DSCPs from 0 to 63", aClass)
	row(dot1pTC, "dot1p", "traffic-class", 8, "a list of priorities from 0 to 7", aClass)
	row(tcQueue, "traffic-class", "queue", 8, "a list of traffic classes from 0 to 7", aQueue)
	row(tcGroup, "traffic-class", "<what:priority-group|pg>", 8, "a list of traffic classes from 0 to 7", aGroup)
	row(pfcQueue, "pfc-priority", "queue", 8, "a list of priorities from 0 to 7", aQueue)
	row(pfcGroup, "pfc-priority", "<what:priority-group|pg>", 8, "a list of priorities from 0 to 7", aGroup)
	r.On("[no] qos wred-policy <name>", func(m *cli.Match) *cli.Mode {
		w := define(p, m, wredKind, p.wreds)
		if w == nil {
			return nil
		}
		w.at = p.c.At(m, "name")
		return p.wredMode(w)
	})
	r.On("[no] qos scheduler-policy <name>", func(m *cli.Match) *cli.Mode {
		s := define(p, m, schedKind, p.scheds)
		if s == nil {
			return nil
		}
		s.at = p.c.At(m, "name")
		return p.schedulerMode(s)
	})
}

// wredMode reads one policy. Its thresholds are in kilobytes of 1000 (the framework writes 1000 times the typed value
// into the database); RoCE packets are green.
func (p *parser) wredMode(w *wred) *cli.Mode {
	sub := cli.NewMode("wred-policy")
	sub.Set("[no] green minimum-threshold <min:int> maximum-threshold <max:int> [ drop-probability <p:num> ]",
		func(m *cli.Match) {
			v := swconf.WRED{Min: kbytes(m, "min"), Max: kbytes(m, "max"), Percent: m.Num("p"),
				MinAt: p.c.At(m, "min"), MaxAt: p.c.At(m, "max")}
			if v.Percent > 100 {
				p.bad(m, "p", "a probability up to 100 %")
			}
			swconf.Assign(p.c, m, &w.w, "green", v)
		})
	sub.Set("[no] <colour:yellow|red> minimum-threshold <more...>", func(*cli.Match) {})
	sub.Set("[no] ecn <what:none|green|yellow|red|green-yellow|green-red|yellow-red|all>",
		func(m *cli.Match) {
			switch m.Word("what") {
			case "green", "green-yellow", "green-red", "all":
				swconf.Assign(p.c, m, &w.ecn, "what", true)
			default:
				swconf.Assign(p.c, m, &w.ecn, "what", false)
			}
		})
	return sub
}

func kbytes(m *cli.Match, name string) unit.Bytes {
	return unit.Bytes(min(m.Int(name), 1e12)) * unit.KB
}

func (p *parser) schedulerMode(s *scheduler) *cli.Mode {
	sub := cli.NewMode("scheduler-policy")
	sub.On("[no] queue <n:int>", func(m *cli.Match) *cli.Mode {
		n, ok := p.below(m, "n", queue.Classes, aQueue)
		k := &s.queues[n]
		if m.No && ok {
			*k = class{}
			return nil
		}
		if !ok {
			k = &class{}
		}
		k.at = p.c.At(m, "n")
		below := cli.NewMode("scheduler-queue")
		below.Set("[no] type <what:strict|dwrr|wrr>", func(m *cli.Match) {
			swconf.Assign(p.c, m, &k.strict, "what", m.Word("what") == "strict")
		})
		below.Set("[no] weight <n:int>", func(m *cli.Match) {
			swconf.Assign(p.c, m, &k.weight, "n", int(min(m.Int("n"), 1000)))
		})
		below.Set("[no] <what:cir|cbs|pir|pbs|meter-type> <more...>", func(*cli.Match) {})
		return below
	})
	sub.On("[no] port", func(*cli.Match) *cli.Mode {
		below := cli.NewMode("scheduler-port")
		below.Set("[no] <what:cir|cbs|pir|pbs|meter-type> <more...>", func(*cli.Match) {})
		return below
	})
	return sub
}

// bufferRules read buffers: pools, profiles of priority groups and queues, and that lossless ones exist at
// all.
func (p *parser) bufferRules(r *cli.Mode) {
	for _, head := range []string{"", "qos "} {
		r.Set("[no] "+head+"buffer init [ lossless ]", func(*cli.Match) {})
		r.Set("[no] "+head+"buffer pool <name> shared-headroom-size <n:int>", func(*cli.Match) {})
		r.Set("[no] "+head+"buffer profile <name> <pool> <size:int> [ <mode:static-threshold|dynamic-threshold> <threshold> ] [ pause pause-threshold <xoff:int> ] [ resume-threshold <xon:int> ] [ resume-offset-threshold <offset:int> ]", p.bufferProfile)
		r.Set("no "+head+"buffer profile <name>", p.bufferProfile)
	}
}

func (p *parser) bufferProfile(m *cli.Match) {
	name := m.Word("name")
	if m.No {
		delete(p.buffers, name)
		p.c.Undefine(bufferKind, name)
		return
	}
	v := swconf.Pause{Headroom: unit.Bytes(m.Int("xoff")), XOn: unit.Bytes(m.Int("xon")),
		XOnOffset: unit.Bytes(m.Int("offset")), HeadAt: p.c.At(m, "xoff"), XOnAt: p.c.At(m, "xon")}
	n, err := strconv.ParseInt(m.Word("threshold"), 10, 48)
	switch {
	case !m.Has("mode"): // a reserve alone
	case err != nil || m.Word("mode") == "static-threshold" && n < 0:
		p.bad(m, "threshold", "a number of bytes")
		return
	case m.Word("mode") == "static-threshold":
		v.XOff, v.XOffAt = unit.Bytes(n), p.c.At(m, "threshold")
	case n < -8 || n > 8:
		p.bad(m, "threshold", "an exponent from -6 to 3")
		return
	default:
		v.Alpha = math.Exp2(float64(n))
	}
	p.buffers[name] = swconf.SaidAt(p.c, m, "name", v)
	p.c.Define(bufferKind, name, p.c.At(m, "name"), true)
}

// name returns the name of a queue.
func name(i int) string { return fmt.Sprintf("queue %d", i) }
