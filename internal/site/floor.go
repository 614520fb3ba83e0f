package site

import (
	"fmt"

	"railyard/internal/field"
)

// Floor is the plan of a hall: racks are in rows, and cables between racks run up to trays, along rows and across
// them.
type Floor struct {
	Rack   Length `yaml:"rack" range:"0|100mm,10m" doc:"from a rack to the next one of its row (default 600mm)"`
	Row    Length `yaml:"row" range:"0|100mm,1km" doc:"from a row to the next one (default 3m)"`
	Rise   Length `yaml:"rise" range:"0|1mm,100m" doc:"from a port up to the trays above the racks, at each end (default 2500mm)"`
	Slack  Length `yaml:"slack" range:"0|1mm,100m" doc:"slack of a cable between racks (default 1m)"`
	Inside Length `yaml:"inside" range:"0|1mm,100m" doc:"a cable that stays in its rack (default 2m)"`
}

// plan is a floor with its defaults.
func (s *Site) plan() Floor {
	f := Floor{}
	if s.Floor != nil {
		f = *s.Floor
	}
	fill(&f.Rack, 600)
	fill(&f.Row, 3000)
	fill(&f.Rise, 2500)
	fill(&f.Slack, 1000)
	fill(&f.Inside, 2000)
	return f
}

// sold is the length, in mm, that lengths of cables are rounded up to.
const sold = 500

// Between is the length of a cable from one rack to another: along the trays, and up and down.
func (f Floor) Between(a, b Rack) Length {
	if a == b {
		return f.Inside
	}
	way := Length(apart(a.Row, b.Row))*f.Row + Length(apart(a.Rack, b.Rack))*f.Rack + 2*f.Rise + f.Slack
	return (way + sold - 1) / sold * sold
}

func apart(a, b int) int { return max(a-b, b-a) }

// Rack is one on the floor; both count from 1, 0 is none.
type Rack struct{ Row, Rack int }

// Racks beyond these are in no hall.
const (
	maxRow  = 10_000
	maxRack = 10_000
)

// racks parses the location of an entry's nodes: numbers, or places with steps, as in match.
func (b *builder) racks(key string, e *Group, g *group) (func(at []int) (Rack, error), error) {
	if len(e.At) == 0 {
		return nil, nil
	}
	var exprs [2]expr
	var words [2]int
	for i, what := range []string{"row", "rack"} {
		text, ok := e.At.Get(what)
		if !ok || len(e.At) != 2 {
			return nil, field.New(key+".at", "found %s; accepted: a row and a rack, {row: pod, rack: n/4}", e.At)
		}
		x, err := parseExpr(text)
		if err != nil {
			return nil, field.New(key+".at."+what, "%s", err.Error())
		}
		if words[i] = -1; x.word != "" {
			if words[i] = g.place(x.word); words[i] < 0 {
				return nil, field.New(key+".at."+what, "%s has no place %q; it has %s", e.Name, x.word,
					orNone(g.places))
			}
		}
		exprs[i] = x
	}
	return func(at []int) (Rack, error) {
		var v [2]int
		for i, x := range exprs {
			if words[i] >= 0 {
				v[i] = at[words[i]]
			}
			if v[i] = x.of(v[i], 0); v[i] < 1 || v[i] > maxRow {
				return Rack{}, fmt.Errorf("%s %d; they go from 1 to %d", []string{"row", "rack"}[i], v[i],
					[]int{maxRow, maxRack}[i])
			}
		}
		return Rack{v[0], v[1]}, nil
	}, nil
}
