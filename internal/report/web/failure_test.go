package web

import (
	"encoding/json"
	"strings"
	"testing"
)

// ringFailing is a ring of four servers whose first uplink fails while it carries packets.
const ringFailing = `name: failing
seed: 3
fabric: {kind: rail, segments: 2, hosts: 2, spines: 2, uplinks: 1, host_link: {rate: 200Gbps, cable: 5m},
  fabric_link: {rate: 400Gbps, cable: 50m}}
server: {gpus: 4, nics: 4}
transport: {qps: 2}
failures: [{link: "seg-1-rail-1:Eth3", at: 300us, until: 5ms, converge: 1ms}]
workload: {traffic: {ring-allreduce: {bytes: 16MB}}}
`

// TestAnswerOfAFailure checks that the answer of a run that a failed link delays is about that link: its place is the
// port that lost most packets, at a time when the link is down and routes still use it.
func TestAnswerOfAFailure(t *testing.T) {
	s, _ := server(t, "")
	j, err := s.jobs.start(request{Text: ringFailing})
	if err != nil {
		t.Fatal(err)
	}
	done := await(t, s, j.ID)
	if done.State != "done" {
		t.Fatalf("%+v", done)
	}
	var a Answer
	w := ask(s, "GET", "/api/runs/"+done.Run+"/answer", "", nil)
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || a.Failure == nil || a.Place == nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	f := a.Failure
	if f.Down != 300_000_000 || f.Routes != 1_300_000_000 || !strings.HasPrefix(f.Link, "seg-1-rail-1:Eth3 – spine-1") {
		t.Errorf("the failure is %s from %d, left at %d", f.Link, f.Down, f.Routes)
	}
	if a.Place.Name != "spine-1:Eth1 → seg-1-rail-1" || a.Place.At <= f.Down || a.Place.At >= f.Routes {
		t.Errorf("the place is %s at %d", a.Place.Name, a.Place.At)
	}
	sum := int64(0)
	for _, n := range f.Lost {
		sum += n
	}
	if f.Drops == 0 || sum != f.Drops || f.Retransmits == 0 {
		t.Errorf("%d drops, %d in the picture; queue pair %d retransmits %d", f.Drops, sum, f.QP, f.Retransmits)
	}
}
