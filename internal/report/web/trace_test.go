package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestTrace selects a run's slowest message and traces its first and last packet in a run of the same scenario that
// ends with the message. It captures a port of its path.
func TestTrace(t *testing.T) {
	s, name := server(t, "")
	get := func(path string, v any) {
		t.Helper()
		w := ask(s, "GET", "/api/runs/"+path, "", nil)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		if err := json.Unmarshal(w.Body.Bytes(), v); err != nil {
			t.Fatal(err)
		}
	}
	var all Messages
	get(name+"/messages", &all)
	if all.Count != 9 || len(all.Messages) != 9 || all.MTU != 4096 {
		t.Fatalf("%+v", all)
	}
	m := all.Messages[0]
	var same Messages
	get(fmt.Sprintf("%s/messages?qp=%d&text=%s", name, m.QP, m.From), &same)
	if same.Count != 1 || !reflect.DeepEqual(same.Messages[0], m) {
		t.Errorf("%+v instead of %+v", same, m)
	}
	var qp QPView
	get(fmt.Sprintf("%s/qp?id=%d", name, m.QP), &qp)
	var info Info
	get(name+"/info", &info)
	port := info.Ports[qp.Path[0].Port].Name
	port, _, _ = strings.Cut(port, " →")
	body, _ := json.Marshal(map[string]any{"of": name, "sets": []string{}, "trace": Trace{
		Follow:  []string{fmt.Sprintf("%d/+%d", m.QP, m.First), fmt.Sprintf("%d/+%d", m.QP, m.First+m.Packets-1)},
		Capture: []string{port}, From: m.Posted, To: m.Done, Stop: true}})
	w := ask(s, "POST", "/api/jobs", string(body), nil)
	var j Simulation
	if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &j) != nil {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	done := await(t, s, j.ID)
	if done.State != "done" {
		t.Fatalf("%+v", done)
	}
	var followed Journeys
	get(done.Run+"/followed", &followed)
	for i, kind := range []string{"WRITE First", "WRITE Last"} {
		if p := followed.Packets[i]; p.QP != m.QP || len(p.Copies) == 0 || p.Copies[0].Kind != kind ||
			p.Copies[0].Hops[0].Left < m.Posted || p.Copies[0].EndAt > m.Done {
			t.Errorf("packet %d: %+v", i, p)
		}
	}
	var list Packets
	get(done.Run+"/packets", &list)
	if len(list.Packets) == 0 {
		t.Fatalf("%+v", list)
	}
	file := ask(s, "GET", "/api/runs/"+done.Run+"/capture.pcapng", "", nil)
	want, err := os.ReadFile(filepath.Join(s.Root, done.Run, captureFile))
	if err != nil || file.Body.String() != string(want) {
		t.Errorf("%d bytes are sent of %d, %v", file.Body.Len(), len(want), err)
	}
	if w := ask(s, "GET", "/api/runs/"+name+"/capture.pcapng", "", nil); w.Code != http.StatusBadRequest {
		t.Errorf("a capture that there is not: %d", w.Code)
	}
	for _, bad := range []string{`{"follow": ["x"]}`, `{"capture": ["nowhere:1"]}`, `{"follow": ["0/+1"], "from_ps": 5, "to_ps": 1}`} {
		w := ask(s, "POST", "/api/jobs", fmt.Sprintf(`{"of": %q, "trace": %s}`, name, bad), nil)
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", bad, w.Code, w.Body)
		}
	}
}

// TestCaptureFilter checks filters and searches of a capture against its packets.
func TestCaptureFilter(t *testing.T) {
	root := t.TempDir()
	capturedAs(t, filepath.Join(root, "run"), "transport.recovery=go-back-n")
	r, err := Open(filepath.Join(root, "run"))
	if err != nil {
		t.Fatal(err)
	}
	get := func(query string) (p Packets) {
		t.Helper()
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.View("packets", q)
		if err == nil {
			err = json.Unmarshal(b, &p)
		}
		if err != nil {
			t.Fatal(query, err)
		}
		return p
	}
	all := get("").Packets
	count := func(is func(*Packet) bool) (n int) {
		for i := range all {
			if is(&all[i]) {
				n++
			}
		}
		return n
	}
	qp := all[0].QP
	for query, is := range map[string]func(*Packet) bool{
		fmt.Sprintf("filter=qpn%%3D%d", qp): func(p *Packet) bool { return p.QP == qp },
		fmt.Sprintf("filter=qp%%3D%d", (qp-0x100)/2): func(p *Packet) bool { // its packets and their answers
			return p.QP == qp || p.QP == qp^1
		},
		"filter=middle":         func(p *Packet) bool { return strings.Contains(p.Kind, "Middle") },
		"filter=mark":           func(p *Packet) bool { return p.CE },
		"filter=!mark+no%3C100": func(p *Packet) bool { return !p.CE && p.Number < 100 },
	} {
		if got := len(get(query).Packets); got != count(is) || got == 0 {
			t.Errorf("%s: %d packets of %d, want %d", query, got, len(all), count(is))
		}
	}
	first := int64(0)
	for i := range all {
		if all[i].CE {
			first = all[i].Number
			break
		}
	}
	jump := get("jump=mark")
	if first == 0 || jump.Found != first || jump.Packets[min(first-1, kept)].Number != first ||
		jump.Skip != max(0, first-1-kept) {
		t.Errorf("the first mark is packet %d: found %d, %d before", first, jump.Found, jump.Skip)
	}
	if none := get("jump=again"); none.Found != 0 || len(none.Packets) != 0 {
		t.Errorf("nothing is retransmitted: %d", none.Found)
	}
}
