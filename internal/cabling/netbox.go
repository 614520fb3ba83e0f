package cabling

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/unit"
)

// NetBox exports devices, interfaces and cables separately. Together they contain the kinds of devices, the speeds
// of ports and their connections.

func netboxKind(words []string) string {
	has := func(all ...string) bool {
		return !slices.ContainsFunc(all, func(w string) bool { return !slices.Contains(words, w) })
	}
	switch {
	case has("side_a_device", "side_b_device"), has("device_a", "device_b", "termination_a", "termination_b"):
		return "cables"
	case has("device", "name") && (has("type") || has("speed")):
		return "interfaces"
	case has("name") && (has("role") || has("device_role")) && (has("device_type") || has("type")):
		return "devices"
	}
	return ""
}

func looksNetboxCSV(_, text string) bool {
	t, err := openTable(text)
	if err != nil {
		return false
	}
	_, words := headerOf(t.row)
	return netboxKind(words) != ""
}

// readNetboxCSV reads one of the three tables, detected from its header.
func readNetboxCSV(b *builder, text string) error {
	t, err := openTable(text)
	if err != nil {
		return err
	}
	_, words := headerOf(t.row)
	kind := netboxKind(words)
	if kind == "cables" {
		return readCSV(b, text)
	}
	col := func(names ...string) int {
		for _, n := range names {
			if i := slices.Index(words, n); i >= 0 {
				return i
			}
		}
		return -1
	}
	if kind == "" {
		return t.fail(0, "the header is not that of devices (name, role, device_type), interfaces (device, name, type) or cables (side_a_device, side_a_name, side_b_device, side_b_name)")
	}
	for {
		if err := t.next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		line, c := t.place(0)
		at := b.at(line, c)
		if kind == "devices" {
			if name := t.cell(col("name")); name != "" {
				b.device(at, name, t.cell(col("role", "device_role")), t.cell(col("device_type", "type")))
			}
			continue
		}
		if device, name := t.cell(col("device")), t.cell(col("name")); device != "" && name != "" {
			if err := b.portRate(at, device, name, t.cell(col("speed")), t.cell(col("type"))); err != nil {
				return t.fail(max(col("speed"), 0), "%v", err)
			}
		}
	}
}

// device adds a device, also one without cables.
func (b *builder) device(at Place, name, role, model string) {
	k, r := roleSynonym(role)
	if guess, gr := kindOf(name); k == Unknown {
		k, r = guess, gr
	} else if k == Switch && r == "" {
		r = gr
	}
	n := b.node(at, name)
	x := &b.c.Nodes[n]
	x.Kind, x.Model = k, model
	if r != "" {
		x.Role = r
	}
}

var ethernetType = regexp.MustCompile(`^\d[\d.]*[mgt]?base`)

// portRate parses a port's speed in kb/s, as the API returns it, or with its unit, as in tables. It also parses the
// name of the port's type: 400gbase-x-osfp. Types other than Ethernet, and virtual ones, have none.
func (b *builder) portRate(at Place, device, port, speed, kind string) (err error) {
	var r unit.Rate
	switch kbps, no := strconv.ParseFloat(speed, 64); {
	case no == nil && kbps != 0:
		r, err = bounded(speed+" kb/s", kbps*1000, nil)
	case no != nil && speed != "":
		if r, err = parseRate(strings.ReplaceAll(speed, " ", "")); err != nil {
			err = fmt.Errorf("%q is not a speed; accepted: 400000000 in kb/s, 400 Gbps", speed)
		}
	case ethernetType.MatchString(kind):
		r, err = parseRate(kind)
	}
	if err == nil && r > 0 {
		b.setRate(b.node(at, device), port, r)
	}
	return err
}

func looksNetboxJSON(_, text string) bool {
	return isJSON(text) && (strings.Contains(text, "_terminations\"") ||
		strings.Contains(text, "\"termination_a\"") ||
		strings.Contains(text, "\"device_type\"") || strings.Contains(text, "/dcim/") ||
		strings.Contains(text, "\"link_peers"))
}

