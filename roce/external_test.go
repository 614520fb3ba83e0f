package roce

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// ours is one packet of every RC opcode and of CNP, over IPv4, IPv6 and a VLAN.
func ours() (frames []Frame) {
	payload := []byte("seventeen bytes..")
	for op := range Opcode(0x82) {
		if !op.Known() || op > 0x1f && op != CNP || op == Flush || op == AtomicWrite {
			continue
		}
		for i, a := range [][2]string{{"10.0.0.1", "10.0.0.2"}, {"2001:db8::1", "2001:db8::2"}} {
			f := Frame{Kind: KindRoCEv2, Ethernet: Ethernet{Dst: MAC{2, 0, 0, 0, 0, 2},
				Src: MAC{2, 0, 0, 0, 0, 1}},
				BTH: Header{Opcode: op, PKey: DefaultPKey, DestQP: 17, PSN: 5000, AckReq: op.Ends(),
					VA: 0x7f800000, RKey: 0x1234, Len: 17,
					Syndrome: NakSequence, MSN: 3, Imm: 0xdeadbeef, InvKey: 0x55, SwapAdd: 1,
					Compare: 2, Orig: 41}}
			f.IP.Src, f.IP.Dst, f.IP.TTL, f.IP.TOS, f.UDP.SrcPort = addr(a[0]), addr(a[1]), 64, 26<<2|2, 49152
			switch {
			case op == CNP:
				f.BTH.BECN, f.BTH.AckReq, f.BTH.PSN, f.Body, f.IP.TOS = true, false, 0,
					make([]byte, CNPPadLen), 48<<2
			case !op.IsAtomic() && op != ReadRequest && op != Acknowledge && op != AtomicAck:
				f.BTH.Pad = 3
				f.Body = append(bytes.Clone(payload), 0, 0, 0)
			}
			if i == 1 {
				f.NumTags, f.Tags[0] = 1, VLAN{TypeVLAN, 3<<13 | 100}
			}
			f.Complete()
			frames = append(frames, f)
		}
	}
	return frames
}

// TestScapy compares the ICRC of Railyard's packets with scapy's.
func TestScapy(t *testing.T) {
	const python = "/usr/bin/python3" // Debian's Python, for which python3-scapy is installed
	if exec.Command(python, "-c", "import scapy.contrib.roce").Run() != nil {
		t.Skip("python3-scapy is not installed")
	}
	script := `
import sys
from scapy.all import Ether, raw
from scapy.contrib.roce import BTH
for line in sys.stdin:
    p = Ether(bytes.fromhex(line.strip()))
    b = p[BTH]
    print(b.opcode, b.dqpn, b.psn, (b.icrc if b.icrc is not None else 0),
          int.from_bytes(b.compute_icrc(raw(b)[:-4]), "big"))
`
	var in bytes.Buffer
	frames := ours()
	for i := range frames {
		in.WriteString(hex.EncodeToString(frames[i].Append(nil)) + "\n")
	}
	cmd := exec.Command(python, "-W", "ignore", "-c", script)
	cmd.Stdin = &in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(frames) {
		t.Fatalf("%d lines for %d packets", len(lines), len(frames))
	}
	for i, l := range lines {
		w := strings.Fields(l)
		if frames[i].IP.Version == 6 {
			continue // scapy 2.5 computes no ICRC over IPv6
		}
		if len(w) != 5 || w[3] != w[4] || w[3] == "0" {
			t.Errorf("%v: scapy says %s (opcode, qp, psn, ICRC found, ICRC computed)", &frames[i], l)
		}
	}
}

