package planner

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sort"

	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/unit"
)

//go:embed prices.json
var defaultPrices []byte

// Prices holds the cost and the power of parts.
type Prices struct {
	Note     string        `json:"note"`
	Currency string        `json:"currency"`
	Switches []SwitchPrice `json:"switches"`
	Cables   []CablePrice  `json:"cables"`
	Racks    *Racks        `json:"racks,omitempty"` // set by ParsePrices: those of the embedded file
}

// SwitchPrice is one size of switch.
type SwitchPrice struct {
	Ports int     `json:"ports"`
	Rate  int     `json:"rate_gbps"`
	Price float64 `json:"price"`
	Watts float64 `json:"watts"`
}

// CablePrice is a cable with its ends, up to a length, or a fibre between optics.
type CablePrice struct {
	UpTo float64 `json:"upto_m,omitempty"`
	Name string  `json:"name"`
	// rate of the price; other rates cost proportionally; 0: equal cost
	Rate  int         `json:"rate_gbps,omitempty"`
	Price float64     `json:"price"`
	Watts float64     `json:"watts,omitempty"` // power of both ends
	Optic *CablePrice `json:"optic,omitempty"` // optic of one end; nil: the cable includes its ends
}

// at is the cable at a rate, with its price and power.
func (c CablePrice) at(rate int) CablePrice {
	if c.Rate > 0 {
		f := float64(rate) / float64(c.Rate)
		c.Price, c.Watts = c.Price*f, c.Watts*f
	}
	return c
}

// link is a link of a rate with whole ports at both ends: a fiber with its two optics.
func (c CablePrice) link(rate int) CablePrice {
	c = c.at(rate)
	if c.Optic != nil {
		x := c.Optic.at(rate)
		c.Name, c.Price, c.Watts = "two optics and "+c.Name, c.Price+2*x.Price, c.Watts+2*x.Watts
	}
	return c
}

// DefaultPrices is the embedded file, to be edited.
func DefaultPrices() []byte { return bytes.Clone(defaultPrices) }

// ParsePrices reads a price file; nil is the embedded one.
func ParsePrices(name string, text []byte) (*Prices, error) {
	if text == nil {
		name, text = "prices", defaultPrices
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	p := &Prices{}
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("%s is not a price file: %w", name, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, &field.Error{File: name,
			Msg: fmt.Sprintf("byte %d: unexpected text after the price file's end", d.InputOffset())}
	}
	if len(p.Switches) == 0 || len(p.Cables) == 0 {
		return nil, &field.Error{File: name, Msg: "switches and cables must have at least one entry each"}
	}
	for i, s := range p.Switches {
		if s.Ports < 1 || s.Ports > 1<<16 || s.Rate < 1 || s.Rate > 1e6 || !costs(s.Price, s.Watts) {
			return nil, &field.Error{File: name, Path: field.At("switches", i),
				Msg: "out of range: ports 1–65536, rate_gbps 1–1000000, price and watts 0–1e9"}
		}
	}
	for i, c := range p.Cables {
		x := c
		if c.Optic != nil {
			x = *c.Optic
		}
		if !(c.UpTo > 0) || !costs(c.Price, c.Watts) || !costs(x.Price, x.Watts) || x.Optic != nil ||
			min(c.Rate, x.Rate) < 0 || max(c.Rate, x.Rate) > 1e6 {
			return nil, &field.Error{File: name, Path: field.At("cables", i),
				Msg: "upto_m must be positive, rate_gbps 0–1000000, price and watts not negative and at most 1e9"}
		}
	}
	if err := p.racks(name); err != nil {
		return nil, err
	}
	sort.SliceStable(p.Cables, func(i, j int) bool { return p.Cables[i].UpTo < p.Cables[j].UpTo })
	return p, nil
}

// costs reports whether a part can cost and draw so much.
func costs(price, watts float64) bool {
	return price >= 0 && price <= 1e9 && watts >= 0 && watts <= 1e9
}

// switchPart returns a switch's price and power: those of the list's nearest in ports and rate, in proportion to its
// capacity.
func (p *Prices) switchPart(s SwitchModel) (price, watts float64) {
	far := func(a, b float64) float64 { return math.Abs(math.Log(a / b)) }
	best := p.Switches[0]
	distance := math.Inf(1)
	for _, x := range p.Switches {
		d := far(float64(x.Ports), float64(s.Ports)) + far(float64(x.Rate), float64(s.Rate))
		if d < distance {
			best, distance = x, d
		}
	}
	f := float64(s.Ports) * float64(s.Rate) / (float64(best.Ports) * float64(best.Rate))
	return best.Price * f, best.Watts * f
}

// cablePart is the cable for a length.
func (p *Prices) cablePart(metres float64) CablePrice {
	for _, c := range p.Cables {
		if metres <= c.UpTo {
			return c
		}
	}
	return p.Cables[len(p.Cables)-1]
}

// optics is the shortest fibre for a length, among those with optics, or the longest of all. Without any in the
// list it has no Optic.
func (p *Prices) optics(metres float64) (x CablePrice) {
	for _, c := range p.Cables {
		if c.Optic != nil && (x.Optic == nil || x.UpTo < metres) {
			x = c
		}
	}
	return x
}

// CableKind is the cables of one kind, by the price list's products for their lengths.
type CableKind struct {
	Name   string    `json:"name"`
	Rate   unit.Rate `json:"rate_bps"`
	Count  int       `json:"count"`
	Metres float64   `json:"metres"`
	Price  float64   `json:"price"`
	Watts  float64   `json:"watts"`
}

// CablesByKind sorts the cables of a fabric by kind, in the order of the list and of rates.
func (p *Prices) CablesByKind(g *topo.Graph) (out []CableKind) {
	at := map[string]int{}
	for _, part := range p.Cables { // the order of the list
		for _, l := range g.Links {
			m := float64(l.LengthMM) / 1000
			if p.cablePart(m) != part {
				continue
			}
			x := part.link(int(l.Rate / unit.Gbps))
			key := x.Name + l.Rate.String()
			i, ok := at[key]
			if !ok {
				i = len(out)
				at[key], out = i, append(out, CableKind{Name: x.Name, Rate: l.Rate})
			}
			k := &out[i]
			k.Count, k.Metres = k.Count+1, k.Metres+m
			k.Price, k.Watts = k.Price+x.Price, k.Watts+x.Watts
		}
	}
	return out
}
