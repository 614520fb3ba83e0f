package bench

import (
	"slices"
	"testing"
)

// A host's measurement becomes keys whose sums are the measurement: 390 ns of both cores per KiB, 117.6 of which
// are two copies, and 11.5 us per message.
func TestTCPKeys(t *testing.T) {
	rows := newRows()
	if keys := TCPKeys(rows); keys != nil {
		t.Errorf("keys of nothing: %v", keys)
	}
	rows[Copy].Median, rows[TCPCPU].Median, rows[TCPLat].Median = 58.8, 390, 11.5
	want := []string{"transport.tcp.copy=139320Mbps", "transport.tcp.system_call=0ns", "transport.tcp.send_packet=528ns",
		"transport.tcp.receive_packet=528ns", "transport.tcp.interrupt=0ns", "transport.tcp.wakeup=10501ns"}
	if got := TCPKeys(rows); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
