package sonic

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// columns of port_config.ini without a heading, as in sonic-config-engine's portconfig.py.
var columns = []string{"name", "lanes", "alias", "index"}

// PortConfig reads port_config.ini: a heading after #, and a line for each port. Ports of one index are parts of
// one jack.
func PortConfig(file string, text []byte) (*Profile, error) {
	if err := cli.Check(file, text); err != nil {
		return nil, err
	}
	var rows []Outlet
	heads := columns
	num := 0
	for line := range bytes.Lines(text) {
		num++
		row := string(bytes.TrimRight(line, "\r\n"))
		at := swconf.Place{File: file, Line: num, Col: 1}
		if tail, ok := strings.CutPrefix(row, "#"); ok {
			if strings.Contains(tail, "name") {
				heads = strings.Fields(strings.TrimLeft(tail, "#"))
			}
			continue
		}
		cells := cells(row)
		if len(cells) == 0 {
			continue
		}
		if inner(heads, cells) {
			continue
		}
		o, err := outlet(at, heads, cells)
		if err != nil {
			return nil, err
		}
		if rows = append(rows, o); len(rows) > mostOutlets {
			return nil, fault(at, "is the %dth port; a switch has %d at most", len(rows), mostOutlets)
		}
	}
	return listed(file, rows)
}

// cell is a word of a line and its column.
type cell struct {
	text string
	col  int
}

func cells(line string) (out []cell) {
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		n := strings.IndexAny(line[i:], " \t")
		if n < 0 {
			n = len(line) - i
		}
		out = append(out, cell{line[i : i+n], i + 1})
		i += n
	}
	return out
}

// inner reports whether a line describes an internal port: to another chip, or back to this one.
func inner(heads []string, cells []cell) bool {
	i := slices.Index(heads, "role")
	return i >= 0 && i < len(cells) && cells[i].text != "Ext"
}

// outlet reads one line.
func outlet(at swconf.Place, heads []string, cells []cell) (Outlet, error) {
	o := Outlet{Index: -1, at: at}
	for _, need := range []string{"name", "lanes"} {
		if i := slices.Index(heads, need); i < 0 || i >= len(cells) {
			return o, fault(at, "has no %s; columns are %s (the line that begins with # and has the word name lists them)", need, strings.Join(heads, ", "))
		}
	}
	if len(cells) > len(heads) {
		return o, fault(swconf.Place{File: at.File, Line: at.Line, Col: cells[len(heads)].col},
			"%q follows the last column; columns are %s", clip(cells[len(heads)].text),
			strings.Join(heads, ", "))
	}
	for i, c := range cells {
		if err := o.set(swconf.Place{File: at.File, Line: at.Line, Col: c.col}, heads[i], c.text); err != nil {
			return o, err
		}
	}
	if o.Alias == "" {
		o.Alias = o.Name
	}
	o.Speeds = slower(len(o.Lanes), o.Speed)
	return o, nil
}

// set takes a column, or a field of PORT.
func (o *Outlet) set(at swconf.Place, column, text string) (err error) {
	number := func(least, most int64) int64 {
		v, bad := strconv.ParseInt(text, 10, 64)
		if bad != nil || v < least || v > most {
			err = fault(at, "%s %q is not a whole number from %d to %d", column, clip(text), least, most)
		}
		return v
	}
	switch column {
	case "name":
		o.Name, err = text, nameOf(at, text)
	case "lanes":
		o.Lanes, err = lanesOf(at, text)
	case "alias":
		o.Alias = text
	case "index":
		o.Index = int(number(0, 65535))
	case "speed":
		o.Speed = number(10, mostSpeed)
	case "fec":
		if o.FEC = text; !slices.Contains([]string{"rs", "fc", "none", "auto", "off", "N/A"}, text) {
			return fault(at, "fec %q; accepted: rs, fc, none, auto", clip(text))
		}
		if text == "off" || text == "N/A" {
			o.FEC = "none"
		}
	default:
		if slices.Contains(kept, column) {
			o.More = append(o.More, [2]string{column, text})
		}
	}
	return err
}

// listed makes a profile of a list of ports; ports of one index belong to one jack.
func listed(file string, rows []Outlet) (*Profile, error) {
	p := &Profile{From: file}
	of := map[int]int{}
	for _, o := range rows {
		if i, ok := of[o.Index]; ok && o.Index >= 0 {
			m := &p.Cages[i].Modes[0]
			m.Ports = append(m.Ports, o)
			continue
		}
		of[o.Index] = len(p.Cages)
		p.Cages = append(p.Cages, Cage{Name: o.Name, Index: o.Index, Modes: []Mode{{Ports: []Outlet{o}}}})
	}
	return p, p.check()
}

// Running makes a profile of the PORT table of a config_db.json: the ports that a switch has now.
func Running(file string, text []byte) (*Profile, error) {
	root, err := document(file, text)
	if err != nil {
		return nil, err
	}
	host := root.get("DEVICE_METADATA").get("localhost")
	table := root.get("PORT")
	if !table.object() {
		return nil, &cli.SyntaxError{File: file, Line: 1, Col: 1,
			Msg: "has no PORT, as a config_db.json has, and no interfaces, as a platform.json has"}
	}
	var rows []Outlet
	for i, row := range values(table) {
		o := Outlet{Name: table.keys[i], Index: -1, at: row.at}
		if r := row.str("role"); r != "" && r != "Ext" {
			continue
		}
		if err := nameOf(row.at, o.Name); err != nil {
			return nil, err
		}
		if !row.object() || row.get("lanes") == nil {
			return nil, fault(row.at, "PORT|%s has no lanes", o.Name)
		}
		for k, field := range row.kids {
			if row.keys[k] == "name" {
				continue
			}
			if err := o.set(field.at, row.keys[k], field.text); err != nil {
				return nil, err
			}
		}
		o.Speeds = slower(len(o.Lanes), o.Speed)
		if rows = append(rows, o); len(rows) > mostOutlets {
			return nil, fault(row.at, "is the %dth port; a switch has %d at most", len(rows), mostOutlets)
		}
	}
	slices.SortStableFunc(rows, func(a, b Outlet) int {
		if a.Index != b.Index {
			return a.Index - b.Index
		}
		return number(a.Name) - number(b.Name)
	})
	p, err := listed(file, rows)
	if err != nil {
		return nil, err
	}
	p.HwSKU, p.Platform = host.str("hwsku"), host.str("platform")
	return p, nil
}

// number returns the number after Ethernet.
func number(name string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(name, "Ethernet"))
	return n
}

// document parses a JSON file of SONiC.
func document(file string, text []byte) (*node, error) {
	if err := cli.Check(file, text); err != nil {
		return nil, err
	}
	root, err := newReader(file, text).document()
	if err != nil {
		return nil, err
	}
	if !root.object() {
		return nil, &cli.SyntaxError{File: file, Line: 1, Col: 1, Msg: "is not an object, as SONiC's JSON files are"}
	}
	return root, nil
}
