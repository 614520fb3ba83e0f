package counters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// inJSON visits the leaves below the objects of interfaces: path[0] is the interface. A
// leaf's value is a number, or one in quotes.
func (r *reading) inJSON(root string, leaf func(p *Port, path []string, c Count)) {
	w := r.walker()
	found := false
	err := w.object(func(key string) error {
		if key != root {
			var skip json.RawMessage
			return w.d.Decode(&skip)
		}
		found = true
		return w.below(nil, func(path []string, at int, v string) {
			l := line{at, strings.Join(path, ".") + ": " + v}
			if c, ok := number(v, l); ok && len(path) > 1 {
				leaf(r.port(longName(path[0]), l), path[1:], c)
			}
		})
	})
	if err != nil {
		r.all.fail(w.at(), "is not JSON of this command: %v; is it truncated?", err)
	} else if !found {
		r.not(r.lines[0], "has no %q", root)
	}
}

// below visits the values below an object, up to a depth.
func (w *walker) below(path []string, visit func(path []string, at int, v string)) error {
	if len(path) > 8 {
		return fmt.Errorf("objects in one another more than 8 deep")
	}
	return w.object(func(key string) error {
		path := append(path[:len(path):len(path)], key)
		at := w.at()
		rest := strings.TrimLeft(w.text[w.d.InputOffset():], ": \t\r\n")
		if strings.HasPrefix(rest, "{") {
			return w.below(path, visit)
		}
		var raw json.RawMessage
		if err := w.d.Decode(&raw); err != nil {
			return err
		}
		v := string(raw)
		_ = json.Unmarshal(raw, &v) // a string; other values stay as written
		visit(path, at, v)
		return nil
	})
}

// priority is a queue's or a priority's number.
func priority(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && n < Priorities
}

func readEOSPFCDetail(r *reading) {
	r.inJSON("interfaces", func(p *Port, path []string, c Count) {
		if len(path) != 3 || path[0] != "priorities" {
			return
		}
		if i, ok := priority(path[1]); ok && path[2] == "rxFrames" {
			p.RxPFC[i] = c
		} else if ok && path[2] == "txFrames" {
			p.TxPFC[i] = c
		}
	})
}

func readEOSWatchdog(r *reading) {
	r.inJSON("interfaces", func(p *Port, path []string, c Count) {
		if len(path) != 3 || path[0] != "txQueues" {
			return
		}
		if i, ok := priority(path[1]); ok && path[2] == "stuckCount" {
			p.Queues[i].Detected = c
		} else if ok && path[2] == "recoveryCount" {
			p.Queues[i].Restored = c
		}
	})
}

func readEOSECN(r *reading) {
	r.inJSON("intfQueueCounters", func(p *Port, path []string, c Count) {
		if len(path) == 2 && path[0] == "queueCounters" {
			if i, ok := priority(path[1]); ok {
				p.Queues[i].Marked = c
			}
		}
	})
}

// readEOSPFC reads the table, or its JSON.
func readEOSPFC(r *reading) {
	for _, l := range r.lines {
		if s := strings.TrimSpace(l.text); s == "{" {
			r.inJSON("interfaceCounters", func(p *Port, path []string, c Count) {
				switch path[0] {
				case "rxFrames":
					p.RxPFCAll = c
				case "txFrames":
					p.TxPFCAll = c
				}
			})
			return
		} else if s != "" {
			break
		}
	}
	readWide(r)
}

// writeJSON writes an object of interfaces, each with an object of objects by queue.
func writeJSON(w *bytes.Buffer, s *Snapshot, root, group string, of func(p *Port, i int) []string) {
	var ports []string
	for i := range s.Ports {
		var all []string
		for k := range Priorities {
			if f := of(&s.Ports[i], k); len(f) == 1 && !strings.Contains(f[0], ":") {
				all = append(all, fmt.Sprintf("                \"%d\": %s", k, f[0]))
			} else if len(f) > 0 {
				all = append(all, fmt.Sprintf("                \"%d\": {\n                    %s\n                }", k,
					strings.Join(f, ",\n                    ")))
			}
		}
		if len(all) > 0 {
			ports = append(ports, fmt.Sprintf("        %q: {\n            %q: {\n%s\n            }\n        }",
				s.Ports[i].Name, group, strings.Join(all, ",\n")))
		}
	}
	if len(ports) > 0 {
		fmt.Fprintf(w, "{\n    %q: {\n%s\n    }\n}\n", root, strings.Join(ports, ",\n"))
	}
}

func writeEOSPFCDetail(w *bytes.Buffer, s *Snapshot) {
	writeJSON(w, s, "interfaces", "priorities", func(p *Port, i int) []string {
		if !p.RxPFC[i].Is && !p.TxPFC[i].Is {
			return nil
		}
		return []string{`"rxFrames": ` + p.RxPFC[i].zero(), `"txFrames": ` + p.TxPFC[i].zero()}
	})
}

func writeEOSWatchdog(w *bytes.Buffer, s *Snapshot) {
	writeJSON(w, s, "interfaces", "txQueues", func(p *Port, i int) []string {
		q := &p.Queues[i]
		if !q.Detected.Is {
			return nil
		}
		return []string{`"stuckCount": ` + q.Detected.zero(), `"recoveryCount": ` + q.Restored.zero()}
	})
}

func writeEOSECN(w *bytes.Buffer, s *Snapshot) {
	writeJSON(w, s, "intfQueueCounters", "queueCounters", func(p *Port, i int) []string {
		if c := p.Queues[i].Marked; c.Is {
			return []string{`"` + c.String() + `"`}
		}
		return nil
	})
}
