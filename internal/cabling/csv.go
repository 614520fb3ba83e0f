package cabling

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// headed is a value of a cable with the headers of its column.
type headed struct {
	what  string
	words []string
}

// columns are the recognized column headers; the first match wins.
var columns = []headed{
	{"a", []string{"from", "a", "a_device", "a_node", "a_name", "a_host", "from_device", "from_node",
		"source", "source_device",
		"src", "src_device", "local", "local_device", "local_host", "device_a", "node_a", "side_a_device",
		"end_a", "host_a",
		"termination_a_device", "node1", "device1", "switch_a", "hostname", "startdevice", "start_device",
		"server", "server_name", "host", "host_name", "node", "gpu_server", "leaf", "leaf_switch", "tor"}},
	{"a_port", []string{"from_port", "a_port", "a_interface", "source_port", "src_port", "local_port",
		"local_interface",
		"local_intf", "port_a", "interface_a", "side_a_name", "side_a_port", "from_interface", "port1",
		"interface1", "termination_a",
		"startport", "start_port", "a_intf", "from_if", "nic"}},
	{"b", []string{"to", "b", "z", "b_device", "z_device", "b_node", "b_name", "b_host", "to_device",
		"to_node", "destination",
		"destination_device", "dst", "dst_device", "dest", "dest_device", "remote", "remote_device",
		"remote_host", "neighbor", "device_b",
		"device_z", "node_b", "side_b_device", "end_b", "host_b", "peer", "peer_device", "target",
		"termination_b_device", "node2",
		"device2", "switch_b", "enddevice", "end_device",
		"switch", "switch_name", "spine", "spine_switch", "tor", "leaf", "leaf_switch"}},
	{"b_port", []string{"to_port", "b_port", "z_port", "b_interface", "z_interface", "destination_port",
		"dst_port", "dest_port",
		"remote_port", "remote_interface", "port_b", "port_z", "interface_b", "side_b_name", "side_b_port",
		"to_interface",
		"peer_port", "neighbor_port", "target_port", "port2", "interface2", "termination_b", "endport",
		"end_port", "b_intf", "to_if"}},
	{"rate", []string{"rate", "speed", "bandwidth", "link_speed", "line_rate", "bandwidth_gbps",
		"speed_gbps", "rate_gbps", "rate_mbps",
		"speed_mbps"}},
	{"length", []string{"length", "length_m", "cable_length", "cable_length_m", "metres", "meters",
		"length_mm", "length_cm", "length_ft"}},
	{"unit", []string{"length_unit", "unit"}},
	{"count", []string{"count", "cables", "number", "quantity"}},
}

var notWord = regexp.MustCompile(`[^a-z0-9]+`)

// inner matches where a word begins within a header.
var inner = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// headerOf finds the columns of a header: their meaning, their position and the header's words.
func headerOf(row []string) (at map[string]int, words []string) {
	at = map[string]int{}
	plain := func(cell string) string {
		return strings.Trim(notWord.ReplaceAllString(strings.ToLower(strings.TrimPrefix(cell, "\ufeff")), "_"), "_")
	}
	known := func(word string) bool {
		return slices.ContainsFunc(columns, func(c headed) bool { return slices.Contains(c.words, word) })
	}
	for _, cell := range row {
		word := plain(cell)
		if !known(word) { // SwitchName, and its SwitchPort
			word = plain(inner.ReplaceAllString(cell, "${1}_${2}"))
		}
		words = append(words, word)
	}
	for _, c := range columns {
		for _, w := range c.words {
			if i := slices.Index(words, w); i >= 0 {
				at[c.what] = i
				break
			}
		}
	}
	a, first := at["a"]
	z, second := at["b"]
	if first && second && a == z {
		delete(at, "b")
		second = false
	}
	for _, end := range []struct {
		has  bool
		at   int
		what string
	}{{first, a, "a_port"}, {second, z, "b_port"}} { // server, server_port, switch, switch_port
		if _, known := at[end.what]; known || !end.has {
			continue
		}
		name := strings.TrimSuffix(words[end.at], "_name")
		for _, suffix := range []string{"port", "interface", "intf", "if", "nic"} {
			if i := slices.Index(words, name+"_"+suffix); i >= 0 {
				at[end.what] = i
				break
			}
		}
	}
	return at, words
}

// table is a CSV file being read: commas, semicolons or tabs, detected from the header.
type table struct {
	r    *csv.Reader
	row  []string
	base int // lines before the header
}

// openTable reads up to the header, which is the first line that is not a comment.
func openTable(text string) (*table, error) {
	t := &table{}
	for {
		line, rest, more := strings.Cut(text, "\n")
		if s := strings.TrimSpace(line); s != "" && s[0] != '#' || !more {
			break
		}
		text = rest
		t.base++
	}
	line, _, _ := strings.Cut(text, "\n")
	t.r = csv.NewReader(strings.NewReader(text))
	t.r.FieldsPerRecord = -1
	t.r.ReuseRecord = true
	t.r.LazyQuotes = true
	t.r.Comment = '#'
	t.r.TrimLeadingSpace = true
	for _, sep := range []rune{';', '\t'} {
		if strings.Count(line, string(sep)) > strings.Count(line, ",") {
			t.r.Comma = sep
		}
	}
	return t, t.next()
}

func (t *table) next() (err error) {
	t.row, err = t.r.Read()
	var e *csv.ParseError
	if errors.As(err, &e) {
		return &field.Error{Line: t.base + e.Line, Col: e.Column, Msg: "is not a table: " + e.Err.Error()}
	}
	return err
}

// cell returns a value of the current row, "" if the row is short.
func (t *table) cell(i int) string {
	if i < 0 || i >= len(t.row) {
		return ""
	}
	return strings.TrimSpace(t.row[i])
}

