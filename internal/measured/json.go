package measured

import (
	"encoding/json"
	"strconv"
	"strings"

	"railyard/internal/stream"
	"railyard/internal/tally"
	"railyard/unit"
)

// json identifies the source of a file by its first key. nccl-tests and perftest write one object, Inspector many.
func (s *Set) json(file string, src *stream.Source, x *inspector) error {
	head := string(src.Head(1 << 16))
	switch {
	case strings.Contains(head, `"coll_perf"`) || strings.Contains(head, `"p2p_perf"`) ||
		strings.Contains(head, `"inspector_output_format_version"`):
		return x.read(file, src)
	case strings.Contains(head, `"test_info"`):
		return s.perftestJSON(file, src)
	}
	return s.ncclTestsJSON(file, src)
}

// testConfig is the set-up in the output of nccl-tests -J.
type testConfig struct {
	Iterations int `json:"iterations"`
	Devices    []struct {
		Host string `json:"hostname"`
		Info string `json:"device_info"`
	} `json:"devices"`
}

// testRow is a row of its results; a direction that was not run has none.
type testRow struct {
	Size  int64           `json:"size"`
	Type  string          `json:"type"`
	Redop string          `json:"redop"`
	Out   json.RawMessage `json:"out_of_place"`
	In    json.RawMessage `json:"in_place"`
	Name  string          `json:"experiment_name"`
}

type testIn struct {
	Time  float64  `json:"time"`
	CPU   float64  `json:"cpu_time"`
	AlgBW float64  `json:"alg_bw"`
	BusBW float64  `json:"bus_bw"`
	Wrong *float64 `json:"nwrong"`
}

// ncclTestsJSON reads what nccl-tests writes with -J.
func (s *Set) ncclTestsJSON(file string, src *stream.Source) error {
	t := &ncclTests{set: s, file: file, first: len(s.Collectives)}
	err := src.Under("results", func(raw []byte, line int) error {
		var r testRow
		if raw == nil || json.Unmarshal(raw, &r) != nil {
			tally.Note(&s.Report.Left, "results that are not as nccl-tests writes them", file, line)
			return nil
		}
		if name := perf.FindString(r.Name); name != "" && name != t.command {
			t.called(name)
		}
		for i, raw := range []json.RawMessage{r.Out, r.In} {
			var half *testIn
			if json.Unmarshal(raw, &half) != nil && len(raw) > 0 { // the other half may be valid
				tally.Note(&s.Report.Left, "halves of results that are not as nccl-tests writes them", file, line)
				continue
			}
			if half == nil || s.full() {
				continue
			}
			wrong := 0.0
			if half.Wrong != nil {
				wrong = *half.Wrong
			}
			t.half(line, r.Size, r.Type, r.Redop, max(half.Time, half.CPU), half.AlgBW, half.BusBW, wrong, i == 1)
		}
		return nil
	}, func(key string, raw []byte) error {
		var config testConfig
		var args []string
		switch {
		case key == "config" && json.Unmarshal(raw, &config) == nil:
			t.iters, t.ranks, t.hosts = config.Iterations, len(config.Devices), map[string]bool{}
			for _, d := range config.Devices {
				t.hosts[d.Host], t.gpu = true, d.Info
			}
		case key == "args" && json.Unmarshal(raw, &args) == nil && len(args) > 0:
			if name := perf.FindString(args[0]); name != "" {
				t.called(name)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.finish()
	return nil
}

// perftestJSON parses perftest's --out_json: the set-up and one result, or several in numbered or repeated objects.
func (s *Set) perftestJSON(file string, src *stream.Source) error {
	p := &perftest{set: s, file: file}
	return src.Objects(func(raw []byte, line int) error {
		var all struct {
			Info    map[string]any             `json:"test_info"`
			Results map[string]json.RawMessage `json:"results"`
		}
		if raw == nil || json.Unmarshal(raw, &all) != nil || all.Results == nil {
			tally.Note(&s.Report.Left, "objects that are not as perftest writes them", file, line)
			return nil
		}
		p.info(all.Info)
		p.pair.Line = line
		p.result(all.Results)
		return nil
	})
}

// info reads the set-up.
func (p *perftest) info(info map[string]any) {
	word := func(key string) string { s, _ := info[key].(string); return s }
	number := func(key string) int {
		switch v := info[key].(type) {
		case float64:
			return int(v)
		case string:
			n, _ := strconv.Atoi(v)
			return n
		}
		return 0
	}
	title := strings.ReplaceAll(word("test"), "_", " ")
	for _, x := range []string{"RDMA Write", "RDMA Read"} {
		title = strings.Replace(title, x, strings.ReplaceAll(x, " ", "_"), 1)
	}
	words := strings.Fields(title)
	verb := ""
	if len(words) > 0 {
		verb = verbs[words[0]]
	}
	p.title(verb, words)
	p.pair.QPs, p.pair.MTU = number("Number_of_qps"), unit.Bytes(number("Mtu"))
	p.pair.Transport, p.pair.Link, p.pair.Device = word("Connection_type"), word("Link_type"), word("Device")
	p.pair.Latency = p.pair.Latency || strings.Contains(title, "Latency")
}

// result reads the values of a result, or of the results inside it.
func (p *perftest) result(r map[string]json.RawMessage) {
	x, ok, some := p.pair, true, false
	for _, c := range []struct{ key, name string }{{"MsgSize", "bytes"}, {"n_iterations", "iterations"},
		{"BW_peak", "peak"}, {"BW_average", "rate"}, {"MsgRate", "messages"}, {"t_min", "least"},
		{"t_max", "most"}, {"t_typical", "typical"}, {"t_avg", "mean"}, {"percentile_99", "p99"},
		{"percentile_99.9", "p999"}} {
		var v float64
		raw, there := r[c.key]
		if !there {
			continue
		}
		some = true
		if json.Unmarshal(raw, &v) != nil || !p.take(&x, c.name, v) {
			ok = false
		}
	}
	if some {
		if !x.Latency {
			tally.Note(&p.set.Report.Guessed, "bandwidths in perftest's JSON, which names no unit: MiB/s, its default", p.file, x.Line)
		}
		p.add(x, ok)
	}
}
