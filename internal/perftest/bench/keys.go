package bench

import (
	"fmt"
	"math"
)

// TCPKeys converts the rows of kernel TCP on this host to settings of a scenario, KEY=VALUE: the rate of a copy,
// the processor time of packets at either end, including system calls, and the delay until a message's program
// runs. Nil if one of the rows is missing.
func TCPKeys(rows []Row) []string {
	copied, cpu, latency := rows[Copy].Median, rows[TCPCPU].Median, rows[TCPLat].Median
	if copied <= 0 || cpu <= 0 || latency <= 0 {
		return nil
	}
	const kib, acks = 4, 1.0 / 16 // kibibytes of a packet of 4,096 B; acknowledgements per packet
	packet := max(0, kib*(cpu-2*copied)/(2+acks))
	wakeup := max(0, 1000*latency-packet-2*kib*copied) // a packet's time at its sender delays the next
	ns := func(v float64) string { return fmt.Sprintf("%.0fns", math.Round(v)) }
	return []string{
		fmt.Sprintf("transport.tcp.copy=%.0fMbps", 1024*8/copied*1000),
		"transport.tcp.system_call=0ns", "transport.tcp.send_packet=" + ns(packet),
		"transport.tcp.receive_packet=" + ns(packet), "transport.tcp.interrupt=0ns",
		"transport.tcp.wakeup=" + ns(wakeup),
	}
}
