package gnmi

import (
	"testing"

	pb "github.com/openconfig/gnmi/proto/gnmi"
)

func answer(t *testing.T, tr *tree, at question, json string) {
	t.Helper()
	n := &pb.Notification{Timestamp: 7, Prefix: at.prefix(), Update: []*pb.Update{{Path: at.path(),
		Val: &pb.TypedValue{Value: &pb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(json)}}}}}
	if err := tr.add(n); err != nil {
		t.Fatal(err)
	}
}

// TestSubtrees reads lists as JSON has them, with modules before names, as switches answer
// a Get of a whole subtree.
func TestSubtrees(t *testing.T) {
	tr := newTree("leaf1:9339")
	answer(t, tr, question{elems: []string{"interfaces"}}, `{"openconfig-interfaces:interface": [
		{"name": "Ethernet8", "state": {"mtu": 9100, "oper-status": "DOWN",
			"counters": {"in-fcs-errors": "12", "carrier-transitions": "5"}}}]}`)
	answer(t, tr, question{elems: []string{"qos", "interfaces"}},
		`{"interface": [{"interface-id": "Ethernet8",
		"openconfig-qos-ext:pfc": {"pfc-priorities": {"pfc-priority": [
			{"dot1p": 3, "state": {"enable": true, "statistics": {"pause-frames-rx": "41"}}},
			{"dot1p": 9, "state": {"statistics": {"pause-frames-rx": "1"}}}]}},
		"output": {"queues": {"queue": [{"name": "UC3", "state": {"ecn-marked-pkts": "77"}}]}}}]}`)
	s := tr.snapshot()
	if len(s.Ports) != 1 {
		t.Fatalf("%+v", s.Ports)
	}
	p := s.Ports[0]
	if s.Device != "leaf1" || p.Name != "Ethernet8" || p.MTU.V != 9100 || p.Up.V ||
		!p.Up.Is || p.CRC.V != 12 ||
		p.Flaps.V != 2 || p.RxPFC[3].V != 41 || p.Queues[3].Marked.V != 77 || p.Lossless.V != 8 {
		t.Errorf("%+v", p)
	}
}

// TestSONiC reads COUNTERS_DB as its telemetry answers it.
func TestSONiC(t *testing.T) {
	tr := newTree("10.0.0.1:50051")
	answer(t, tr, questions[5], `{"Ethernet0": {"SAI_PORT_STAT_PFC_3_RX_PKTS": "400",
		"SAI_PORT_STAT_PFC_4_TX_PKTS": "2", "SAI_PORT_STAT_IF_IN_ERRORS": "9"}}`)
	answer(t, tr, questions[6], `{"Ethernet0:3": {"SAI_QUEUE_STAT_PACKETS": "55",
		"SAI_QUEUE_STAT_DROPPED_PACKETS": "6"}}`)
	s := tr.snapshot()
	if len(s.Ports) != 1 {
		t.Fatalf("%+v", s.Ports)
	}
	p := s.Ports[0]
	if s.Device != "10.0.0.1" || p.RxPFC[3].V != 400 || p.TxPFC[4].V != 2 || p.InErrors.V != 9 ||
		p.Queues[3].TxPackets.V != 55 || p.Queues[3].DropPackets.V != 6 {
		t.Errorf("%s %+v", s.Device, p)
	}
}

// TestOddAnswers takes what no device should say without falling over.
func TestOddAnswers(t *testing.T) {
	tr := newTree("x:1")
	for _, json := range []string{`[1, 2]`, `{"interface": [{"state": {"mtu": 5}}]}`, `null`, `"x"`,
		`{"Ethernet0:99": {"SAI_QUEUE_STAT_PACKETS": "55"}}`, `{"interface": {"state": {"mtu": -1}}}`} {
		answer(t, tr, question{elems: []string{"interfaces"}}, json)
	}
	if err := tr.take(nil, &pb.TypedValue{Value: &pb.TypedValue_JsonVal{JsonVal: []byte("{")}}); err == nil {
		t.Error("half an answer is taken for a whole one")
	}
}
