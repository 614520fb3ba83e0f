package counters

import (
	"railyard/unit"
)

// Priorities of 802.1p, and the queues and buffers by class that are stored.
const Priorities = 8

// Kind is the kind of a device.
type Kind string

// Kinds.
const (
	Switch Kind = "switch"
	Host   Kind = "host"
)

// Count is a counter with its source line. Is is false if the output does not show it.
type Count struct {
	V    uint64
	Line int
	Is   bool
	Bits uint8 // 32 if the source wraps there; 0: it does not wrap
}

// Of makes a counter without a source.
func Of(v uint64) Count { return Count{V: v, Is: true} }

// Said is a value other than a counter with its source line.
type Said[T any] struct {
	V    T
	Line int
	Is   bool
}

// Say makes a value without a source.
func Say[T any](v T) Said[T] { return Said[T]{V: v, Is: true} }

// Snapshot is one device's counters at one time. Read makes one snapshot of each command's output; Join merges the
// snapshots of one device and time.
type Snapshot struct {
	Device  string // hostname; the file's name if the output has none
	Kind    Kind
	Format  string // registry name; for merged ones all names joined by +
	Command string // command as typed; "" without a prompt
	At      Moment
	Ports   []Port // ports in the order of the output
	Pools   Pools  // pools of the device as a whole
	File    string
	Line    int
}

// Moment is the time of a snapshot: since 1970, or since midnight if there is no date.
type Moment struct {
	Seconds, Nanos int64
	Line           int
	Is             bool
}

// Sub returns the time between two moments.
func (m Moment) Sub(o Moment) unit.Time {
	const most = int64(unit.Never/unit.Second) - 1
	sec := max(min(m.Seconds-o.Seconds, most), -most)
	return unit.Time(sec)*unit.Second + unit.Time(m.Nanos-o.Nanos)*unit.Nanosecond
}

// Add returns a later moment, to the nanosecond.
func (m Moment) Add(t unit.Time) Moment {
	ns := m.Nanos + int64(t/unit.Nanosecond)
	m.Seconds, m.Nanos = m.Seconds+ns/1_000_000_000, ns%1_000_000_000
	return m
}

// Pools are the counters of a device as a whole.
type Pools struct {
	Shared, SharedPeak Count // bytes of the shared buffer
	Size               Count // its size in bytes
}

// Port is the counters of one interface.
type Port struct {
	Name   string // full form of the language: Ethernet1/3, Ethernet16, eth2, mlx5_0/1
	Line   int
	NetDev string // network interface that an RDMA device belongs to

	Alias string // front panel label, which SONiC announces in LLDP; "" if it is Name
	Lanes string // in SONiC's numbers: 0,1,2,3
	FEC   string // by SONiC's name

	Up       Said[bool]
	Enabled  Said[bool] // as configured
	Speed    Said[unit.Rate]
	MTU      Said[unit.Bytes]
	TxUtil   Said[float64] // share of its line rate that it sends, as measured by the device
	PFC      Said[bool]    // PFC runs, regardless of the configuration
	Lossless Said[uint8]   // bitmap of the priorities that it runs for

	RxPFC, TxPFC       [Priorities]Count // pause frames got and sent
	RxPFCAll, TxPFCAll Count             // sums over all priorities, if only these are shown
	RxDur, TxDur       [Priorities]Count // microseconds for which it was paused, and for which its peer was
	RxPause, TxPause   Count             // 802.3x pauses, of all classes
	Queues             [Priorities]Queue // egress
	Groups             [Priorities]Group // ingress

	RxPackets, RxBytes, TxPackets, TxBytes Count
	InErrors, CRC, OutErrors               Count
	Symbol                                 Count // invalid symbols, or frames with one
	Uncorrected                            Count // symbols or frames that FEC did not correct
	InDiscards, OutDiscards                Count
	Giants                                 Count // longer than the MTU
	NoRoute                                Count
	Flaps                                  Count // times that the link went down
	RoCE                                   RoCE
	PCI                                    PCI
	Peer                                   Peer
}

// Queue is the counters of one egress queue.
type Queue struct {
	TxPackets, TxBytes     Count
	DropPackets, DropBytes Count
	Marked                 Count // packets with ECN's CE
	Depth, Peak            Count // bytes now, and at most
	Detected, Restored     Count // storms that the watchdog saw and that ended
	Flushed                Count // packets that the watchdog dropped
}

// Group is the counters of one priority at the ingress.
type Group struct {
	RxPackets, RxBytes     Count
	Shared, SharedPeak     Count // bytes of the shared buffer
	Headroom, HeadroomPeak Count // bytes of headroom
	DropPackets            Count
}

// RoCE is a NIC's counters of its queue pairs, by mlx5's names.
type RoCE struct {
	MarkedGot     Count // np_ecn_marked_roce_packets
	CNPSent       Count // np_cnp_sent
	CNPHandled    Count // rp_cnp_handled
	CNPIgnored    Count // rp_cnp_ignored
	OutOfSequence Count // out_of_sequence: the receiver missed packets
	SeqErr        Count // packet_seq_err: reported to the sender
	Timeouts      Count // local_ack_timeout_err
	RNR           Count // rnr_nak_retry_err
	Duplicates    Count // duplicate_request
	ImpliedNAK    Count // implied_nak_seq_err
	OutOfBuffer   Count // out_of_buffer
	Retransmitted Count // retransmitted packets, if the NIC counts them
}

// PCI is how a NIC was held up by its host, by mlx5's names. Stalled is the percentage of the last second without
// credits.
type PCI struct {
	StalledWr, StalledRd               Count // outbound_pci_stalled_wr, _rd
	StalledWrSeconds, StalledRdSeconds Count // outbound_pci_stalled_wr_events, _rd_events: seconds above 30 %
	Overflow                           Count // outbound_pci_buffer_overflow: packets dropped
}

// Peer is the neighbour that LLDP reports.
type Peer struct {
	Device, Port string
	ID, Descr    string // announced port ID, and description; "" if it is Port
	Line         int
}

// Is reports whether there is one.
func (p Peer) Is() bool { return p.Device != "" }

// Find returns a port by its name.
func (s *Snapshot) Find(name string) *Port {
	for i := range s.Ports {
		if s.Ports[i].Name == name {
			return &s.Ports[i]
		}
	}
	return nil
}
