// Package tcp is kernel TCP as a transport of messages between GPUs, without I/O: the window of Cubic (RFC 9438) or
// DCTCP (RFC 8257), losses found as RFC 8985 does, and what hosts pay for it. A connection has a core at each end.
//
// A message goes from GPU memory to the host's by DMA (staging), is copied to the socket by system calls of a chunk
// each, and leaves as packets; at the far end an interrupt wakes the core, which takes the packets one after the other,
// copies them to the program's buffer and acknowledges them, and DMA takes them to the GPU. With GPUDirect the NIC
// reads and writes GPU memory: both stagings and both copies are gone, system calls, packets and interrupts stay.
//
// What is simplified: a connection's packets and its program share one core; the receive buffer is the window, so that
// nothing is advertised; no handshake, no Nagle, and no slow start after a pause.
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

// Counters that both ends report together.
const (
	CounterCPU        = "cpu_ns"
	CounterCopied     = "copied_bytes"
	CounterCalls      = "system_calls"
	CounterInterrupts = "interrupts"
)

// Protocol is kernel TCP's place in lists of protocols.
var Protocol = transport.Protocol{
	Name: "tcp", Title: "kernel TCP", Words: "kernel TCP through host memory",
	Params: []param.Param{
		{Name: "dctcp", Kind: param.Flag, Doc: "windows of DCTCP instead of Cubic's"},
		{Name: "gpudirect", Kind: param.Flag,
			Doc: "the NIC reads and writes GPU memory: no staging in host memory and no copies by a core"},
		{Name: "window", Kind: param.Count, Min: "64", Max: "65536",
			Doc: "packets of a connection that may be out, its buffers; a power of two"},
		{Name: "chunk", Kind: param.Size, Min: "256B", Max: "64MiB", Doc: "bytes of a system call"},
		{Name: "system_call", Kind: param.Duration, Min: "0ns", Max: "1ms", Doc: "core time of a system call"},
		{Name: "copy", Kind: param.Speed, Min: "1Mbps", Max: "100Tbps",
			Doc: "rate at which a core copies between program and socket"},
		{Name: "send_packet", Kind: param.Duration, Min: "0ns", Max: "1ms", Doc: "core time of a packet that is sent"},
		{Name: "receive_packet", Kind: param.Duration, Min: "0ns", Max: "1ms",
			Doc: "core time of a packet that is received, without its copy"},
		{Name: "interrupt", Kind: param.Duration, Min: "0ns", Max: "1s",
			Doc: "from a packet's arrival at an idle core to its processing (interrupt moderation)"},
		{Name: "wakeup", Kind: param.Duration, Min: "0ns", Max: "1s",
			Doc: "from the last packet of a message to its program"},
		{Name: "stage", Kind: param.Speed, Min: "1Mbps", Max: "100Tbps", Doc: "rate of copies between GPU and host memory"},
		{Name: "stage_latency", Kind: param.Duration, Min: "0ns", Max: "1s",
			Doc: "start of such a copy and notice of its end, for each message at each end"},
		{Name: "ack_every", Kind: param.Count, Min: "1", Max: "256", Doc: "packets per acknowledgement, at most (GRO)"},
		{Name: "rto_min", Kind: param.Duration, Min: "10us", Max: "60s", Doc: "least retransmission time-out"},
		{Name: "retries", Kind: param.Count, Min: "1", Max: "255",
			Doc: "how often one packet goes again before its message fails"},
	},
	// docs/references.md, kernel-tcp.
	Defaults: param.Values{"dctcp": false, "gpudirect": false, "window": 1024, "chunk": 64 * unit.KiB,
		"system_call": 500 * unit.Nanosecond, "copy": 86 * unit.Gbps, "send_packet": 100 * unit.Nanosecond,
		"receive_packet": 400 * unit.Nanosecond, "interrupt": 8 * unit.Microsecond, "wakeup": 5 * unit.Microsecond,
		"stage": 200 * unit.Gbps, "stage_latency": 20 * unit.Microsecond, "ack_every": 16,
		"rto_min": 200 * unit.Millisecond, "retries": 100},
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
	New:   func(v param.Values, c transport.Common) transport.Maker { return &maker{settingsOf(v, c)} },
}

