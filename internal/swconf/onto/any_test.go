package onto

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"

	"pgregory.net/rapid"
)

// Properties are drawn 40 times, or 400 when long tests run.
var _ = long.Draws(40, 400)

// asn finds the AS number of a text, in each language that has one.
var asn = regexp.MustCompile(`(router bgp |bgp autonomous-system |routing-options autonomous-system |"bgp_asn": ")\d+`)

// TestAnyOntoAny: for any previous fabric, thresholds and addresses, a merged device meets the next fabric's needs,
// and a second merge has no step. Its AS number is set to the next fabric's before, because a merge never changes
// that.
func TestAnyOntoAny(tb *testing.T) {
	kinds := []string{"rail", "dual-rail", "pod", "single-rail", "rail-only", "fat-tree"}
	known := map[string]map[string]string{}
	texts := func(t *rapid.T, which string, os swconf.OS) (string, string) {
		kind := rapid.SampledFrom(kinds).Draw(t, which+" kind")
		addressing := rapid.SampledFrom([]string{design.Unnumbered, design.Numbered}).Draw(t,
			which+" addressing")
		spec := rapid.IntRange(0, 3).Draw(t, which+" thresholds")
		key := fmt.Sprint(os, kind, addressing, spec)
		if known[key] == nil {
			known[key] = rendered(tb, kind, os, func(s *queue.Spec) { others(s, spec) }, addressing)
		}
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(known[key]))).Draw(t, which+" switch")
		return name, known[key][name]
	}
	rapid.Check(tb, func(t *rapid.T) {
		os := rapid.SampledFrom(languages).Draw(t, "language")
		_, was := texts(t, "old", os)
		name, want := texts(t, "new", os)
		if number := asn.FindString(want); number != "" {
			was = asn.ReplaceAllString(was, number)
		}
		if os == swconf.SONiC {
			was = withPorts(was, want)
		}
		m, err := Onto("running", []byte(was), want, os, Options{InBand: true})
		var no *Refused
		if errors.As(err, &no) && os == swconf.Junos && strings.Contains(no.Error(), "mru 4200 is below the MTU") {
			// its ports outside the fabric have longer frames, and the wildcard gives them the fabric's profile
			return
		}
		if err != nil {
			t.Fatal(name, err)
		}
		again, err := Onto("merged", []byte(m.Text), want, os, Options{})
		if err != nil || len(again.Steps) > 0 {
			t.Fatalf("once more: %v, %+v", err, again)
		}
	})
}

// others are other treatments of packets.
func others(s *queue.Spec, n int) {
	switch n {
	case 1:
		s.Queues[3].WRED.Min, s.Queues[3].WRED.Max = 200_000, 2_000_000
		s.Queues[3].Weight, s.Queues[0].Weight = 80, 20
	case 2:
		s.Watchdog.On = false
		s.MTU = 4200
	case 3:
		s.Queues[4] = s.Queues[3]
		s.Queues[3] = s.Queues[0]
		s.DSCP[24], s.DSCP[26] = 4, 4
		s.Queues[0].Weight, s.Queues[3].Weight, s.Queues[4].Weight = 40, 20, 40
	}
}

// withPorts adds to a database the ports of another one, because a device has all its ports, cabled or not.
func withPorts(was, of string) string {
	a, _ := decode([]byte(was))
	b, _ := decode([]byte(of))
	for name, port := range b["PORT"] {
		if _, there := a["PORT"][name]; !there {
			a["PORT"][name] = port
		}
	}
	out, _ := json.Marshal(a)
	return string(out)
}
