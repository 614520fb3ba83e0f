package sim

import (
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"railyard/internal/capture"
	"railyard/roce"
	"railyard/unit"
)

// TestTCPInCaptures: frames of kernel TCP have the length that the simulator counted, and sequence numbers cover
// each message's bytes without a gap. tshark finds every checksum correct and nothing malformed, over IPv4 and
// IPv6, in an incast with losses. pcap counts as many retransmissions as were captured.
func TestTCPInCaptures(t *testing.T) {
	for _, ip := range []string{"4", "6"} {
		r := load(t, `
name: tcp
fabric: {kind: rail, hosts: 3, spines: 1, ip: `+ip+`}
server: {gpus: 1, nics: 1}
transport: tcp
switch: {queues: {3: {limit: 60KB}}}
workload: {traffic: {incast: {bytes: 1000001B, fan_in: 2}}}
`)
		c, err := r.Capture([]string{"rail-1:Eth1"}, 0, unit.Second)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Go(nil); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "x.pcapng")
		w, err := capture.Create(path, false, "test", "rail-1:Eth1")
		if err != nil {
			t.Fatal(err)
		}
		i, again, head := 0, int64(0), roce.EthernetLen+map[string]int{"4": roce.IPv4Len, "6": roce.IPv6Len}[ip]
		have, last := map[uint16]map[uint32]int{}, uint32(0)
		c.Frames(func(at unit.Time, _ int, out bool, b []byte, comment string) {
			s := &c.seen[i]
			i++
			if len(b)+roce.FCSLen != int(s.p.Size) {
				t.Fatalf("%d bytes for %d", len(b), s.p.Size)
			}
			if comment == "retransmission" {
				again++
			}
			w.Frame(time.Unix(0, int64(at/unit.Nanosecond)), 0, out, b, comment)
			port := binary.BigEndian.Uint16(b[head:])
			if port == tcpPort {
				last = max(last, binary.BigEndian.Uint32(b[head+8:]))
				return
			}
			if have[port] == nil {
				have[port] = map[uint32]int{}
			}
			have[port][binary.BigEndian.Uint32(b[head+4:])] = len(b) - head - int(b[head+12]>>4)*4
		})
		if _, err := w.Close(); err != nil || last != 1_000_001 || again == 0 || len(have) != 2 {
			t.Fatalf("%v: acknowledged %d, %d retransmissions, %d senders", err, last, again, len(have))
		}
		for port, bytes := range have {
			seq := uint32(0)
			for n := bytes[seq]; n > 0; n = bytes[seq] {
				seq += uint32(n)
			}
			if seq != 1_000_001 {
				t.Errorf("IPv%s: sequence numbers of %d end at %d", ip, port, seq)
			}
		}
		pcapStory(t, path, again)
		shark(t, path, i)
	}
}

// pcapStory decodes a capture as the command pcap does.
func pcapStory(t *testing.T, path string, again int64) {
	r, err := capture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var events strings.Builder
	teller := capture.NewTeller(1000, func(e capture.Event) { events.WriteString(e.Who + " " + e.Text + "\n") })
	if err := teller.Tell(r, nil); err != nil {
		t.Fatal(err)
	}
	found, bytes := int64(0), int64(0)
	for _, f := range teller.Story.TCP {
		found += f.Again
		bytes += f.Payload
	}
	if len(teller.Story.TCP) != 4 || found < again || bytes < 2_000_002 ||
		!strings.Contains(events.String(), "TCP ACK seq 0 ack 0, 4096 bytes") ||
		!strings.Contains(events.String(), "retransmitted, 4096 bytes") || !strings.Contains(events.String(), "reports a gap") {
		t.Errorf("%d flows, %d of %d retransmissions, %d bytes:\n%s", len(teller.Story.TCP), found, again, bytes, &events)
	}
}

// shark checks the checksums of n frames with tshark.
func shark(t *testing.T, path string, frames int) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	out, err := exec.Command("tshark", "-r", path, "-o", "tcp.check_checksum:TRUE", "-T", "fields", "-e",
		"tcp.checksum.status", "-e", "_ws.malformed").Output()
	if err != nil {
		t.Fatal(err)
	}
	if good := strings.Count(string(out), "1\t\n"); good != frames {
		t.Errorf("tshark finds %d of %d frames right", good, frames)
	}
}
