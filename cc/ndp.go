package cc

import (
	"cmp"

	"railyard/param"
	"railyard/unit"
)

// ndp is NDP's place in the registry (Handley et al., "Re-architecting datacenter networks and stacks for low
// latency and high performance", SIGCOMM 2017). A sender begins with enough packets to fill the path. Then the
// receiver pulls: each arriving packet, whole or trimmed to its headers, permits one more. A NIC sends the pulls of
// all its flows round-robin at line rate. The data in flight therefore never exceed the initial window, and a
// trimmed packet pulls its own retransmission. Senders send no requests, except for one packet after a time-out
// without a pull, when headers were lost.
//
// The constants are those of csg-htsim (docs/references.md, trimming, main_ndp.cpp). The initial window is 50
// packets of 4,064 bytes, where the path holds 43; pulls are paced at 0.99 of the line. Its time-out is 50 ms so
// that none expires; the paper has one millisecond.
var ndp = Algorithm{
	Name: "ndp", Title: "NDP", Sockets: "htsim",
	Params: ndpTable.Params(),
	Profiles: []Profile{{Name: "htsim", Words: "NDP, a window of packets pulled at %v",
		Doc: "an initial window of 1.16 times what the path holds, pulls at 0.99 of the line",
		Of: func(unit.Rate) Values {
			return ndpTable.Values(ndpSettings{Initial: 1.16, Share: 0.99, RTO: unit.Millisecond})
		}}},
	Signals: creditSignals, Counters: creditCounters,
	Needs:  Needs{OneOf: []Feature{Trimming, Selective}, Switch: "trimming", NIC: "pacer of pulls"},
	Credit: func(v Values) Terms { return Terms{Share: ndpTable.Read(v).Share, Packets: 1, Pulls: true} },
	New: func(v Values) Make {
		s := ndpTable.Read(v)
		return func(path Path) Controller { return &NDP{None{path.Line}, openPulled(&s, path)} }
	},
}

type ndpSettings struct {
	Initial float64   `yaml:"initial" range:"0.01,64" doc:"data of a sender's start, as a multiple of the path's capacity; then each arriving packet pulls one"`
	Share   float64   `yaml:"share" range:"0.01,1" doc:"share of its line rate for which a receiver pulls; not above 1, which is the line"`
	RTO     unit.Time `yaml:"rto" range:"1us,10s" doc:"time without a pull after which a sender requests one packet; longer where pulls are rare"`
	BaseRTT unit.Time `yaml:"base_rtt" range:"0|100ns,1s" doc:"round trip of the bandwidth-delay product; 0s: the path's own, or 100 us if unknown"`
}

var ndpTable = param.In[ndpSettings]()

// NDP sends its first window at line rate, then one packet per pull.
type NDP struct {
	None
	credit Credit
}

// openPulled opens an account that each packet's arrival adds to.
func openPulled(s *ndpSettings, path Path) Credit {
	rtt := cmp.Or(s.BaseRTT, path.RTT, unknownRTT)
	packet := path.MTU + mostHeaders
	first := unit.Bytes(s.Initial * float64(unit.InTime(path.Line, rtt)))
	c := NewCredit(max(first, packet), packet, 0, s.RTO)
	c.pulled = true
	return c
}

// Credit returns the account.
func (n *NDP) Credit() *Credit { return &n.credit }

// OnLine changes the ceiling.
func (n *NDP) OnLine(_ unit.Time, line unit.Rate) { n.Line = line }

// Signal returns the account's signal.
func (n *NDP) Signal(_ unit.Time, name string) (float64, bool) { return n.credit.signal(name) }

// Counter returns the account's counter.
func (n *NDP) Counter(name string) (int64, bool) { return n.credit.counter(name) }
