package planner

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"sort"
)

//go:embed prices.json
var defaultPrices []byte

// Prices is what parts cost and draw.
type Prices struct {
	Note     string        `json:"note"`
	Currency string        `json:"currency"`
	Switches []SwitchPrice `json:"switches"`
	Cables   []CablePrice  `json:"cables"`
}

// SwitchPrice is one size of switch.
type SwitchPrice struct {
	Ports int     `json:"ports"`
	Rate  int     `json:"rate_gbps"`
	Price float64 `json:"price"`
	Watts float64 `json:"watts"`
}

// CablePrice is a cable with its ends, up to a length.
type CablePrice struct {
	UpTo  float64 `json:"upto_m"`
	Name  string  `json:"name"`
	Price float64 `json:"price"`
	Watts float64 `json:"watts"` // of both ends
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
		return nil, fmt.Errorf("%s is no price file: %w", name, err)
	}
	if len(p.Switches) == 0 || len(p.Cables) == 0 {
		return nil, fmt.Errorf("%s: switches and cables must have at least one entry each", name)
	}
	for i, s := range p.Switches {
		if s.Ports < 1 || s.Rate < 1 || !(s.Price >= 0) || !(s.Watts >= 0) || math.IsInf(s.Price+s.Watts, 0) {
			return nil, fmt.Errorf("%s: switches[%d]: ports and rate must be positive, price and watts not negative", name, i)
		}
	}
	for i, c := range p.Cables {
		if !(c.UpTo > 0) || !(c.Price >= 0) || !(c.Watts >= 0) || math.IsInf(c.Price+c.Watts, 0) {
			return nil, fmt.Errorf("%s: cables[%d]: upto_m must be positive, price and watts not negative", name, i)
		}
	}
	sort.SliceStable(p.Cables, func(i, j int) bool { return p.Cables[i].UpTo < p.Cables[j].UpTo })
	return p, nil
}

// switchPart is a switch's price and power: of the nearest capacity in the list,
// in proportion to it.
func (p *Prices) switchPart(s SwitchModel) (price, watts float64) {
	capacity := float64(s.Ports) * float64(s.Rate)
	best := p.Switches[0]
	distance := math.Inf(1)
	for _, x := range p.Switches {
		if d := math.Abs(math.Log(float64(x.Ports) * float64(x.Rate) / capacity)); d < distance {
			best, distance = x, d
		}
	}
	f := capacity / (float64(best.Ports) * float64(best.Rate))
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
