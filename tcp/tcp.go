// Package tcp is kernel TCP as a transport of messages between GPUs, without I/O. It has the window of Cubic (RFC
// 9438) or DCTCP (RFC 8257), the loss detection of RFC 8985, and the processing costs of hosts. A connection has a
// core at each end. Connections share cores if a host has more connection ends than cores.
//
// DMA copies a message from GPU memory to the host (staging). System calls copy it to the socket chunk by chunk,
// and it leaves as packets. At the far end an interrupt wakes the core. The core processes the packets one by one,
// copies them to the program's buffer and acknowledges them. With GPUDirect the NIC reads and writes GPU memory.
// Both stagings and both copies are omitted; system calls, packets and interrupts remain.
//
// Simplifications: a connection's packets and its program share one core; connections use cores in turn; the
// receive buffer equals the window, so no window is advertised. There is no handshake, no Nagle, and no slow start
// after a pause.
package tcp

import (
	"fmt"

	"railyard/cc"
	"railyard/param"
	"railyard/roce"
	"railyard/transport"
	"railyard/transport/window"
	"railyard/unit"
)

// Counters that both ends report together as one sum.
const (
	CounterCPU        = "cpu_ns"
	CounterCopied     = "copied_bytes"
	CounterCalls      = "system_calls"
	CounterInterrupts = "interrupts"
)

// Protocol is kernel TCP's place in lists of protocols.
var Protocol = transport.Protocol{
	Name: "tcp", Title: "kernel TCP", Words: "kernel TCP through host memory",
	Params: parameters.Params(), Defaults: parameters.Defaults(),
	Signals: []cc.Term{
		{Name: cc.SignalWindow, Unit: "B", Doc: "the congestion window"},
		{Name: cc.SignalDelay, Unit: "s", Doc: "the smoothed round trip, with the far core's part of it"},
		{Name: cc.SignalAlpha, Doc: "DCTCP's estimate of the share of marked packets; 0 with Cubic"},
	},
	Counters: []cc.Term{
		{Name: "timeouts", Doc: "retransmission time-outs, and probes before them"},
		{Name: "early", Doc: "packets retransmitted because later ones had arrived"},
		{Name: cc.CounterCuts, Doc: "cuts of the window"},
		{Name: CounterCPU, Doc: "core time in nanoseconds, of both ends"},
		{Name: CounterCopied, Doc: "bytes copied between GPU, program and socket, of both ends"},
		{Name: CounterCalls, Doc: "system calls, of both ends"},
		{Name: CounterInterrupts, Doc: "interrupts of receivers"},
	},
	Needs:   cc.Needs{Switch: "-", NIC: "checksums, segmentation and coalescing; a core per connection and end"},
	Ordered: true,
	Lossy:   true,
	Free: param.Values{"gpudirect": true, "system_call": unit.Time(0), "send_packet": unit.Time(0),
		"receive_packet": unit.Time(0), "interrupt": unit.Time(0), "wakeup": unit.Time(0)},
	Hosts: func(v param.Values, c transport.Common) (unit.Rate, unit.Time) {
		s := settingsOf(v, c)
		return s.hosts()
	},
	Check: check,
	New:   func(v param.Values, c transport.Common) transport.Maker { return &maker{settings: settingsOf(v, c)} },
}

func check(v param.Values, c transport.Common) (name, fault string) {
	s := parameters.Read(v)
	if n := s.Window; n&(n-1) != 0 {
		return "window", fmt.Sprintf("%d is not a power of two", n)
	}
	if n := s.Chunk; n < c.MTU {
		return "chunk", fmt.Sprintf("%v is less than a packet of %v", n, c.MTU)
	}
	return "", ""
}

