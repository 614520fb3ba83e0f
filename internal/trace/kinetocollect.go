package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// collectAll collects a step of all files. A file without a kernel in it ends that, and is returned. The streamed parts
// are written once all files are known to have some.
func collectAll(all []*kineto, step int) (empty *kineto, err error) {
	passes := []bool{false}
	if all[0].o.Keep != nil {
		passes = []bool{true, false}
	}
	for _, dry := range passes {
		for _, k := range all {
			within := span{-1 << 62, 1 << 62}
			if step >= 0 {
				within = k.steps[step]
			}
			o, report := k.o, k.report
			k.calls, k.report = nil, &Report{}
			if dry {
				without := *o
				without.Keep = nil
				k.o = &without
			}
			err := k.collect(step, within)
			k.o, k.report, k.tried = o, report, k.report
			if err != nil {
				return nil, err
			}
			if !dry && len(k.kernels) > 0 {
				report.Join(*k.tried)
			}
			if len(k.kernels) == 0 {
				return k, nil
			}
		}
	}
	return nil, nil
}

// collect keeps the events of a step: the CPU's launches, and the resulting kernels.
func (k *kineto) collect(step int, within span) error {
	k.launched, k.comms, k.kernels, k.titles = map[int64]launch{}, map[int64]kinetoArgs{}, nil, nil
	k.heading(step, within)
	defer k.o.kept(k.Name, "\n]}\n")
	latest := int64(1 << 62) // the GPU may be late
	if within.to < 1<<61 {
		latest = within.to + 10*(within.to-within.from)
	}
	err := k.events(func(raw []byte, line int) error {
		if raw == nil {
			return nil
		}
		category := category(raw)
		kind := strings.TrimPrefix(category, "gpu_")
		cpu := category == "cuda_runtime" || category == "cuda_driver" || category == "runtime" ||
			category == "cpu_op" && bytes.Contains(raw, []byte("record_param_comms")) ||
			category == "user_annotation" && bytes.Contains(raw, []byte(titled)) &&
				bytes.Contains(raw, []byte(`"Input Dims"`))
		if !cpu && kind != "kernel" && kind != "memcpy" && kind != "memset" {
			return nil
		}
		var e kinetoEvent
		if json.Unmarshal(raw, &e) != nil {
			note(&k.report.Left, "events not in the format of Kineto", k.Name, line)
			return nil
		}
		from, to, ok := e.span()
		if !ok {
			note(&k.report.Left, "events with an impossible time", k.Name, line)
			return nil
		}
		if cpu {
			if k.launch(&e, span{from, to}, within) {
				k.o.kept(k.Name, ",\n", string(raw))
			}
			return nil
		}
		if from < within.from || from > latest {
			return nil
		}
		if e.Dur == "" {
			note(&k.report.Guessed, "kernels without a duration (dur), simulated without one", k.Name, line)
		}
		if len(k.kernels) >= maxKernels {
			return at(k.Name, line, "the step has more than the %d kernels that are read", maxKernels)
		}
		k.keep(&e, from, to, line)
		k.o.kept(k.Name, ",\n", string(raw))
		return nil
	}, func(string, []byte) error { return nil })
	if err != nil {
		return err
	}
	k.settle(within)
	return nil
}

// nothing reports that a file has no kernel in a step.
func (k *kineto) nothing(step int) error {
	where := "it"
	if step >= 0 {
		where = "step " + strconv.Itoa(step)
	}
	if left := slices.Concat(k.report.Left, k.tried.Left); len(left) > 0 {
		return at(k.Name, 0, "has no kernel in %s that can be read; left out: %s", where, left[len(left)-1].Words())
	}
	return at(k.Name, 0, "has no kernel in %s: was the GPU profiled then (ProfilerActivity.CUDA)?", where)
}

// heading starts the stored part of the file: its ranks, and the step.
func (k *kineto) heading(step int, within span) {
	if k.o.Keep == nil {
		return
	}
	said, err := json.Marshal(k.info)
	if err != nil {
		said = []byte("{}")
	}
	k.o.kept(k.Name, `{"schemaVersion": 1, "distributedInfo": `, string(said), `, "traceEvents": [`+"\n{}")
	if step >= 0 {
		micros := func(ns int64) string { return fmt.Sprintf("%d.%03d", ns/1000, ns%1000) }
		k.o.kept(k.Name, fmt.Sprintf(",\n"+`{"ph": "X", "cat": "user_annotation", `+
			`"name": "ProfilerStep#%d", "ts": %s, "dur": %s}`, step, micros(within.from),
			micros(within.to-within.from)))
	}
}

// launch stores a CPU event of the step; false: an irrelevant one.
func (k *kineto) launch(e *kinetoEvent, at, within span) bool {
	if at.from < within.from || at.from >= within.to ||
		len(k.launched)+len(k.comms)+len(k.titles) >= 2*maxKernels {
		return false
	}
	thread, _ := e.TID.Int64()
	if strings.HasPrefix(e.Name, titled) {
		k.titles = append(k.titles, title{at, thread, e.Name, &e.Args})
		return true
	}
	if e.Args.Coll != "" {
		if id, err := e.Args.External.Int64(); err == nil {
			k.comms[id] = e.Args
		}
		return true
	}
	id, err := e.Args.Link.Int64()
	if err == nil {
		k.launched[id] = launch{at.from, thread}
	}
	return err == nil
}

// keep adds a kernel.
func (k *kineto) keep(e *kinetoEvent, from, to int64, line int) {
	x := kernel{from: from, to: to, call: -1, line: int32(min(line, 1<<31-1))}
	x.link, _ = e.Args.Link.Int64()
	x.stream, _ = e.Args.Stream.Int64()
	if name := strings.ToLower(e.Name); strings.Contains(name, "nccl") {
		e.Args.kernel, e.Args.line = name, x.line
		x.call = int32(len(k.calls))
		k.calls = append(k.calls, e.Args)
	}
	k.kernels = append(k.kernels, x)
}

// settle drops kernels of other steps and sorts the remaining ones.
func (k *kineto) settle(within span) {
	known := len(k.launched) > 0
	if !known {
		note(&k.report.Guessed, "files without launch times of kernels: the step is taken from GPU times", k.Name, 0)
	}
	var kept []kernel
	for _, x := range k.kernels {
		l, ok := k.launched[x.link]
		if known && !ok || !known && x.from >= within.to {
			continue
		}
		x.launch = l.at
		kept = append(kept, x)
	}
	k.kernels = kept
	slices.SortStableFunc(k.kernels, func(a, b kernel) int {
		if a.from != b.from {
			return int(min(1, max(-1, a.from-b.from)))
		}
		return int(min(1, max(-1, a.to-b.to)))
	})
	k.entitle()
}
