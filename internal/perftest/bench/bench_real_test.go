package bench

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A peer prints its address, and sends back what it receives or reads a stream to its end.
func TestRealServe(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{peerUDP, peerTCP, peerSink} {
		from, to := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- Serve(to, kind) }()
		line, err := bufio.NewReader(from).ReadString('\n')
		if err != nil {
			t.Fatal(kind, err)
		}
		network := "tcp4"
		if kind == peerUDP {
			network = kind
		}
		c, err := net.Dial(network, strings.TrimSpace(line))
		if err != nil {
			t.Fatal(kind, err)
		}
		sent, got := bytes.Repeat([]byte("ping"), barePing/4), make([]byte, barePing)
		if _, err := c.Write(sent); err != nil {
			t.Fatal(kind, err)
		}
		if kind != peerSink {
			if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, sent) {
				t.Errorf("%s: %v, other bytes", kind, err)
			}
		}
		c.Close()
		if kind != peerUDP { // which serves until its process ends
			if err := <-ended; err != nil {
				t.Error(kind, err)
			}
		}
	}
}

// fakeIperf listens. As a client it prints its report if its flags are those of kind.
const fakeIperf = `#!/bin/sh
case "$*" in
"-s "*) echo "Server listening on 5299" ;;
"-c 127."*" -J -t 2 FLAGS"|"-c 127."*" -J -t 2FLAGS") echo 'REPORT' ;;
*) echo '{"error": "flags '"$*"'"}' ;;
esac
`

// The receiver's rate of iperf3, in Gbit/s. For UDP without a receiver's sum it is the sent rate minus the losses.
// The time is rounded up to whole seconds. A datagram has 4 KiB plus the 12 bytes of a BTH and the 4 of an ICRC
// (IBTA 9.2).
func TestRealIperf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		udp         bool
		flags, says string
		want        float64
		err         string
	}{
		"tcp":                                 {false, "", `{"end": {"sum_received": {"bits_per_second": 5e9}}}`, 5, ""},
		"tcp has a receiver's sum or nothing": {false, "", `{"end": {"sum": {"bits_per_second": 8e9}}}`, 0, ""},
		"udp":                                 {true, "-u -b 0 -l 4112", `{"end": {"sum": {"bits_per_second": 8e9, "lost_percent": 25}}}`, 6, ""},
		"udp, newer": {true, "-u -b 0 -l 4112", `{"end": {"sum": {"bits_per_second": 8e9},
			"sum_received": {"bits_per_second": 7e9}}}`, 7, ""},
		"error":   {false, "", `{"error": "unable to connect"}`, 0, "iperf3 failed: unable to connect"},
		"no JSON": {false, "", `iperf3`, 0, "iperf3 failed: invalid character 'i' looking for beginning of value"},
	} {
		program := filepath.Join(t.TempDir(), "iperf3")
		text := strings.NewReplacer("FLAGS", c.flags, "REPORT", c.says).Replace(fakeIperf)
		if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		got, err := (&Bench{Iperf: program, Duration: 1100 * time.Millisecond}).iperf(t.Context(), c.udp)
		if got != c.want || err == nil && c.err != "" || err != nil && err.Error() != c.err {
			t.Errorf("%s: %v, %v, want %v, %s", name, got, err, c.want, c.err)
		}
	}
	b := &Bench{Iperf: filepath.Join(t.TempDir(), "none")}
	if _, err := b.iperf(t.Context(), false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the program: %v", err)
	}
}
