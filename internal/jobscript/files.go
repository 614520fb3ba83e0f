package jobscript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/slurm"
)

// maxFile bounds a file of arguments.
const maxFile = 1 << 20

// File reads a file of arguments: DeepSpeed's JSON, a model's config.json or another program's JSON, YAML with a key a
// line. An earlier setting on the command line precedes it.
func (s *Said) File(name string, text []byte) error {
	if len(text) > maxFile {
		return slurm.Place{File: name}.Fail("", "is longer than the %d KiB that are read", maxFile>>10)
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return slurm.Place{File: name}.Fail("", "is not text")
	}
	var vals []Value
	var err error
	if t := bytes.TrimSpace(text); len(t) > 0 && t[0] == '{' {
		vals, err = flatJSON(name, text)
	} else if strings.HasSuffix(name, ".toml") {
		vals = flatTOML(name, string(text))
	} else {
		vals = flatYAML(name, string(text))
	}
	if err != nil {
		return err
	}
	refer(vals)
	deepspeed := isDeepSpeed(vals)
	before := map[string]Value{}
	for k, v := range s.vals {
		before[k] = v
	}
	for _, v := range vals {
		f := s.fileFlag(v, deepspeed)
		if f == nil {
			s.Left = append(s.Left, v)
			continue
		}
		if err := s.set(f, v); err != nil {
			return err
		}
	}
	for k, v := range before {
		if is := s.vals[k]; deepspeed && is.Text != v.Text && (k == "micro" || k == "global" || k == "zero") {
			return is.At.Fail(is.Name, "is %s, and %s has %s (line %d)", is.Text, v.Name, v.Text, v.At.Line)
		}
		s.vals[k] = v
	}
	return nil
}

// deepSpeedKeys are the keys of a DeepSpeed configuration by whole paths, in addition to the common names.
var deepSpeedKeys = map[string]string{"train_batch_size": "global", "zero_optimization.stage": "zero",
	"bf16.enabled": "bf16", "fp16.enabled": "fp16", "bfloat16.enabled": "bf16",
	"tensor_parallel.autotp_size": "tp"}

// fileFlag finds the flag of a value in a file; nil: irrelevant.
func (s *Said) fileFlag(v Value, deepspeed bool) *flag {
	if key, ok := deepSpeedKeys[v.Name]; ok && deepspeed {
		for i := range flags {
			if flags[i].key == key {
				return &flags[i]
			}
		}
	}
	if v.Name == remade {
		return byName["recompute_granularity"]
	}
	f, ok := byName[plainName(v.Name)]
	if !ok || deepspeed && (f.key == "zero" || f.key == "local" || f.key == "type") ||
		f.key == "config" || f.key == "deepspeed" {
		return nil
	}
	return f
}

// isDeepSpeed reports whether values are those of a DeepSpeed configuration.
func isDeepSpeed(vals []Value) bool {
	return slices.ContainsFunc(vals, func(v Value) bool {
		return strings.HasPrefix(v.Name, "zero_optimization") || v.Name == "train_micro_batch_size_per_gpu"
	})
}

// flatJSON is the values of an object with their paths.
func flatJSON(name string, text []byte) (out []Value, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var path []string
	var lists []bool // by level: a list
	key := ""        // the key of the next value
	line := func() int { return 1 + bytes.Count(text[:min(int(d.InputOffset()), len(text))], []byte("\n")) }
	for {
		t, err := d.Token()
		if err != nil {
			if len(lists) == 0 && len(out) > 0 {
				return out, nil
			}
			return nil, slurm.Place{File: name, Line: line(), Col: 1}.Fail("", "is not JSON: %v", err)
		}
		in := len(lists) > 0 && lists[len(lists)-1]
		switch x := t.(type) {
		case json.Delim:
			switch x {
			case '{', '[':
				if len(lists) >= 64 {
					return nil, slurm.Place{File: name, Line: line(), Col: 1}.Fail("", "is nested deeper than 64")
				}
				lists = append(lists, x == '[')
				path = append(path, key)
				key = ""
			default:
				lists, path = lists[:len(lists)-1], path[:len(path)-1]
				if len(lists) == 0 {
					return out, nil
				}
			}
			continue
		case string:
			if !in && key == "" {
				if key = x; key == "" {
					key = "-"
				}
				continue
			}
		}
		if in {
			continue // elements of lists have no names
		}
		full := strings.TrimLeft(strings.Join(append(path[:len(path):len(path)], key), "."), ".")
		out = append(out, Value{Text: fmt.Sprint(t), Name: full, At: slurm.Place{File: name, Line: line(), Col: 1}})
		key = ""
	}
}

// pair is a line of YAML with a key and a value.
var pair = regexp.MustCompile(`^( *)(?:- )?["']?((?:--)?[A-Za-z_][A-Za-z0-9_.-]*)["']?\s*:\s*(.*?)\s*$`)

// flatYAML is the values of a file with a key a line, with their paths; lists and braces are not read.
func flatYAML(name, text string) (out []Value) {
	type level struct {
		indent int
		key    string
	}
	var path []level
	for i, l := range strings.Split(text, "\n") {
		m := pair.FindStringSubmatch(strings.TrimSuffix(l, "\r"))
		if m == nil {
			continue
		}
		for len(path) > 0 && path[len(path)-1].indent >= len(m[1]) {
			path = path[:len(path)-1]
		}
		v, _, _ := strings.Cut(m[3], " #")
		v = strings.Trim(strings.TrimSpace(v), `"'`)
		if v == "" || strings.HasPrefix(v, "#") {
			if len(path) < 64 {
				path = append(path, level{len(m[1]), m[2]})
			}
			continue
		}
		full := ""
		for _, p := range path {
			full += p.key + "."
		}
		out = append(out, Value{Text: v, Name: full + m[2], At: slurm.Place{File: name, Line: i + 1,
			Col: len(m[1]) + 1}})
	}
	return out
}

// heading and setting are lines of TOML.
var (
	heading = regexp.MustCompile(`^\s*\[+\s*([A-Za-z0-9_.-]+)\s*\]+\s*(?:#.*)?$`)
	setting = regexp.MustCompile(`^\s*([A-Za-z0-9_.-]+)\s*=\s*("[^"]*"|'[^']*'|[^#]*)`)
)

// flatTOML is the values of a file with a key a line under headings, as torchtitan's; lists are not read.
func flatTOML(name, text string) (out []Value) {
	under := ""
	for i, l := range strings.Split(text, "\n") {
		if m := heading.FindStringSubmatch(l); m != nil {
			under = m[1] + "."
			continue
		}
		m := setting.FindStringSubmatchIndex(l)
		if m == nil {
			continue
		}
		v := strings.TrimSpace(l[m[4]:m[5]])
		out = append(out, Value{Text: strings.Trim(v, `"'`), Name: under + l[m[2]:m[3]],
			At: slurm.Place{File: name, Line: i + 1, Col: m[2] + 1}})
	}
	return out
}

// refer replaces ${key} and ${group.key} by the values of these keys, as OmegaConf does.
func refer(vals []Value) {
	by := map[string]string{}
	for _, v := range vals {
		by[v.Name] = v.Text
	}
	for i := range vals {
		for range 4 { // a chain of them, or a circle
			key, ok := strings.CutPrefix(vals[i].Text, "${")
			if key, end := strings.CutSuffix(key, "}"); ok && end && by[key] != "" {
				vals[i].Text = by[key]
			}
		}
	}
}
