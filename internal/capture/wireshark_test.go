package capture

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"railyard/roce"
)

// tshark reads frames with the plugin loaded and returns its rows of fields. The first field of a row reports a
// malformed packet.
func tshark(t *testing.T, frames [][]byte, fields ...string) [][]string {
	t.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	dir := t.TempDir()
	plugin, path := filepath.Join(dir, "mrc.lua"), filepath.Join(dir, "x.pcapng")
	if err := os.WriteFile(plugin, []byte(WiresharkPlugin()), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path, false, "test", "port")
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range frames {
		f.Frame(time.Unix(0, int64(i)), 0, true, b, "")
	}
	if _, err := f.Close(); err != nil {
		t.Fatal(err)
	}
	args := []string{"-X", "lua_script:" + plugin, "-r", path, "-T", "fields", "-E", "separator=|", "-e",
		"_ws.malformed"}
	for _, e := range fields {
		args = append(args, "-e", e)
	}
	cmd := exec.Command("tshark", args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || strings.Contains(said.String(), "mrc.lua") {
		t.Fatalf("%v: %s", err, said.String())
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

// goldenPackets reads package roce's packets: those of MRC, and others.
func goldenPackets(t *testing.T) (names []string, frames [][]byte) {
	for _, file := range []string{"mrc_packets.txt", "roce_packets.txt"} {
		text, err := os.ReadFile("../../roce/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			w := strings.Fields(line)
			if len(w) < 2 || w[0] == "#" || len(w) == 3 && w[1] != "eth" {
				continue
			}
			b, err := hex.DecodeString(w[len(w)-1])
			if err != nil {
				t.Fatal(err)
			}
			names, frames = append(names, w[0]), append(frames, b)
		}
	}
	return names, frames
}

// Wireshark with the plugin decodes every field of independently built packets as in their bytes, with nothing
// malformed. Ordinary RoCEv2 is left to its own dissector.
func TestTsharkMRC(t *testing.T) {
	names, frames := goldenPackets(t)
	var fields []string
	for _, f := range roce.MRCFields() {
		fields = append(fields, "mrc."+strings.ToLower(f.Header)+"."+f.Name)
	}
	listed := len(fields)
	extra := []string{"mrc.ev", "mrc.ack_psn", "mrc.probe_id", "mrc.missing", "mrc.payload", "mrc.icrc",
		"mrc.bytes_received", "infiniband.bth.opcode"}
	rows := tshark(t, frames, append(fields, extra...)...)
	of := func(name, field string) string {
		for i := range names {
			for j, f := range append(fields, extra...) {
				if names[i] == name && f == field {
					return rows[i][j+1]
				}
			}
		}
		t.Errorf("there is no %s of %s", field, name)
		return ""
	}
	mrc, others := 0, 0
	for i, row := range rows {
		if row[0] != "" {
			t.Errorf("%s is malformed to tshark", names[i])
		}
		var f roce.Frame
		if f.Decode(frames[i]) != nil || !f.BTH.Opcode.IsMRC() {
			others++
			if strings.Join(row[1:listed+len(extra)], "") != "" || row[listed+len(extra)] == "" &&
				f.Kind == roce.KindRoCEv2 {
				t.Errorf("%s is no longer read as RoCEv2: %q", names[i], row)
			}
			continue
		}
		mrc++
		checkFields(t, names[i], &f, row[1:listed+1])
	}
	if mrc < 20 || others < 4 {
		t.Errorf("%d packets of MRC, %d others", mrc, others)
	}
	for _, c := range [][3]string{
		{"write_first", "mrc.ev", "0x00150c07"}, {"write_first", "mrc.meth.msn", "3"},
		{"write_first", "mrc.reth.va", "0x00007f0000001000"}, {"write_only_v4", "mrc.ev", "0x0000c0de"},
		{"write_only_v4", "mrc.payload", "7879"}, {"write_last_imm", "mrc.immdt.data", "0xdeadbeef"},
		{"write_last_again", "mrc.bth.rtx", "1"}, {"write_only_imm_srv6", "mrc.ev", "0x00150c07"},
		{"sack", "mrc.seth.sack_bitmap", "0x8000000000000005"}, {"sack", "mrc.ack_psn", "5003"},
		{"sack_before_cumulative_v4", "mrc.ack_psn", "16777215"},
		{"sack", "mrc.bytes_received", "2882400000"},
		{"sack_before_cumulative_v4", "mrc.seth.sack_offset", "-1"},
		{"sack_answers_probe", "mrc.probe_id", "32769"},
		{"nack_trimmed_lasthop", "mrc.neth.nack_reason", "2"},
		{"port_status_update", "mrc.erth.port_status_mask", "0x000000fd"},
		{"ev_probe_answer", "mrc.eeth.op", "1"},
	} {
		if got := of(c[0], c[1]); got != c[2] {
			t.Errorf("%s: tshark reads %s as %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// checkFields compares tshark's fields with the bits of the packet: fields of its headers, and none of others.
func checkFields(t *testing.T, name string, f *roce.Frame, row []string) {
	t.Helper()
	wire, at := f.AppendHead(nil), map[string]int{}
	n := 0
	for _, o := range roce.MRCOps() {
		for _, h := range o.Headers {
			if o.Op != f.BTH.Opcode || h == "TSETH" && !f.MRC.Stamped {
				continue
			}
			at[h] = n
			for _, x := range roce.MRCHeaders() {
				if x.Name == h {
					n += x.Len
				}
			}
		}
	}
	for i, x := range roce.MRCFields() {
		start, ok := at[x.Header]
		if !ok {
			if row[i] != "" {
				t.Errorf("%s has no %s, tshark reads %s.%s as %q", name, x.Header, x.Header, x.Name, row[i])
			}
			continue
		}
		want := x.Value(wire[start:])
		text := strconv.FormatUint(want, 10)
		if x.Signed {
			text = strconv.Itoa(int(int16(want)))
		}
		got := row[i]
		if v, err := strconv.ParseUint(got, 0, 64); err == nil {
			got = strconv.FormatUint(v, 10)
		}
		if got != text {
			t.Errorf("%s: tshark reads %s.%s as %q, the wire has %s", name, x.Header, x.Name, row[i], text)
		}
	}
}

// The plugin handles any truncated or flipped packet.
func TestTsharkMRCDamage(t *testing.T) {
	_, frames := goldenPackets(t)
	var damaged [][]byte
	for _, b := range frames {
		var f roce.Frame
		if f.Decode(b) != nil || !f.BTH.Opcode.IsMRC() || f.Tunnel {
			continue
		}
		ib := f.AppendHead(nil)
		put := func(ib []byte) {
			damaged = append(damaged, roce.AppendUDP(nil, &f.Ethernet, &f.IP, f.UDP.SrcPort, roce.Port, ib))
		}
		for n := 0; n <= len(ib); n += 3 { // as a switch trims it
			put(ib[:n])
		}
		for i := range ib {
			flipped := append([]byte(nil), ib...)
			flipped[i] ^= 0xff
			put(flipped)
		}
	}
	for i, row := range tshark(t, damaged, "_ws.lua.error", "mrc.bth.opcode") {
		if row[1] != "" {
			t.Fatalf("frame %d: %s", i, row[1])
		}
	}
}

// The plugin's tables are complete, and no placeholder is left in its Lua source.
func TestWiresharkPlugin(t *testing.T) {
	text := WiresharkPlugin()
	for _, f := range roce.MRCFields() {
		if want := fmt.Sprintf("header = %q, name = %q, at = %d, bits = %d,", f.Header, f.Name, f.At,
			f.Bits); !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "FORMAT") || strings.Count(text, "operations[0x") != len(roce.MRCOps()) {
		t.Error("the tables are not where they belong")
	}
}