// readNetboxJSON reads the API's response for devices, interfaces or cables: {"results": [..]} or the list, or all
// three by name.
func readNetboxJSON(b *builder, text string) error {
	root, err := parseTree(text)
	if err != nil {
		return err
	}
	parts := []*tree{root}
	if root.kind == mapping {
		parts = nil
		for _, k := range []string{"devices", "interfaces", "cables", "results"} {
			if root.has(k) {
				parts = append(parts, root.get(k))
			}
		}
	}
	if parts == nil {
		return root.fail("expected results, or devices, interfaces and cables")
	}
	for _, p := range parts {
		if p.kind == mapping && p.has("results") {
			p = p.get("results")
		}
		for _, x := range p.items {
			if err := b.netboxObject(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// nameOf returns an object's name, or the string itself.
func nameOf(t *tree) string {
	if t.kind == mapping {
		for _, k := range []string{"slug", "name", "model", "value", "display"} {
			if v := t.get(k).text; v != "" {
				return v
			}
		}
	}
	return t.text
}

func (b *builder) netboxObject(x *tree) error {
	at := b.where(x)
	switch {
	case x.has("a_terminations") || x.has("termination_a"):
		a, z := flat(x.get("a_terminations")), flat(x.get("b_terminations"))
		if x.has("termination_a") {
			a, z = []*tree{x.get("termination_a")}, []*tree{x.get("termination_b")}
		}
		return b.netboxCable(x, a, z)
	case x.has("device_type"):
		role := x.get("role")
		if !x.has("role") {
			role = x.get("device_role")
		}
		if name := x.get("name").text; name != "" {
			model := x.get("device_type").get("model").text
			b.device(at, name, nameOf(role), model)
		}
	case x.has("device") && x.has("name"):
		dev := x.get("device").get("name").text
		if dev == "" {
			dev = x.get("device").text
		}
		kind := x.get("type").get("value").text
		if kind == "" {
			kind = x.get("type").text
		}
		if dev != "" {
			if err := b.portRate(at, dev, x.get("name").text, x.get("speed").text, kind); err != nil {
				return x.get("speed").fail("%v", err)
			}
			b.endpoint(at, dev, x)
		}
	default:
		b.note(at, "an object that is neither a device nor an interface nor a cable is left out")
	}
	return nil
}

// endpoint adds the cable of an interface with its far end: at the other side of patch panels, or at the next
// connector.
func (b *builder) endpoint(at Place, dev string, x *tree) {
	for _, k := range []string{"connected_endpoints", "link_peers"} {
		far := flat(x.get(k))
		if x.get(k+"_type").text != "dcim.interface" || len(far) != 1 {
			continue
		}
		name := far[0].get("device").get("name").text
		if name == "" {
			name = far[0].get("device").text
		}
		if port := far[0].get("name").text; name != "" && port != "" {
			b.cable(Cable{At: at, A: b.named(at, dev, x.get("name").text), B: b.named(at, name, port)})
			return
		}
	}
}

// netboxCable adds a cable; a split one has several ends on one side.
func (b *builder) netboxCable(x *tree, a, z []*tree) error {
	ends := func(side []*tree) (out []End) {
		for _, t := range side {
			if o := t.get("object_type").text; o != "" && o != "dcim.interface" {
				b.note(b.where(t), "an end at a %s is not an interface: the cable is left out", o)
				return nil
			}
			if t.has("object") {
				t = t.get("object")
			}
			dev := t.get("device").get("name").text
			if dev == "" {
				dev = t.get("device").get("display").text
			}
			port := t.get("name").text
			if dev == "" || port == "" {
				b.note(b.where(t), "an end without its device's and its own name (export with nested objects): the cable is left out")
				return nil
			}
			out = append(out, b.named(b.where(t), dev, port))
		}
		return out
	}
	from, to := ends(a), ends(z)
	if len(from) == 0 || len(to) == 0 {
		return nil
	}
	c := Cable{At: b.where(x)}
	if l := x.get("length").text; l != "" {
		mm, err := parseLength(l, strings.ToLower(nameOf(x.get("length_unit"))))
		if err != nil {
			return x.get("length").fail("%v", err)
		}
		c.LengthMM = mm
	}
	n := max(len(from), len(to))
	if n%len(from) != 0 || n%len(to) != 0 {
		return x.fail("a cable with %s on one side and %d on the other", unit.Plural(len(from), "end"), len(to))
	}
	for i := range n {
		c.A, c.B = from[i*len(from)/n], to[i*len(to)/n]
		for _, e := range []struct {
			end  *End
			many int
		}{{&c.A, n / len(from)}, {&c.B, n / len(to)}} {
			if e.many > 1 { // a split port, whose lanes have separate names
				e.end.Port += "/" + strconv.Itoa(i%e.many+1)
			}
		}
		b.cable(c)
	}
	return nil
}
