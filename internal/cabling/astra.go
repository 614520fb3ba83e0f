package cabling

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/topo"
	"railyard/unit"
)

var astraMark = regexp.MustCompile(`(?m)^npus_count\s*:`)

func looksAstra(_, text string) bool { return astraMark.MatchString(text) }

// readAstra reads network.yml of ASTRA-sim's analytical backend: dimensions, the first fastest. If there are
// several, the first is inside the servers. Each NPU has a NIC in every further dimension, which must be a Switch,
// because servers are not connected to one another here. A dimension's switch connects the NPUs that differ only in
// that dimension.
func readAstra(b *builder, text string) error {
	root, err := parseTree(text)
	if err != nil {
		return err
	}
	kinds, counts := root.get("topology"), root.get("npus_count")
	kw := kinds.words()
	sizes, err := astraNumbers(counts, len(kw))
	if err != nil {
		return err
	}
	rates, err := astraNumbers(root.get("bandwidth"), len(kw))
	if err != nil {
		return err
	}
	delays, err := astraNumbers(root.get("latency"), len(kw))
	if err != nil {
		return err
	}
	n, first := 1, 1
	for _, s := range sizes {
		if s < 1 || s > topo.MaxGPUs || n > topo.MaxGPUs/int(s) || s != float64(int(s)) {
			return counts.fail("%v NPUs: 1 to %d whole ones are possible", s, topo.MaxGPUs)
		}
		n *= int(s)
	}
	if len(kw) == 1 {
		first = 0
	} else {
		b.note(b.where(kinds), "%s of %g NPUs at %g GB/s is inside the servers: give it as server.nvlink",
			kw[0], sizes[0], rates[0])
	}
	for d := first; d < len(kw); d++ {
		if kw[d] != "Switch" {
			return kinds.fail("dimension %d is %s between NPUs; servers are not cabled to one another in Railyard; accepted: Switch",
				d+1, strconv.Quote(kw[d]))
		}
	}
	inner := 1
	if first == 1 {
		inner = int(sizes[0])
	}
	at := b.where(root)
	for npu := range n {
		h := b.node(at, fmt.Sprintf("host-%d", npu/inner+1))
		b.is(h, Server, "")
		b.c.Nodes[h].GPUs = inner
		stride := inner
		if first == 0 {
			stride = 1
		}
		for d := first; d < len(kw); d++ {
			size := int(sizes[d])
			// the switch of all NPUs that differ only in this digit: the number without it
			sw := b.node(at, fmt.Sprintf("dim%d-switch-%d", d+1, npu/(stride*size)*stride+npu%stride+1))
			b.is(sw, Switch, "leaf")
			rate, err := bounded(fmt.Sprintf("%g GB/s", rates[d]), rates[d]*8e9, nil)
			if err != nil {
				return root.get("bandwidth").fail("%v", err)
			}
			mm, err := lengthOf(fmt.Sprintf("%g", delays[d]), delays[d]*1e3)
			if err != nil {
				return root.get("latency").fail("%v", err)
			}
			b.cable(Cable{A: End{h, fmt.Sprintf("nic%d", (npu%inner)*(len(kw)-first)+d-first+1)},
				B: End{Node: sw}, Rate: rate, LengthMM: mm, At: at})
			stride *= size
		}
	}
	return nil
}

// astraNumbers parses a list of one number per dimension.
func astraNumbers(t *tree, n int) (out []float64, err error) {
	w := t.words()
	if len(w) != n || n == 0 || n > 8 {
		return nil, t.fail("%s for %s; expected as many, at most 8", unit.Plural(len(w), "value"),
			unit.Plural(n, "dimension"))
	}
	for i, s := range w {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || !(f >= 0 && f <= 1e9) {
			return nil, t.fail("value %d: %q is not a number", i+1, s)
		}
		out = append(out, f)
	}
	return out, nil
}
