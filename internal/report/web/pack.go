package web

import (
	"net/url"
	"reflect"
	"strings"

	"railyard/internal/report"
	"railyard/internal/result"
)

// Large tables of structs are sent as columns: a field's name once, a value that all rows share once, strings by
// their numbers in a list, and numbers that rise by a constant step as two. web/src/unpack.ts restores the rows.

// Packed is the info of a run with its large tables as columns.
type Packed struct {
	Info
	Topology packedTopology `json:"topology"`
	Ports    packedTable    `json:"ports"`
	// Ports are called NODE:LABEL → PEER; Names are those of other ports.
	Labels column         `json:"port_labels"`
	Names  map[int]string `json:"port_names,omitempty"`
}

// packedTopology is a topology with its nodes, links and NICs as columns.
type packedTopology struct {
	result.Topology
	Nodes packedTable `json:"nodes"`
	Links packedTable `json:"links"`
	NICs  packedTable `json:"nics"`
}

// packedTable is the columns of a table.
type packedTable struct {
	Rows    int               `json:"rows"`
	Columns map[string]column `json:"columns"`
}

// column is the values of a field: one for all, numbers with a constant step, indices of strings, or all of them.
type column struct {
	One  any      `json:"one,omitempty"`
	From *int64   `json:"from,omitempty"`
	Step int64    `json:"step,omitempty"`
	List []string `json:"list,omitempty"`
	At   []int    `json:"at,omitempty"`
	All  any      `json:"all,omitempty"`
}

// pack makes the columns of a slice of structs, without the fields named in without.
func pack(rows any, without ...string) packedTable {
	v := reflect.ValueOf(rows)
	c := packedTable{Rows: v.Len(), Columns: map[string]column{}}
	t := v.Type().Elem()
	for f := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(f).Tag.Get("json"), ",")
		if name == "-" || name == "" || c.Rows == 0 || has(without, name) {
			continue
		}
		c.Columns[name] = packColumn(c.Rows, func(i int) reflect.Value { return v.Index(i).Field(f) })
	}
	return c
}

func has(list []string, name string) bool {
	for _, x := range list {
		if x == name {
			return true
		}
	}
	return false
}

// packColumn chooses the shortest form of a column.
func packColumn(rows int, at func(int) reflect.Value) column {
	first := at(0)
	same := true
	for i := 1; i < rows && same; i++ {
		same = reflect.DeepEqual(at(i).Interface(), first.Interface())
	}
	if same {
		return column{One: first.Interface()}
	}
	switch first.Kind() {
	case reflect.String:
		numbers := map[string]int{}
		c := column{At: make([]int, rows)}
		for i := range rows {
			s := at(i).String()
			n, known := numbers[s]
			if !known {
				n = len(c.List)
				numbers[s], c.List = n, append(c.List, s)
			}
			c.At[i] = n
		}
		if len(c.List) == rows {
			return column{All: c.List}
		}
		return c
	case reflect.Int, reflect.Int32, reflect.Int64:
		from, step := first.Int(), at(1).Int()-first.Int()
		rises := true
		for i := 2; i < rows && rises; i++ {
			rises = at(i).Int() == from+int64(i)*step
		}
		if rises {
			return column{From: &from, Step: step}
		}
	}
	all := make([]any, rows)
	for i := range rows {
		all[i] = at(i).Interface()
	}
	return column{All: all}
}

// info returns the common data of every view of a run, as columns if the page requests them.
func (r *Directory) info(q url.Values) any {
	info := Info{r.Name, r.Manifest, r.Summary, r.Topology, r.ports, r.columns(columns), report.Leading(&r.Summary),
		r.span()}
	if !q.Has("packed") {
		return info
	}
	return packed(info)
}

// packed is the info of a run as its page reads it.
func packed(info Info) Packed {
	p := Packed{Info: info, Ports: pack(info.Ports, "name"), Topology: packedTopology{info.Topology,
		pack(info.Topology.Nodes), pack(info.Topology.Links), pack(info.Topology.NICs)}, Names: map[int]string{}}
	labels := make([]string, len(info.Ports))
	for i := range info.Ports {
		x := &info.Ports[i]
		rest, ok := strings.CutPrefix(x.Name, x.Node+":")
		label, ok2 := strings.CutSuffix(rest, " → "+x.Peer)
		if labels[i] = label; !ok || !ok2 {
			labels[i], p.Names[i] = "", x.Name
		}
	}
	if len(labels) > 0 {
		p.Labels = packColumn(len(labels), func(i int) reflect.Value { return reflect.ValueOf(labels[i]) })
	}
	return p
}
