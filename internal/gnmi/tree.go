package gnmi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/counters"

	pb "github.com/openconfig/gnmi/proto/gnmi"
)

// tree collects a device's answers.
type tree struct {
	target string
	name   string // name in the device's notation
	at     int64  // time of the first answer, in ns
	leaves int
	bytes  int // of all messages
	ports  []*counters.Port
	byName map[string]*counters.Port
}

func newTree(target string) *tree { return &tree{target: target, byName: map[string]*counters.Port{}} }

func (t *tree) port(name string) *counters.Port {
	p := t.byName[name]
	if p == nil {
		p = &counters.Port{Name: name}
		t.byName[name] = p
		t.ports = append(t.ports, p)
	}
	return p
}

// received counts the bytes of a message, and gRPC's bytes for one.
func (t *tree) received(n int) error {
	const framed = 64
	if t.bytes += n + framed; t.bytes > maxBytes {
		return &excess{t.target, fmt.Sprintf("%d MiB", maxBytes>>20)}
	}
	return nil
}

// snapshot returns the gathered counters, ports in the order of arrival.
func (t *tree) snapshot() *counters.Snapshot {
	s := &counters.Snapshot{Device: t.name, Kind: counters.Switch, Format: "gnmi", File: t.target}
	if s.Device == "" {
		s.Device = t.target[:strings.LastIndexByte(t.target, ':')]
	}
	if t.at > 0 {
		s.At = counters.Moment{Seconds: t.at / 1e9, Nanos: t.at % 1e9, Is: true}
	}
	for _, p := range t.ports {
		s.Ports = append(s.Ports, *p)
	}
	return s
}

// step is an element of a path: its name without the module, and its key.
type step struct{ name, key string }

// bare is a name without its module: openconfig-qos:qos; SONiC's Ethernet8:3 has none.
func bare(name string) string {
	if strings.HasPrefix(name, "Ethernet") {
		return name
	}
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		return name[i+1:]
	}
	return name
}

func steps(of ...*pb.Path) (out []step) {
	for _, p := range of {
		for _, e := range p.GetElem() {
			s := step{name: bare(e.Name)}
			if len(e.Key) > 0 {
				keys := make([]string, 0, len(e.Key))
				for k := range e.Key {
					keys = append(keys, k)
				}
				s.key = e.Key[slices.Min(keys)]
			}
			out = append(out, s)
		}
	}
	return out
}

// add takes a message.
func (t *tree) add(n *pb.Notification) error {
	if t.at == 0 {
		t.at = n.Timestamp
	}
	for _, u := range n.Update {
		if err := t.take(steps(n.Prefix, u.Path), u.Val); err != nil {
			return err
		}
	}
	return nil
}

// take takes a value: a leaf, or a subtree as JSON.
func (t *tree) take(at []step, v *pb.TypedValue) error {
	var text []byte
	switch x := v.GetValue().(type) {
	case *pb.TypedValue_JsonIetfVal:
		text = x.JsonIetfVal
	case *pb.TypedValue_JsonVal:
		text = x.JsonVal
	case *pb.TypedValue_UintVal:
		return t.leaf(at, value{text: strconv.FormatUint(x.UintVal, 10), n: x.UintVal, num: true})
	case *pb.TypedValue_IntVal:
		return t.leaf(at, value{text: strconv.FormatInt(x.IntVal, 10), n: uint64(max(x.IntVal, 0)),
			num: x.IntVal >= 0})
	case *pb.TypedValue_BoolVal:
		return t.leaf(at, value{text: strconv.FormatBool(x.BoolVal)})
	case *pb.TypedValue_DoubleVal:
		return t.leaf(at, float(x.DoubleVal))
	case *pb.TypedValue_StringVal:
		return t.leaf(at, word(x.StringVal))
	default:
		return nil
	}
	if len(text) > maxName && text[0] == '"' {
		return nil // a text, which no counter is
	}
	if values(text) > maxElements {
		return &excess{t.target, fmt.Sprintf("%d values in one leaf", maxElements)}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return fmt.Errorf("%s: the JSON at %s cannot be read: %w", t.target, written(at), err)
	}
	return t.json(at, tree)
}

