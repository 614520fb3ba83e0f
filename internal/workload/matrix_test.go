package workload

import (
	"fmt"
	"strings"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// Triggered flows follow the flows that pull their trigger, for any order of the lines.
func TestMatrix(t *testing.T) {
	m, err := ParseMatrix("a.cm", []byte(`# three, and one at its time
Nodes 4
Connections 4
Triggers 2
2->3 id 3 trigger 2 size 30
0->1 id 1 start 0 size 10 send_done_trigger 1
1->2 id 2 trigger 1 size 20 recv_done_trigger 2 prio 5
3->0 start 5000000 size 40
trigger id 1 oneshot
trigger id 2 barrier count 1
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.DAG(6)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for i := range d.Ops {
		o := &d.Ops[i]
		told = append(told, fmt.Sprintf("%d->%d %d bytes, waits for %d", o.Rank, o.Peer, o.Bytes, o.Deps))
	}
	got := strings.Join(told, "\n")
	for _, want := range []string{"0->1 10 bytes, waits for 0", "1->2 20 bytes, waits for 1",
		"2->3 30 bytes, waits for 1", "3->0 40 bytes, waits for 1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Each error has its line and column.
func TestMatrixFaults(t *testing.T) {
	const head = "Nodes 4\n"
	for text, want := range map[string]string{
		head + "0->1 start 0 size 0":   "a.cm:2:20: the connection has size 0, which never ends",
		head + "0->1 start 0.5 size 5": `a.cm:2:12: expected a whole number`,

		"":                                     "a.cm: contains no number of Nodes",
		head:                                   "a.cm: has no connection",
		"0->1 size 3":                          "a.cm:1:1: Nodes must precede connections",
		"Nodes 0":                              `a.cm:1:7: expected a whole number between 1 and 1048576, `,
		"Nodes 4 5":                            `a.cm:1:9: unexpected "5"`,
		"Knoten 4":                             `a.cm:1:1: "Knoten" begins no line of a connection matrix`,
		head + "0->4 start 0 size 1":           `a.cm:2:4: expected a node between 0 and 3, found "4"`,
		head + "1->1 start 0 size 1":           "a.cm:2:1: node 1 sends to itself",
		head + "0->1 start 0":                  "a.cm:2:13: the connection has no size",
		head + "0->1 size 5":                   "a.cm:2:12: the connection has neither start nor trigger",
		head + "0->1 size 5 start x":           `a.cm:2:19: expected a whole number`,
		head + "0->1 start 0 trigger 1 size 5": "has both start and trigger",
		head + "0->1 start 0 size 5 colour 3":  `a.cm:2:21: unknown word "colour"`,
		head + "0->1 id 1 msg start 0 size 5":  "a.cm:2:11: messages of one connection (msg)",
		head + "0->1 trigger 7 size 5":         "a.cm:2:1: trigger 7 is not declared",
		head + "Connections 2\n0->1 start 0 size 5":          "a.cm: announces Connections 2 and has 1",
		head + "Failures 1":                                  "a.cm:2:1: cables that break",
		head + "trigger id 1 multishot":                      "a.cm:2:14: a trigger that is pulled again",
		head + "trigger id 1":                                "a.cm:2:13: a trigger has an id and is",
		head + "trigger id 1 oneshot\ntrigger id 1 oneshot":  "a.cm:3:21: trigger 1 is declared on line 2",
		head + "0->1 trigger 1 size 5\ntrigger id 1 oneshot": "on 1 connections and 0 pull it",
		head + "0->1 trigger 1 size 5 send_done_trigger 2\n1->2 trigger 2 size 5 send_done_trigger 1\n" +
			"trigger id 1 oneshot\ntrigger id 2 oneshot": "depends on itself",
	} {
		if _, err := ParseMatrix("a.cm", []byte(text), nil); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	m, err := ParseMatrix("a.cm", []byte(head+"0->1 start 0 size 5"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.DAG(3); err == nil || !strings.Contains(err.Error(), "more than the fabric's 3 GPUs") {
		t.Errorf("on too small a fabric: %v", err)
	}
}

// Any text is parsed or rejected, and a parsed matrix runs: chains and trees of triggers end.
func TestAnyMatrix(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "connections")
		var b strings.Builder
		fmt.Fprintf(&b, "Nodes 5\nConnections %d\n", n)
		pulled := map[int]int{}
		for i := range n {
			how := "start 0"
			if i > 0 && rapid.Bool().Draw(rt, "waits") {
				how = fmt.Sprintf("trigger %d", rapid.IntRange(1, n).Draw(rt, "for"))
			}
			pulls := rapid.IntRange(1, n).Draw(rt, "pulls")
			pulled[pulls]++
			fmt.Fprintf(&b, "%d->%d %s size %d send_done_trigger %d\n", i%5, (i+1)%5, how, i+1, pulls)
		}
		for id, count := range pulled {
			fmt.Fprintf(&b, "trigger id %d barrier count %d\n", id, count)
		}
		m, err := ParseMatrix("a.cm", []byte(b.String()), nil)
		if err != nil {
			return // a cycle, or a trigger that no flow pulls
		}
		d, err := m.DAG(5)
		if err != nil {
			rt.Fatal(err)
		}
		sum := unit.Bytes(0)
		for i := range d.Ops {
			sum += d.Ops[i].Bytes
		}
		if sum != unit.Bytes(n*(n+1)/2) {
			rt.Fatalf("%d connections carry %d bytes", n, sum)
		}
	})
}
