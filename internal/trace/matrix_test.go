package trace

import (
	"strings"
	"testing"

	"railyard/unit"
)

// A matrix is distinguished from a topology with the same first word, and from other lists. Starts, triggers and
// barriers are supported, and unsupported fields are counted.
func TestMatrixTrace(t *testing.T) {
	text := strings.Repeat("# generated\n", 600) + `Nodes 8
Connections 4
Triggers 2
Failures 1
0->1 id 1 start 2000000 size 1000 send_done_trigger 1 prio 7
0->2 id 2 start 0 size 1000 recv_done_trigger 1
2->3 id 3 trigger 1 size 5 msg
3->4 id 4 trigger 1 size 5 msg 2
trigger id 1 barrier count 2
failure switch_type AGG switch_id 0 link_id 1
`
	x, err := Read("", File{"a.cm", []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	last, _ := ends(t, x.DAG, 10*unit.Microsecond)
	if x.Format != "htsim-cm" || x.Ranks != 8 || last != 22*unit.Microsecond {
		t.Errorf("%s of %d ranks ends at %v", x.Format, x.Ranks, last)
	}
	want := "mapped [connections, as transfers: 4 (first in a.cm)], guessed [], left out [priorities of connections: the scenario's class holds: 1 (first a.cm:605) which connection a message shares (msg): each is one of its own: 2 (first a.cm:607) cables that break, which are in a scenario's events: 1 (first a.cm:610)]"
	if got := words(x.Report); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, other := range []string{"Nodes 8\nTiers 3\nPodsize 8\n", "Nodes 8\n", "0->1 start 0 size 5\n"} {
		if f, ok := Detect(File{"x", []byte(other)}); ok {
			t.Errorf("%q is taken for %s", other, f.Name)
		}
	}
}

func TestBadMatrixTrace(t *testing.T) {
	const head = "Nodes 4\nConnections 1\n"
	for text, want := range map[string]string{
		"Nodes 1000000\nConnections 1\n0->1 start 0 size 5\n": "b.cm: has 1000000 nodes, expected 131072 at most",
		"Nodes 4\n":                       "b.cm: has no connection",
		head + "0->1 start -5 size 5\n":   `b.cm:3:12: expected a whole number between 0 and`,
		head + "0->1 start 0 size 0\n":    "b.cm: has 1 connection of size 0, which never",
		head + "0->9 start 0 size 5\n":    "b.cm:3:4: expected a node between 0 and 3",
		head + "0->1 start 0 size":        `b.cm:3:18: expected a whole number between 1 and`,
		head + "0->1 trigger 1 size 5\n":  "b.cm:3:1: trigger 1 is not declared",
		head + "0->1 start 0 size 5\n1->": `b.cm:4:4: expected a node between 0 and 3, found ""`,
		head + "0->1 trigger 1 size 5 send_done_trigger 1\ntrigger id 1 oneshot\n": "b.cm:3:1: trigger 1 depends on itself",
		head + "0->1 trigger 1 size 5\ntrigger id 1 multishot\n":                   "b.cm:4:14: a trigger that is pulled again and again",
	} {
		if _, err := Read("htsim-cm", File{"b.cm", []byte(text)}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

// Older matrices write starts with a fraction of zeros, and size 0 for flows that never end, which are omitted and
// counted. A matrix of only such flows is rejected.
func TestEndlessConnections(t *testing.T) {
	head := "Nodes 4\nConnections 2\n2->1 start 0.000000 size 0\n"
	x, err := Read("", File{"a.cm", []byte(head + "0->1 start 1000000.0 size 1000\n")})
	if err != nil {
		t.Fatal(err)
	}
	want := "mapped [connections, as transfers: 1 (first in a.cm)], guessed [], left out [connections without end (size 0): 1 (first a.cm:3)]"
	if last, _ := ends(t, x.DAG, 10*unit.Microsecond); words(x.Report) != want || last < unit.Microsecond {
		t.Errorf("%s, ends at %v\nwant %s", words(x.Report), last, want)
	}
	_, err = Read("", File{"a.cm", []byte(head + "3->1 start 0 size 0\n")})
	if err == nil || !strings.Contains(err.Error(), "2 connections of size 0") {
		t.Error(err)
	}
}