// json walks a subtree. A list's entries name themselves by one of the usual keys.
func (t *tree) json(at []step, v any) error {
	if len(at) > maxDepth {
		return nil
	}
	switch x := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(x))
		for n := range x {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			if err := t.json(append(at[:len(at):len(at)], step{name: bare(n)}), x[n]); err != nil {
				return err
			}
		}
	case []any:
		for _, e := range x {
			m, ok := e.(map[string]any)
			if !ok || len(at) == 0 {
				continue
			}
			here := slices.Clone(at)
			here[len(here)-1].key = keyOf(m)
			if err := t.json(here, m); err != nil {
				return err
			}
		}
	case json.Number:
		return t.leaf(at, word(x.String()))
	case string:
		return t.leaf(at, word(x))
	case bool:
		return t.leaf(at, value{text: strconv.FormatBool(x)})
	}
	return nil
}

// keyOf returns the name of a list's entry.
func keyOf(m map[string]any) string {
	for _, k := range []string{"name", "interface-id", "dot1p", "cos", "id", "index", "switch-priority"} {
		for n, v := range m {
			if bare(n) == k {
				return fmt.Sprint(v)
			}
		}
	}
	return ""
}

// word returns a value as a string, a number if it is one: JSON_IETF quotes 64-bit values.
func word(s string) value {
	v := value{text: s}
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		v.n, v.num = n, true
	}
	return v
}

func float(f float64) value {
	v := value{text: strconv.FormatFloat(f, 'g', -1, 64)}
	if f >= 0 && f < math.MaxUint64 && f == math.Trunc(f) {
		v.n, v.num = uint64(f), true
	}
	return v
}

// leaf takes a value at its path.
func (t *tree) leaf(at []step, v value) error {
	if t.leaves++; t.leaves > maxLeaves {
		return &excess{t.target, fmt.Sprintf("%d leaves", maxLeaves)}
	}
	if len(t.ports) > maxPorts {
		return &excess{t.target, fmt.Sprintf("%d interfaces", maxPorts)}
	}
	for _, s := range at {
		if len(s.key) > maxName || len(s.name) > maxName {
			return &excess{t.target, fmt.Sprintf("%d letters in a name", maxName)}
		}
	}
	if len(v.text) > maxName {
		return nil // no counter, and no name
	}
	path := written(at)
	if path == "system/state/hostname" {
		t.name = v.text
		return nil
	}
	if n := len(at); n >= 2 && strings.HasPrefix(at[n-1].name, "SAI_") { // SONiC
		t.sonic(sonicName(at[:n-1]), at[n-1].name, v)
		return nil
	}
	put := leaves[path]
	if put == nil {
		return nil
	}
	port, key := "", -1
	for _, s := range at {
		switch {
		case s.key == "":
		case s.name == "interface":
			port = s.key
		case s.name == "queue" || s.name == "pfc-priority" || s.name == "switch-priority":
			key = number(s.key)
		}
	}
	if port != "" && !(key < 0 && perClass(path)) {
		put(t.port(port), key, v)
	}
	return nil
}

// perClass reports a path of a queue or a priority: without its number it is ignored.
func perClass(path string) bool {
	return strings.HasPrefix(path, qosQueue) || strings.HasPrefix(path, qosPFC) || strings.HasPrefix(path, nvidia)
}

// sonicName returns the port or the queue in the last element with such a name.
func sonicName(at []step) string {
	for i := len(at) - 1; i >= 0; i-- {
		if strings.HasPrefix(at[i].name, "Ethernet") {
			return at[i].name
		}
	}
	return ""
}

// number returns that of a queue: 3, UC3, queue-3, Ethernet8:3; -1 for none.
func number(s string) int {
	i := len(s)
	for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
		i--
	}
	if n, err := strconv.Atoi(s[i:]); err == nil {
		return n
	}
	return -1
}

// written is a path without its keys.
func written(at []step) string {
	names := make([]string, len(at))
	for i, s := range at {
		names[i] = s.name
	}
	return strings.Join(names, "/")
}