func check(v param.Values, c transport.Common) (name, fault string) {
	if n := param.Value[int](v, "window"); n&(n-1) != 0 {
		return "window", fmt.Sprintf("%d is not a power of two", n)
	}
	if n := param.Value[unit.Bytes](v, "chunk"); n < c.MTU {
		return "chunk", fmt.Sprintf("%v is less than a packet of %v", n, c.MTU)
	}
	return "", ""
}

// settings are the settings that all connections share.
type settings struct {
	transport.Common
	dctcp, direct                  bool
	window, chunk                  int // packets
	ackEvery, retries              int
	call, tx, rx, interrupt        unit.Time
	wakeup, stageLatency, leastRTO unit.Time
	copy, stage                    unit.Rate
}

func settingsOf(v param.Values, c transport.Common) settings {
	count := func(name string) int { return param.Value[int](v, name) }
	time := func(name string) unit.Time { return param.Value[unit.Time](v, name) }
	s := settings{Common: c, dctcp: param.Value[bool](v, "dctcp"), direct: param.Value[bool](v, "gpudirect"),
		window: count("window"), chunk: int(param.Value[unit.Bytes](v, "chunk") / c.MTU), ackEvery: count("ack_every"),
		retries: count("retries"), call: time("system_call"), tx: time("send_packet"), rx: time("receive_packet"),
		interrupt: time("interrupt"), wakeup: time("wakeup"), stageLatency: time("stage_latency"),
		leastRTO: time("rto_min"), copy: param.Value[unit.Rate](v, "copy"), stage: param.Value[unit.Rate](v, "stage")}
	s.chunk = max(1, min(s.chunk, s.window/2))
	s.Planes = max(1, s.Planes)
	if s.direct {
		s.stageLatency = 0
	}
	return s
}

// copying returns what a core takes to copy bytes.
func (s *settings) copying(bytes unit.Bytes) unit.Time {
	if s.direct {
		return 0
	}
	return unit.Serialize(bytes, s.copy)
}

// staging returns what DMA takes to move bytes between GPU and host memory.
func (s *settings) staging(bytes unit.Bytes) unit.Time {
	if s.direct {
		return 0
	}
	return unit.Serialize(bytes, s.stage)
}

// hosts returns the rate of the slowest of both cores and of DMA, and what a message takes until its first packet is in
// the socket, from its arrival to its processing, and from its last packet to its program.
func (s *settings) hosts() (rate unit.Rate, each unit.Time) {
	part := func(d unit.Time, packets int) unit.Time { return d / unit.Time(packets) }
	both := s.copying(s.MTU) + part(s.call, s.chunk)
	slowest := max(both+s.tx+part(s.rx, s.ackEvery), both+s.rx, s.staging(s.MTU), 1)
	chunk := unit.Bytes(s.chunk) * s.MTU
	each = 2*s.stageLatency + s.staging(chunk) + s.call + s.copying(chunk) + s.interrupt + s.wakeup
	return unit.Rate(float64(s.MTU) * 8e12 / float64(slowest)), each
}

// copies is how often a byte is copied at one end.
func (s *settings) copies() int64 {
	if s.direct {
		return 0
	}
	return 2
}

type maker struct{ settings }

// Receiver makes the far end of a connection.
func (m *maker) Receiver(cc.Path, uint64) transport.Receiver {
	return &receiver{s: &m.settings, in: window.NewIn(m.window, uint64(m.MTU), true)}
}

// Frames: Ethernet with FCS, IPv4, TCP with the timestamps option (RFC 7323), and of an acknowledgement that reports
// gaps a SACK option with three blocks (RFC 2018).
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

// State returns the bytes that hosts keep: a socket, and 24 bytes for a packet that is out.
func (m *maker) State() (connection, peer int) { return m.window*24 + 2048, 0 }
