package main

import (
	"fmt"
	"io"
	"path/filepath"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/planner"
	"railyard/internal/topo"
	"railyard/unit"
)

// cableKind is cables of one kind, by what a price list sells for their lengths.
type cableKind struct {
	Name   string    `json:"name"`
	Rate   unit.Rate `json:"rate_bps"`
	Count  int       `json:"count"`
	Metres float64   `json:"metres"`
	Price  float64   `json:"price"`
	Watts  float64   `json:"watts"`
}

// cableKinds sorts a fabric's cables by kind, in the order of the list and of rates.
func cableKinds(g *topo.Graph, p *planner.Prices) (out []cableKind) {
	at := map[string]int{}
	for _, part := range p.Cables { // the order of the list
		for _, l := range g.Links {
			m := float64(l.LengthMM) / 1000
			if p.CablePart(m) != part {
				continue
			}
			key := part.Name + l.Rate.String()
			i, ok := at[key]
			if !ok {
				i = len(out)
				at[key], out = i, append(out, cableKind{Name: part.Name, Rate: l.Rate})
			}
			k := &out[i]
			k.Count, k.Metres = k.Count+1, k.Metres+m
			k.Price, k.Watts = k.Price+part.Price, k.Watts+part.Watts
		}
	}
	return out
}

// prices reads the price list of --prices, the embedded one unless given.
func (c *topoCmd) prices() (*planner.Prices, error) {
	var text []byte
	if c.Prices != "" {
		var err error
		if text, err = input.Text(c.Prices, 1<<20); err != nil {
			return nil, input.Fault(err)
		}
	}
	p, err := planner.ParsePrices(filepath.Base(c.Prices), text)
	if err != nil {
		return nil, input.Fault(err)
	}
	return p, nil
}

// printCables prints a floor's cables by kind.
func printCables(w io.Writer, g *topo.Graph, inv *topo.Inventory, p *planner.Prices) {
	fmt.Fprintf(w, "\n%s on the floor, %.4g m of cable\n\n", unit.Plural(inv.Racks, "rack"), inv.Metres)
	fmt.Fprintf(w, "%-30s %8s %10s %9s %12s %8s\n", "Kinds of cables", "count", "rate", "metres",
		"price "+p.Currency, "watts")
	for _, k := range cableKinds(g, p) {
		fmt.Fprintf(w, "%-30s %8d %10v %9.4g %12.0f %8.4g\n", k.Name, k.Count, k.Rate, k.Metres, k.Price,
			k.Watts)
	}
}

// mostDomains bounds how many failures are tried, each by a walk over the fabric.
const mostDomains = 5_000

// failures prints switches and racks with what each would take away.
func (c *topoCmd) failures(e *env, g *topo.Graph) error {
	if n := len(g.Nodes) - len(g.Hosts); n > mostDomains {
		return input.Fault(field.New("--failures", "%d switches: up to %d are tried, one by one", n,
			mostDomains))
	}
	list := g.FailureDomains()
	if c.JSON {
		return printJSON(e.stdout, list)
	}
	if c.Dot {
		_, err := io.WriteString(e.stdout, g.DotFailures(list))
		return err
	}
	fmt.Fprintf(e.stdout, "%-8s %-40s %12s %12s\n", "Domain", "", "GPUs in it", "cut off")
	for i := 0; i < len(list); {
		k := i
		for k < len(list) && list[k].Kind == list[i].Kind && list[k].Own == list[i].Own &&
			list[k].Off == list[i].Off {
			k++
		}
		name := list[i].Name
		if k > i+1 {
			name += fmt.Sprintf(" and %d more", k-i-1)
		}
		fmt.Fprintf(e.stdout, "%-8s %-40s %12d %12d\n", list[i].Kind, name, list[i].Own, list[i].Off)
		i = k
	}
	return nil
}
