package sonic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// Profile is the ports of one model of switch, from SONiC's files for the device: the chip's lanes of a port, its name,
// its label, and its breakouts.
type Profile struct {
	HwSKU    string // "" if neither directory nor table contains it
	Platform string
	Chip     string // "Tomahawk 5", "" if unknown
	From     string // the file, or that it is built in
	Cages    []Cage // cages in the order of the front panel
}

// Cage is a jack on the front panel, with its breakouts: the first is the default. A cage known only from a list of
// ports has one.
type Cage struct {
	Name  string // name of its first port
	Index int    // below 0: unknown
	Modes []Mode
}

// Mode is a breakout of a cage.
type Mode struct {
	Text  string // breakout modes as the device writes them: 2x400G[200G]; "" for a list of ports
	Ports []Outlet
}

// Outlet is a port of SONiC's.
type Outlet struct {
	Name, Alias string
	Lanes       []int
	Index       int     // below 0: unknown
	Speed       int64   // Mbit/s, 0: unknown
	Speeds      []int64 // supported speeds
	FEC         string
	More        [][2]string // further columns of the PORT table

	at swconf.Place
}

// NoProfile reports that a switch's lanes are unknown. They differ between models of the same number of ports, and
// wrong lanes select another port, or none.
type NoProfile struct{ Switch string }

func (e *NoProfile) Error() string {
	return e.Switch + " in sonic: the switch model is not set, and lanes and names of ports differ from model to model; accepted: --hwsku NAME (railyard models lists them), --profile with a device's port_config.ini, platform.json with hwsku.json, config_db.json or the folder that has them, or a model in fabric.types of the scenario that is one of theirs"
}

// Limits of a profile: no chip has more lanes, and lanes are numbered from 0 with gaps.
const (
	mostOutlets = 1024
	mostLane    = 4095
	mostSpeed   = 1_600_000
	// maximum size of a profile's file; platform.json, the longest, has a quarter of a megabyte
	ProfileBytes = 4 << 20
)

// kept are the columns of a list of ports that PORT has unchanged.
var kept = []string{"role", "asic_port_name", "core_id", "core_port_id", "num_voq"}

// laneRates are the rates of a lane of a serial link, in Mbit/s, Ethernet's own rates of 10 to 200 Gbit/s.
var laneRates = []int64{10_000, 25_000, 50_000, 100_000, 200_000}

// macRates are the speeds of a port that IEEE 802.3 has, in Mbit/s: 8 lanes of 10 Gbit/s are none.
var macRates = []int64{10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000, 1_600_000}

// slower returns the speeds of a port with one listed speed: that, and lower ones of the same lanes. It returns all
// if none is listed.
func slower(lanes int, speed int64) (out []int64) {
	for _, r := range laneRates {
		if v := r * int64(lanes); slices.Contains(macRates, v) && (v < speed || speed == 0) {
			out = append(out, v)
		}
	}
	if speed > 0 {
		out = append(out, speed)
	}
	return out
}

// fec returns a port's default error correction if the device has none: RS from 25 Gbit/s a lane.
func (o *Outlet) fec(speed int64) string {
	switch {
	case o.FEC != "" && speed == o.Speed:
		return o.FEC
	case speed/int64(len(o.Lanes)) >= 25_000:
		return "rs"
	}
	return "none"
}

// numbers writes lanes.
func numbers(lanes []int) string {
	var words []string
	for _, l := range lanes {
		words = append(words, strconv.Itoa(l))
	}
	return strings.Join(words, ",")
}

// String names a profile in errors.
func (p *Profile) String() string {
	switch {
	case p.HwSKU == "":
		return p.From
	case p.From == "":
		return p.HwSKU
	}
	return fmt.Sprintf("%s (%s)", p.HwSKU, p.From)
}

// now returns a device's default ports.
func (p *Profile) now() (out []*Outlet) {
	for i := range p.Cages {
		m := &p.Cages[i].Modes[0]
		for k := range m.Ports {
			out = append(out, &m.Ports[k])
		}
	}
	return out
}

// modes lists the breakouts of a cage.
func (c *Cage) modes() string {
	var words []string
	for i := range c.Modes {
		m := &c.Modes[i]
		if m.Text != "" {
			words = append(words, m.Text)
			continue
		}
		words = append(words, fmt.Sprintf("%s, at %s", plainMode(m), speedWords(&m.Ports[0])))
	}
	return strings.Join(words, "; ")
}

func plainMode(m *Mode) string {
	if len(m.Ports) == 1 {
		return "whole"
	}
	return fmt.Sprintf("%d ports unchanged", len(m.Ports))
}

func speedWords(o *Outlet) string {
	if len(o.Speeds) == 0 {
		return fmt.Sprintf("no speed of Ethernet, which has none of %s", unit.Plural(len(o.Lanes), "lane"))
	}
	var words []string
	for _, s := range slices.Backward(o.Speeds) {
		words = append(words, (unit.Rate(s) * unit.Mbps).String())
	}
	return strings.Join(words, ", ")
}

// check finds names that two ports have. Lanes and aliases may occur twice if only one of the two is used; shipped
// lists of ports have such jacks that share lanes.
func (p *Profile) check() error {
	names := map[string]*Outlet{}
	all := p.now()
	if len(all) == 0 {
		return &cli.SyntaxError{File: p.From, Line: 1, Col: 1, Msg: "has no port"}
	}
	for _, o := range all {
		if old := names[o.Name]; old != nil {
			return fault(o.at, "the name %s is repeated, first on line %d", o.Name, old.at.Line)
		}
		names[o.Name] = o
	}
	return nil
}

func fault(at swconf.Place, format string, args ...any) error {
	return &cli.SyntaxError{File: at.File, Line: at.Line, Col: at.Col, Msg: fmt.Sprintf(format, args...)}
}

// lanesOf reads 1,2,3,4.
func lanesOf(at swconf.Place, text string) (lanes []int, err error) {
	for word := range strings.SplitSeq(strings.TrimSuffix(text, ","), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 0 || n > mostLane {
			return nil, fault(at, "lanes %q: %q is not a lane; accepted: whole numbers from 0 to %d with commas between them", clip(text), clip(word), mostLane)
		}
		if slices.Contains(lanes, n) {
			return nil, fault(at, "lanes %q: lane %d is repeated", clip(text), n)
		}
		if lanes = append(lanes, n); len(lanes) > 16 {
			return nil, fault(at, "lanes %q: a port has 16 lanes at most", clip(text))
		}
	}
	return lanes, nil
}

// clip shortens a quotation.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

// nameOf checks a port's name.
func nameOf(at swconf.Place, name string) error {
	tail, ok := strings.CutPrefix(name, "Ethernet")
	if n, err := strconv.Atoi(tail); !ok || err != nil || n < 0 || len(name) > 128 {
		return fault(at, "%q is not a name of a port; accepted: Ethernet with a number: Ethernet0", clip(name))
	}
	return nil
}