// tsharkFields writes frames to a capture and returns tshark's fields.
func tsharkFields(t *testing.T, frames [][]byte, fields ...string) [][]string {
	t.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	path := filepath.Join(t.TempDir(), "x.pcapng")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pcapgo.NewNgWriter(f, layers.LinkTypeEthernet)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range frames {
		if err := w.WritePacket(gopacket.CaptureInfo{CaptureLength: len(b), Length: len(b)}, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	args := []string{"-r", path, "-T", "fields", "-E", "separator=|", "-e", "_ws.malformed"}
	for _, e := range fields {
		args = append(args, "-e", e)
	}
	out, err := exec.Command("tshark", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, l := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		rows = append(rows, strings.Split(l, "|"))
	}
	if len(rows) != len(frames) {
		t.Fatalf("tshark read %d of %d frames", len(rows), len(frames))
	}
	return rows
}

// TestTshark decodes Railyard's packets with Wireshark's dissector.
func TestTshark(t *testing.T) {
	frames := ours()
	var raw [][]byte
	for i := range frames {
		raw = append(raw, frames[i].Append(nil))
	}
	rows := tsharkFields(t, raw, "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn",
		"infiniband.bth.a",
		"infiniband.reth.va", "infiniband.reth.r_key", "infiniband.reth.dmalen", "infiniband.aeth.syndrome",
		"infiniband.aeth.msn",
		"infiniband.immdt", "infiniband.ieth", "infiniband.atomiceth.swapdt",
		"infiniband.atomicacketh.origremdt", "ip.checksum.status")
	for i, r := range rows {
		f := &frames[i]
		h := &f.BTH
		want := func(col int, has bool, v uint64) {
			if r[0] != "" {
				t.Errorf("%v is malformed to tshark", f)
			}
			got := r[col]
			if !has {
				v = 0
			}
			if has && got == "" || got != "" && has && parseInt(t, got) != v {
				t.Errorf("%v: tshark reads column %d as %q, want %d", f, col, got, v)
			}
		}
		want(1, true, uint64(h.Opcode))
		want(2, true, uint64(h.DestQP))
		want(3, true, uint64(h.PSN))
		want(5, h.Opcode.HasRETH(), h.VA)
		want(6, h.Opcode.HasRETH(), uint64(h.RKey))
		want(7, h.Opcode.HasRETH(), uint64(h.Len))
		want(8, h.Opcode.HasAETH(), uint64(h.Syndrome))
		want(9, h.Opcode.HasAETH(), uint64(h.MSN))
		want(10, h.Opcode.HasImm(), uint64(h.Imm))
		want(12, h.Opcode.IsAtomic(), h.SwapAdd)
		want(13, h.Opcode == AtomicAck, h.Orig)
		if f.IP.Version == 4 && r[14] == "0" {
			t.Errorf("%v: IP checksum is bad", f)
		}
	}
}

// TestTsharkPauseLLDP does the same for PFC, classic pause and DCBX.
func TestTsharkPauseLLDP(t *testing.T) {
	l := announcement()
	lf := Frame{Kind: KindLLDP, Ethernet: Ethernet{Dst: LLDPAddress, Src: MAC{2}, Type: TypeLLDP},
		LLDP: l.Append(nil)}
	// Fields that several TLVs have list them in order: IEEE configuration, recommendation, then CEE.
	want := []struct {
		field, value string
		frame        int
	}{
		{"macc.cbfc.enbv.c3", "1", 0}, {"macc.cbfc.enbv.c2", "0", 0}, {"macc.cbfc.pause_time.c3", "1000", 0},
		{"macc.opcode", "0x0001", 1}, {"macc.pause_time", "77", 1},
		{"lldp.time_to_live", "120", 2}, {"lldp.dcbx.ieee.pfc.numtcs", "8", 2},
		{"lldp.dcbx.ieee.app.prio", "3,3", 2},
		{"lldp.dcbx.ieee.ets.maxtcs", "7", 2}, {"lldp.dcbx.ieee.ets.tsa0", "2,2", 2},
		{"lldp.dcbx.ieee.ets.tsa6", "0,0", 2},
		{"lldp.dcbx.control.seq", "1", 2}, {"lldp.dcbx.control.ack", "2", 2},
		{"lldp.dcbx.feature.pg.pgid_prio3", "3,3,1", 2},
		{"lldp.dcbx.feature.pg.per1", "0,0,50", 2}, {"lldp.dcbx.feature.pfc.prio3", "1,1", 2},
		{"lldp.dcbx.feature.pfc.prio4", "0,0", 2},
		{"lldp.dcbx.feature.app.prio", "3", 2}, {"lldp.dcbx.feature.app.proto", "0x12b7,0x001a,0x8915", 2},
	}
	var fields []string
	for _, w := range want {
		fields = append(fields, w.field)
	}
	rows := tsharkFields(t, [][]byte{AppendPFC(nil, MAC{2}, 8, [8]uint16{3: 1000}),
		appendControl(nil, MAC{2}, &PauseFrame{Classic: true, Quanta: [8]uint16{77}}), lf.Append(nil)}, fields...)
	for i, w := range want {
		if got := rows[w.frame][i+1]; got != w.value || rows[w.frame][0] != "" {
			t.Errorf("frame %d: tshark reads %s as %q, want %q; malformed %q", w.frame, w.field, got, w.value,
				rows[w.frame][0])
		}
	}
}

func parseInt(t *testing.T, s string) uint64 {
	t.Helper()
	s, _, _ = strings.Cut(s, ",")
	if !strings.HasPrefix(s, "0x") && strings.ContainsAny(s, "abcdef") {
		s = "0x" + s // tshark prints immediate data as plain bytes
	}
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Errorf("tshark printed %q: %v", s, err)
	}
	return n
}
