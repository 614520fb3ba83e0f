package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"railyard/internal/scenario"

	"pgregory.net/rapid"
)

// sent returns the bytes that a switch's port has sent.
func (n *Network) sent(t testing.TB, port string) int64 {
	t.Helper()
	link, node, ok := n.Graph.FindPort(port)
	if !ok {
		t.Fatalf("there is no port %s", port)
	}
	return n.Net.Ports[n.Port(link, node)].TxBytes
}

// A channel of one cable is that cable.
func TestChannelsOfOne(t *testing.T) {
	for _, lb := range []string{"ecmp", "ecmp-resilient", "entropy"} {
		var said []string
		for _, more := range [][]string{nil, {"fabric.lag=1"}} {
			_, s, _ := runAll(t, breaking[:strings.Index(breaking, "events:")], append(more, "lb="+lb,
				"workload.traffic.alltoall.bytes=1MB")...)
			s.Remedies = nil // load balancing by ports is refused for channels
			b, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, string(b))
		}
		if said[0] != said[1] {
			t.Errorf("%s:\n%s\n%s", lb, said[0], said[1])
		}
	}
}

// A member fails. Its neighbours use the channel's other members, and the channel keeps its share of the flows.
// With min_links the whole channel fails, and the other spine carries all traffic. In neither case a rank is lost.
func TestAMemberBreaks(t *testing.T) {
	const event = "link: 'seg-1-rail-1:Eth5', at: 0s, up: false"
	share := func(sets ...string) (spine1, spine2, lost int64) {
		r, s := broken(t, event, append(sets, "fabric.lag=2", "workload.traffic.alltoall.bytes=4MB")...)
		if !s.Complete {
			t.Fatalf("%v: %+v", sets, s.Outcome)
		}
		return r.sent(t, "seg-1-rail-1:Eth5") + r.sent(t, "seg-1-rail-1:Eth6"),
			r.sent(t, "seg-1-rail-1:Eth7") + r.sent(t, "seg-1-rail-1:Eth8"), r.sent(t, "seg-1-rail-1:Eth5")
	}
	one, two, lost := share()
	if 20*lost > one || one == 0 || two == 0 { // until its ends detect the failure
		t.Errorf("%d bytes by the broken member, %d by its channel, %d by the other", lost, one, two)
	}
	whole, other, _ := func() (int64, int64, int64) {
		r, _ := broken(t, "link: 'seg-1-rail-1:Eth5', at: 1s, up: false", "fabric.lag=2",
			"workload.traffic.alltoall.bytes=4MB")
		return r.sent(t, "seg-1-rail-1:Eth5") + r.sent(t, "seg-1-rail-1:Eth6"),
			r.sent(t, "seg-1-rail-1:Eth7") + r.sent(t, "seg-1-rail-1:Eth8"), 0
	}()
	if d := float64(one)/float64(one+two) - float64(whole)/float64(whole+other); d < -0.02 || d > 0.02 {
		t.Errorf("of %d and %d bytes the channel with all members has %d and %d", one, two, whole, other)
	}
	if one, two, _ := share("fabric.min_links=2"); 20*one > two {
		t.Errorf("with min_links 2: %d bytes by the channel of one member, %d by the other", one, two)
	}
}

// With detect the ends learn of a failure at once, and routes converge later. A member that fails in the middle
// loses the packets in flight. A channel below its minimum gets no further packets.
func TestAMemberBreaksInTheMiddle(t *testing.T) {
	const event = "link: 'seg-1-rail-1:Eth5', at: 100us, up: false"
	_, kept := broken(t, event, "fabric.lag=2")
	r, gone := broken(t, event, "fabric.lag=2", "fabric.min_links=2")
	for _, s := range []any{kept.Complete, gone.Complete} {
		if s != true {
			t.Fatal("a rank is lost")
		}
	}
	if kept.DropsDown == 0 || gone.DropsDown == 0 {
		t.Errorf("%d and %d packets lost in the broken cable", kept.DropsDown, gone.DropsDown)
	}
	if six, seven := r.sent(t, "seg-1-rail-1:Eth6"), r.sent(t, "seg-1-rail-1:Eth7"); 2*six > seven {
		t.Errorf("%d bytes by the member that is left, %d by another spine's", six, seven)
	}
}

// Each connection's packets take the ports named by its path, with or without channels and for any seeds. These
// ports are among all that it might have taken.
func TestPathsThroughChannels(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lag := rapid.IntRange(1, 4).Draw(rt, "lag")
		sets := []string{fmt.Sprintf("seed=%d", rapid.IntRange(1, 1000).Draw(rt, "seed")),
			fmt.Sprintf("fabric.uplinks=%d", lag*rapid.IntRange(1, 3).Draw(rt, "channels")),
			fmt.Sprintf("fabric.lag=%d", lag), "switch.lag_seed=" + rapid.SampledFrom([]string{"own",
				"ecmp"}).Draw(rt, "hash"), "switch.hash_seed=" + rapid.SampledFrom([]string{"per-switch",
				"same"}).Draw(rt, "seeds"), "workload.traffic.alltoall.bytes=64KB"}
		r := load(t, breaking[:strings.Index(breaking, "events:")], sets...)
		if err := r.Go(nil); err != nil {
			rt.Fatal(err)
		}
		foretold := map[int32]bool{}
		for c := range r.Hosts.Conns() {
			might := map[int32]bool{}
			for _, ports := range r.Hosts.Choices(int32(c)) {
				for _, p := range ports {
					might[p] = true
				}
			}
			for _, p := range r.Hosts.Path(int32(c)) {
				if foretold[p] = true; !might[p] && r.Net.Sw[r.Net.Ports[p].Node].Spec != nil {
					rt.Fatalf("%s is on a path and not among its choices", r.PortName(p))
				}
			}
		}
		for p := range r.Net.Ports { // acknowledgements take other paths: a sender of full packets sends data
			if s := &r.Net.Ports[p]; s.TxFrames > 0 && s.TxBytes/s.TxFrames > 1000 && !foretold[int32(p)] &&
				r.Net.Sw[s.Node].Spec != nil {
				rt.Fatalf("%s carried data, and no path has it", r.PortName(int32(p)))
			}
		}
	})
}

// Settings that contradict channels are reported with their key.
func TestChannelsThatCannotBe(t *testing.T) {
	for want, sets := range map[string][]string{
		"2 cables connect seg-1-rail-1 and spine-1, which make no channels of 3": {"fabric.lag=3"},
		"min_links=3: 3 of the 2 members":                                        {"fabric.lag=2", "fabric.min_links=3"},
		"min_links=2: is of a channel":                                           {"fabric.min_links=2"},
		"lb=spray: spray looks at ports":                                         {"fabric.lag=2", "lb=spray"},
		"lag_seed=own: no cables make a channel":                                 {"switch.lag_seed=own"},
		"lag=0: 0 is out of range 1–64":                                          {"fabric.lag=0"},
	} {
		d, err := scenario.Parse("x.yaml", []byte(breaking[:strings.Index(breaking, "events:")]), sets)
		if err == nil {
			_, err = d.Resolve(nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", sets, err, want)
		}
	}
}
