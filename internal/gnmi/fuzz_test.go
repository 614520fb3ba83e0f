package gnmi

import (
	"testing"

	pb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/protobuf/proto"
)

// FuzzNotification takes any bytes for a device's notification: what is read of it names each port once,
// and no size or rate is below zero.
func FuzzNotification(f *testing.F) {
	seed := func(at question, v *pb.TypedValue) {
		b, err := proto.Marshal(&pb.Notification{Timestamp: 7, Prefix: at.prefix(),
			Update: []*pb.Update{{Path: at.path(), Val: v}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	json := func(s string) *pb.TypedValue {
		return &pb.TypedValue{Value: &pb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(s)}}
	}
	seed(question{elems: []string{"interfaces"}}, json(`{"openconfig-interfaces:interface": [
		{"name": "Ethernet8", "state": {"mtu": 9100, "counters": {"in-fcs-errors": "12"}}}]}`))
	seed(question{elems: []string{"qos", "interfaces"}}, json(`{"interface": [{"interface-id": "Ethernet8",
		"pfc": {"pfc-priorities": {"pfc-priority": [{"dot1p": -3, "state": {"enable": true}}]}},
		"output": {"queues": {"queue": [{"name": "UC99", "state": {"ecn-marked-pkts": "77"}}]}}}]}`))
	seed(questions[6], json(`{"Ethernet0:3": {"SAI_QUEUE_STAT_PACKETS": "-55"}}`))
	seed(question{elems: []string{"interfaces", "interface[name=Ethernet1]", "state", "mtu"}},
		&pb.TypedValue{Value: &pb.TypedValue_IntVal{IntVal: -1}})
	f.Fuzz(func(t *testing.T, b []byte) {
		n := &pb.Notification{}
		if proto.Unmarshal(b, n) != nil {
			return
		}
		tr := newTree("leaf1:9339")
		if tr.add(n) != nil {
			return
		}
		s, named := tr.snapshot(), map[string]bool{}
		for _, p := range s.Ports {
			if named[p.Name] || p.MTU.V < 0 || p.Speed.V < 0 {
				t.Errorf("port %q twice, or %+v", p.Name, p)
			}
			named[p.Name] = true
		}
	})
}
