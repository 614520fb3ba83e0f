package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

func isChakraJSON(text []byte) bool {
	for _, mark := range []string{`"workload_graph"`, `"COMM_COLL_NODE"`, `"COMP_NODE"`, `"COMM_SEND_NODE"`,
		`"durationMicros"`, `chakra.0.0.`} {
		if bytes.Contains(text, []byte(mark)) {
			return true
		}
	}
	return false
}

// readJSON reads nodes one by one, from the feeder's workload_graph or from consecutive objects as Chakra's
// jsonizer prints them, metadata first.
func (c *chakra) readJSON(file string, text []byte, add func(saidNode) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	fail := func(err error) error {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return at(file, lineAt(text, int64(len(text))), "ends early")
		}
		var place *field.Error
		if errors.As(err, &place) {
			return err
		}
		return at(file, lineAt(text, d.InputOffset()), "%v", err)
	}
	seen, line := int64(0), 1 // bytes so far, and the line
	take := func() error {
		from := d.InputOffset()
		var raw map[string]json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fail(err)
		}
		from = int64(len(text) - len(bytes.TrimLeft(text[from:], ", \t\r\n")))
		line += bytes.Count(text[seen:from], []byte("\n"))
		seen = from
		n, is, err := jsonNode(raw)
		switch {
		case err != nil:
			return at(file, line, "%v", err)
		case !is:
			return nil
		}
		if why := n.impossible(); why != "" {
			return at(file, line, "node %d %s", n.id, why)
		}
		return add(n)
	}
	if !bytes.Contains(text[:min(len(text), head)], []byte(`"workload_graph"`)) {
		if bytes.Contains(text[:min(len(text), head)], []byte(`"schema"`)) {
			return at(file, 1, "is an execution trace of PyTorch, which has no durations; accepted: what Chakra's chakra_trace_link and chakra_converter make of it; --format pytorch-et reads its collectives")
		}
		for d.More() {
			if err := take(); err != nil {
				return err
			}
		}
		return nil
	}
	for {
		token, err := d.Token()
		if err != nil {
			return fail(err)
		}
		if token == "workload_graph" {
			break
		}
	}
	if token, err := d.Token(); err != nil || token != json.Delim('[') {
		return at(file, lineAt(text, d.InputOffset()), "workload_graph is not a list of nodes")
	}
	for d.More() {
		if err := take(); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return fail(err)
	}
	return nil
}

// lineAt returns the line of a byte offset.
func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(int(offset), len(text))], []byte("\n"))
}

// jsonNode reads a node by its keys, in either spelling (dataDeps, data_deps). It returns false for one without a
// number, such as metadata.
func jsonNode(raw map[string]json.RawMessage) (n saidNode, is bool, err error) {
	n = newChakraNode()
	keys := make([]string, 0, len(raw))
	for k := range raw {
		keys = append(keys, k)
	}
	slices.Sort(keys) // so that the same error is reported when there are two
	for _, key := range keys {
		v := raw[key]
		fault := func(e error) {
			if e != nil && err == nil {
				err = fmt.Errorf("%s: %w", key, e)
			}
		}
		switch strings.ToLower(strings.ReplaceAll(key, "_", "")) {
		case "id":
			x, e := jsonNumber(v)
			if e == nil && x < 0 {
				e = fmt.Errorf("found %d, expected 0 or more", x)
			}
			fault(e)
			n.id, is = uint64(x), true
		case "name":
			fault(json.Unmarshal(v, &n.name))
		case "type", "nodetype":
			fault(n.jsonKind(v))
		case "datadeps":
			n.data, err = jsonNumbers(v, err)
		case "ctrldeps":
			n.ctrl, err = jsonNumbers(v, err)
		case "runtime", "durationmicros":
			x, e := jsonNumber(v)
			fault(e)
			n.dur = lasting(uint64(x), unit.Microsecond) // a negative time is too long as well
		case "inputs":
			var in struct{ Values any }
			if json.Unmarshal(v, &in) == nil && in.Values != nil {
				n.values = fmt.Sprint(in.Values)
			}
		case "attr":
			var attrs []map[string]json.RawMessage
			fault(json.Unmarshal(v, &attrs))
			for _, a := range attrs {
				n.jsonAttribute(a)
			}
		default:
			n.put(key, jsonValue(v))
		}
	}
	return n, is, err
}

// jsonKind reads a node's type: a number or a name.
func (n *saidNode) jsonKind(v json.RawMessage) error {
	var name string
	if json.Unmarshal(v, &name) == nil {
		if i := slices.Index(chakraKinds, name); i >= 0 {
			n.kind = chakraKind(i)
			return nil
		}
	}
	x, err := jsonNumber(v)
	if err != nil || x < 0 || x > 255 {
		return fmt.Errorf("found %s, expected one of %s", field.Quote(string(v)), strings.Join(chakraKinds, ", "))
	}
	n.kind = chakraKind(x)
	return nil
}

// jsonAttribute reads {"name": N, "int64Val": V}.
func (n *saidNode) jsonAttribute(a map[string]json.RawMessage) {
	var name string
	if json.Unmarshal(a["name"], &name) != nil {
		return
	}
	for key, v := range a {
		lower := strings.ToLower(strings.ReplaceAll(key, "_", ""))
		switch {
		case strings.HasSuffix(lower, "list"):
			var list struct{ Values []any }
			if json.Unmarshal(v, &list) == nil {
				var x chakraValue
				for _, b := range list.Values {
					x.bools = append(x.bools, b == true)
				}
				n.put(name, x)
			}
		case strings.HasSuffix(lower, "val"):
			n.put(name, jsonValue(v))
		}
	}
}

// jsonValue reads a number, a word, true or false, or a list of those last.
func jsonValue(v json.RawMessage) (x chakraValue) {
	if num, err := jsonNumber(v); err == nil {
		x.num = num
	}
	if json.Unmarshal(v, &x.text) == nil {
		if _, err := strconv.ParseInt(x.text, 10, 64); err == nil {
			x.text = ""
		}
	}
	var yes bool
	if json.Unmarshal(v, &yes) == nil && yes {
		x.num = 1
	}
	json.Unmarshal(v, &x.bools) // otherwise it is not a list of bools
	return x
}

// jsonNumber reads an integer, which protobuf's JSON quotes if its type has 64 bits.
func jsonNumber(v json.RawMessage) (int64, error) {
	word := strings.Trim(strings.TrimSpace(string(v)), `"`)
	x, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(word, 64)
		if err != nil || f != f || f > 1<<62 || f < -1<<62 {
			return 0, fmt.Errorf("found %s, expected a number", field.Quote(word))
		}
		x = int64(f)
	}
	return x, nil
}

// jsonNumbers reads a list of integers, or one integer.
func jsonNumbers(v json.RawMessage, err error) (all []uint64, _ error) {
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		list = []json.RawMessage{v}
	}
	for _, w := range list {
		x, e := jsonNumber(w)
		if e == nil && x < 0 {
			e = fmt.Errorf("found %d, expected a node's number", x)
		}
		if e != nil && err == nil {
			err = fmt.Errorf("dependencies: %w", e)
		}
		all = append(all, uint64(x))
	}
	return all, err
}