func (t *table) place(i int) (line, col int) {
	if i < 0 || i >= len(t.row) {
		i = 0
	}
	line, col = t.r.FieldPos(i)
	return t.base + line, col
}

func (t *table) fail(i int, format string, args ...any) *field.Error {
	line, col := t.place(i)
	return &field.Error{Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

func looksCSV(_, text string) bool {
	t, err := openTable(text)
	if err != nil {
		return false
	}
	at, _ := headerOf(t.row)
	_, a := at["a"]
	_, z := at["b"]
	return a && z
}

// readCSV parses a list of cables: one per line, with two devices and the other columns of the header.
func readCSV(b *builder, text string) error {
	t, err := openTable(text)
	if err == io.EOF {
		return &field.Error{Msg: "is an empty table"}
	}
	if err != nil {
		return err
	}
	at, words := headerOf(t.row)
	col := func(what string) int {
		if i, ok := at[what]; ok {
			return i
		}
		return -1
	}
	taken := slices.Collect(maps.Values(at))
	for i, w := range words { // the first of two equal columns would count
		if before := slices.Index(words, w); before < i && slices.Contains(taken, before) {
			return t.fail(i, "the header has %s twice", field.Quote(w))
		}
	}
	var unread []string
	for i, w := range words {
		if ofCables.MatchString(w) && !slices.Contains(taken, i) {
			unread = append(unread, w)
		}
	}
	if unread != nil {
		line, c := t.place(0)
		b.note(b.at(line, c), "columns that are not read: %s", strings.Join(unread, ", "))
	}
	for _, end := range []string{"a", "b"} {
		if col(end) < 0 {
			return t.fail(0, "the header has no column for a cable's %s end; accepted: %s",
				map[string]string{"a": "first", "b": "second"}[end], strings.Join(columnWords(end), ", "))
		}
	}
	unitName := ""
	if i := col("length"); i >= 0 {
		if u := words[i][strings.LastIndex(words[i], "_")+1:]; millimetres[u] != 0 {
			unitName = u
		}
	}
	first, second := map[string]bool{}, map[string]bool{}
	for {
		if err := t.next(); err == io.EOF {
			b.kinds(first, second, words[col("a")])
			b.kinds(second, first, words[col("b")])
			return nil
		} else if err != nil {
			return err
		}
		if err := b.csvRow(t, col, words, unitName); err != nil {
			return err
		}
		first[t.cell(col("a"))], second[t.cell(col("b"))] = true, true
	}
}

// kinds sets the kind of devices that occur in only one column by the column's header.
func (b *builder) kinds(in, other map[string]bool, header string) {
	kind := Unknown
	switch header {
	case "server", "server_name", "gpu_server":
		kind = Server
	case "switch", "switch_name", "leaf", "leaf_switch", "tor", "spine", "spine_switch":
		kind = Switch
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if i, ok := b.c.byName[name]; ok && kind != Unknown && !other[name] {
			b.is(i, kind, "")
		}
	}
}

func columnWords(what string) []string {
	for _, c := range columns {
		if c.what == what {
			return c.words
		}
	}
	return nil
}

// ofCables are the headers of columns that describe cables; an unused one causes a note.
var ofCables = regexp.MustCompile("(^|_)(port|interface|intf|nic|rate|speed|bandwidth|length|count|quantity|lanes)(_|$)")

// purposeColumn is the purpose of a cable, as railyard topo --cables writes it.
const purposeColumn = "purpose"

const peerLinks = "peer links of switch pairs are left out: the simulated fabric has none"

// csvRow reads one cable.
func (b *builder) csvRow(t *table, col func(string) int, words []string, unitName string) error {
	line, c := t.place(col("a"))
	at := b.at(line, c)
	from, to := t.cell(col("a")), t.cell(col("b"))
	if from == "" && to == "" {
		return nil
	}
	if from == "" || to == "" {
		return t.fail(col("a"), "a cable from %q to %q: one end has no device", from, to)
	}
	x := Cable{At: at, A: b.named(at, from, t.cell(col("a_port"))), B: b.named(at, to, t.cell(col("b_port")))}
	if s := t.cell(col("rate")); s != "" {
		r, err := parseRate(s)
		if w := words[col("rate")]; err == nil && strings.HasSuffix(w, "_mbps") &&
			strings.Trim(s, "0123456789.") == "" {
			r, err = parseRate(s + "M")
		}
		if err != nil {
			return t.fail(col("rate"), "%v", err)
		}
		x.Rate = r
	}
	if s := t.cell(col("length")); s != "" {
		u := unitName
		if v := t.cell(col("unit")); v != "" {
			u = strings.ToLower(v)
		}
		mm, err := parseLength(s, u)
		if err != nil {
			return t.fail(col("length"), "%v", err)
		}
		x.LengthMM = mm
	}
	if purpose := slices.Index(words, purposeColumn); purpose >= 0 && t.cell(purpose) == "peer link" {
		b.note(at, peerLinks)
		return nil
	}
	n := 1
	if s := t.cell(col("count")); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 || n > 1024 {
			return t.fail(col("count"), "%q is not a number of cables; accepted: 1 to 1024", s)
		}
	}
	for i := range n {
		if i > 0 {
			x.A.Port, x.B.Port = "", ""
		}
		b.cable(x)
	}
	return nil
}

// named returns an end by its device's name, which also determines its kind.
func (b *builder) named(at Place, device, port string) End {
	n := b.node(at, device)
	k, role := kindOf(device)
	b.is(n, k, role)
	return End{n, port}
}

// setRate stores an inventory's data of a port.
func (b *builder) setRate(node int, port string, r unit.Rate) {
	b.rates[endKey{node, PortKey(port)}] = r
}