// settings are the settings that all connections share; docs/references.md, kernel-tcp, has the defaults.
type settings struct {
	transport.Common
	chunk        int        // packets of a system call
	DCTCP        bool       `yaml:"dctcp" default:"false" doc:"windows of DCTCP instead of Cubic's"`
	Direct       bool       `yaml:"gpudirect" default:"false" doc:"the NIC reads and writes GPU memory: no staging in host memory and no copies by a core"`
	Window       int        `yaml:"window" range:"64,65536" default:"1024" doc:"packets of a connection that may be out, its buffers; a power of two"`
	Chunk        unit.Bytes `yaml:"chunk" range:"256B,64MiB" default:"64KiB" doc:"bytes of a system call"`
	Call         unit.Time  `yaml:"system_call" range:"0ns,1ms" default:"500ns" doc:"core time of a system call"`
	Copy         unit.Rate  `yaml:"copy" range:"1Mbps,100Tbps" default:"86Gbps" unless:"gpudirect" doc:"rate at which a core copies between program and socket"`
	Tx           unit.Time  `yaml:"send_packet" range:"0ns,1ms" default:"100ns" doc:"core time of a packet that is sent"`
	Rx           unit.Time  `yaml:"receive_packet" range:"0ns,1ms" default:"400ns" doc:"core time of a packet that is received, without its copy"`
	Interrupt    unit.Time  `yaml:"interrupt" range:"0ns,1s" default:"8us" doc:"from a packet's arrival at an idle core to its processing (interrupt moderation)"`
	Wakeup       unit.Time  `yaml:"wakeup" range:"0ns,1s" default:"5us" doc:"from the last packet of a message to its program"`
	Stage        unit.Rate  `yaml:"stage" range:"1Mbps,100Tbps" default:"200Gbps" unless:"gpudirect" doc:"rate of copies between GPU and host memory"`
	StageLatency unit.Time  `yaml:"stage_latency" range:"0ns,1s" default:"20us" unless:"gpudirect" doc:"start of such a copy and notice of its end, for each message at each end"`
	AckEvery     int        `yaml:"ack_every" range:"1,256" default:"16" doc:"packets per acknowledgement, at most (GRO)"`
	LeastRTO     unit.Time  `yaml:"rto_min" range:"10us,60s" default:"200ms" doc:"least retransmission time-out"`
	Cores        int        `yaml:"cores" range:"1,65536" default:"112" doc:"cores of a host that connections have: one for each end, in turn"`
	Retries      int        `yaml:"retries" range:"1,255" default:"100" doc:"how often one packet is retransmitted before its message fails"`
}

// parameters are the keys of scenarios.
var parameters = param.In[settings]()

func settingsOf(v param.Values, c transport.Common) settings {
	s := parameters.Read(v)
	s.Common = c
	s.chunk = max(1, min(int(s.Chunk/c.MTU), s.Window/2))
	s.Planes = max(1, s.Planes)
	if s.Direct {
		s.StageLatency = 0
	}
	return s
}

// copying returns a core's time to copy a number of bytes.
func (s *settings) copying(bytes unit.Bytes) unit.Time {
	if s.Direct {
		return 0
	}
	return unit.Serialize(bytes, s.Copy)
}

// staging returns the time of a DMA copy between GPU and host memory.
func (s *settings) staging(bytes unit.Bytes) unit.Time {
	if s.Direct {
		return 0
	}
	return unit.Serialize(bytes, s.Stage)
}

// hosts returns the minimum rate of both cores and of DMA, and three times of a message. They are the time until
// its first packet is in the socket, from its arrival to its processing, and from its last packet to its program.
func (s *settings) hosts() (rate unit.Rate, each unit.Time) {
	part := func(d unit.Time, packets int) unit.Time { return d / unit.Time(packets) }
	both := s.copying(s.MTU) + part(s.Call, s.chunk)
	slowest := max(both+s.Tx+part(s.Rx, s.AckEvery), both+s.Rx, s.staging(s.MTU), 1)
	chunk := unit.Bytes(s.chunk) * s.MTU
	each = 2*s.StageLatency + s.staging(chunk) + s.Call + s.copying(chunk) + s.Interrupt + s.Wakeup
	return unit.Rate(float64(s.MTU) * 8e12 / float64(slowest)), each
}

// copies returns how often a byte is copied at one end.
func (s *settings) copies() int64 {
	if s.Direct {
		return 0
	}
	return 2
}

// maker creates ends, on a host or, if host is nil, on cores of their own.
type maker struct {
	settings
	host *transport.Host
}

// At returns a maker of ends at a host.
func (m *maker) At(h *transport.Host) transport.Maker { return &maker{m.settings, h} }

// Receiver makes the far end of a connection.
func (m *maker) Receiver(cc.Path, uint64) transport.Receiver {
	return &receiver{s: &m.settings, core: m.host.Core(m.Cores), in: window.NewIn(m.Window, uint64(m.MTU), true)}
}

// Frames: Ethernet with FCS, IPv4, and TCP with the timestamps option (RFC 7323). An acknowledgement that reports
// gaps has a SACK option with three blocks (RFC 2018).
const (
	headers = roce.EthernetLen + roce.IPv4Len + 20 + 12 + roce.FCSLen
	sack    = 28
)

// Wire is a frame's length, at least Ethernet's 64 bytes.
func (m *maker) Wire(p *transport.Packet) int {
	n := headers
	if m.IPv6 {
		n += roce.IPv6More
	}
	if p.Kind == transport.Data {
		return max(64, n+int(p.Payload))
	}
	if p.Bits != [2]uint64{} {
		n += sack
	}
	return max(64, n)
}

// State returns the size of the hosts' state: a socket, and 24 bytes per packet in flight.
func (m *maker) State() (connection, peer int) { return m.Window*24 + 2048, 0 }
