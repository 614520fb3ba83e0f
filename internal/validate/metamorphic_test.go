package validate

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/unit"

	"pgregory.net/rapid"
)

// What is known of two runs though neither's result is: of a change that takes something away nothing may
// get better, and of one that gives something nothing worse. Worlds are those in which that holds of the
// real thing as well: one bottleneck, or paths that are alike, and no hash that a change could deal anew.

// outcome is a run to its end, which loses nothing of its buffers.
type outcome struct {
	end    unit.Time // of the last operation
	pauses int64
	marks  int64
	peak   unit.Bytes // the longest queue
}

func ran(t *rapid.T, text string, sets ...string) (o outcome) {
	r, err := finish(text, sets...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", sets, err, text)
	}
	if err := r.Net.Audit(); err != nil {
		t.Fatal(err)
	}
	for _, at := range r.Exec.End {
		o.end = max(o.end, at)
	}
	o.pauses, o.marks = r.Net.Pauses, r.Net.Marks
	for port := range r.Net.Ports {
		for class := range queue.Classes {
			o.peak = max(o.peak, r.Net.QueuePeak(int32(port), class))
		}
	}
	return o
}

// spines is a permutation of two leaves' hosts over as many spines as ports allow, sprayed in turn.
func spines(hosts, spines, kb int) string {
	return fmt.Sprintf(`
fabric: {kind: rail, hosts: %d, segments: 2, spines: %d, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
lb: spray
transport: {recovery: selective}
cc: {algorithm: none}
workload: {traffic: {flows: [%s]}}
`, hosts, spines, across(hosts, kb))
}

// across are flows from each host of the first segment to its neighbour in the second.
func across(hosts, kb int) string {
	var flows []string
	for h := range hosts {
		flows = append(flows, fmt.Sprintf("{from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: %dKB}", h+1,
			hosts+h+1, kb))
	}
	return strings.Join(flows, ", ")
}

// cut are the cables of a leaf to its first spines, from the beginning.
func cut(hosts, n int) string {
	text := ""
	for i := range n {
		text += fmt.Sprintf("  - {link: 'seg-1-rail-1:Eth%d', at: 0s, converge: 0s}\n", hosts+1+i)
	}
	if text != "" {
		text = "failures:\n" + text
	}
	return text
}

// One more cable that is broken makes nothing faster, and what is left takes at least the bytes over its
// rate.
func TestFailuresMakeNothingFaster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts, n := rapid.IntRange(1, 4).Draw(t, "hosts"), rapid.IntRange(2, 4).Draw(t, "spines")
		kb := rapid.IntRange(50, 600).Draw(t, "KB")
		before := outcome{}
		for gone := range n {
			text := spines(hosts, n, kb) + cut(hosts, gone)
			o := ran(t, text)
			if o.end < before.end {
				t.Fatalf("with %d of %d cables broken it ends after %v, with one less after %v", gone, n,
					o.end, before.end)
			}
			left := min(n-gone, hosts)
			least := unit.Serialize(unit.Bytes(hosts*kb)*unit.KB, unit.Rate(100*left)*unit.Gbps)
			if o.end < least {
				t.Fatalf("%d cables of 100Gbps carry %d KB in %v, less than %v", left, hosts*kb, o.end, least)
			}
			before = o
		}
	})
}

// crowd is hosts of one leaf that send to another one.
func crowd(hosts, kb int, buffer string) string {
	return fmt.Sprintf(`
fabric: {kind: rail, hosts: %d, spines: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
switch: {buffer: %s}
workload: {traffic: {incast: {fan_in: %d, bytes: %dKB}}}
`, hosts+1, buffer, hosts, kb)
}

// More buffer under dynamic thresholds pauses senders no more often (though each time for longer, because
// more waits then), and lets queues grow no less.
func TestMoreBufferPausesNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts := rapid.IntRange(2, 6).Draw(t, "senders")
		kb := rapid.IntRange(100, 800).Draw(t, "KB")
		var last outcome
		for i, buffer := range []string{"4MB", "8MB", "32MB"} {
			o := ran(t, crowd(hosts, kb, buffer), "switch.queues.3.xoff=0B", "switch.queues.3.alpha=0.125")
			if i > 0 && o.pauses > last.pauses {
				t.Fatalf("with %s: %d pauses; with less buffer %d", buffer, o.pauses, last.pauses)
			}
			if i > 0 && o.peak < last.peak {
				t.Fatalf("with %s the longest queue has %v, with less buffer %v", buffer, o.peak, last.peak)
			}
			last = o
		}
	})
}

// A longer cable makes nothing faster, and by at least its light's time there where one message goes; a
// faster one nothing slower; more bytes nothing sooner; and what is paused nothing is lost.
func TestCablesAndBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts, kb := rapid.IntRange(1, 4).Draw(t, "hosts"), rapid.IntRange(1, 300).Draw(t, "KB")
		text := spines(hosts, 1, kb)
		base := ran(t, text)
		more := rapid.IntRange(1, 2000).Draw(t, "more metres")
		far := ran(t, text, fmt.Sprintf("fabric.fabric_link.cable=%dm", 30+more))
		// two cables of the fabric, 5 ns for a metre less a little
		if light := unit.Time(2*more) * 5 * unit.Nanosecond; far.end < base.end+light {
			t.Fatalf("%d m more, %v of light: ends after %v instead of %v", more, light, far.end, base.end)
		}
		fast := ran(t, text, "fabric.fabric_link.rate=400Gbps")
		if fast.end > base.end {
			t.Fatalf("at 400Gbps it ends after %v, at 100Gbps after %v", fast.end, base.end)
		}
		if all := ran(t, text, "fabric.fabric_link.rate=400Gbps", "fabric.host_link.rate=400Gbps"); all.end >
			fast.end {
			t.Fatalf("all at 400Gbps it ends after %v, with hosts at 100Gbps after %v", all.end, fast.end)
		}
		longer := ran(t, spines(hosts, 1, kb+rapid.IntRange(1, 200).Draw(t, "KB more")))
		if longer.end <= base.end || longer.peak < base.peak {
			t.Fatalf("with more bytes it ends after %v, peak %v; without after %v, %v", longer.end,
				longer.peak, base.end, base.peak)
		}
	})
}

// Marks begin at a threshold: a higher one marks no more packets where nobody answers marks.
func TestHigherThresholdsMarkNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts, kb := rapid.IntRange(2, 5).Draw(t, "senders"), rapid.IntRange(100, 800).Draw(t, "KB")
		last := int64(1) << 60
		for _, least := range []int{10, 100, 1000} {
			o := ran(t, crowd(hosts, kb, "64MB"), fmt.Sprintf("switch.queues.3.wred_min=%dKB", least),
				fmt.Sprintf("switch.queues.3.wred_max=%dKB", least+1), "switch.queues.3.probability=1")
			if o.marks > last {
				t.Fatalf("from %d KB on %d packets are marked, from less on %d", least, o.marks, last)
			}
			at := unit.Bytes(least) * unit.KB
			if o.peak <= at && o.marks > 0 || o.peak > at+10*unit.KB && o.marks == 0 { // two packets more
				t.Fatalf("a queue of at most %v marks %d packets above %d KB", o.peak, o.marks, least)
			}
			last = o.marks
		}
	})
}
