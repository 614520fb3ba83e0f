package web

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"railyard/roce"

	"pgregory.net/rapid"
)

// addr is a simulated NIC's address.
func addr(v6 bool, nic byte) netip.Addr {
	if v6 {
		return netip.AddrFrom16([16]byte{0: 0xfd, 12: 10, 15: nic})
	}
	return netip.AddrFrom4([4]byte{10, 0, 0, nic})
}

// For any encapsulation (IPv4, IPv6, tags, segments in an outer header), fields are consecutive from the first byte
// to the last, are in the frame, and match its headers.
func TestLayersOfAnyFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v6 := rapid.Bool().Draw(t, "IPv6")
		mrc := rapid.Bool().Draw(t, "MRC")
		f := roce.Frame{Kind: roce.KindRoCEv2, BTH: roce.Header{Opcode: roce.WriteOnly, DestQP: 0x11, PSN: 77,
			VA: 4096, RKey: 5, Len: 8}}
		if mrc {
			f.BTH.Opcode, f.MRC.METH.MSN = roce.MRCWriteOnly, 3
		}
		f.IP = roce.IP{TOS: 99, TTL: 61, Src: addr(v6, 1), Dst: addr(v6, 2)}
		ev := roce.EV(rapid.Uint32().Draw(t, "EV"))
		ev.Put(&f.IP, &f.UDP)
		f.NumTags = uint8(rapid.IntRange(0, 2).Draw(t, "tags"))
		for i := range f.NumTags {
			f.Tags[i] = roce.VLAN{TPID: roce.TypeVLAN, TCI: 3<<13 | 42}
		}
		f.Body = make([]byte, 8)
		f.Complete()
		tunnel := v6 && rapid.Bool().Draw(t, "tunnel")
		if tunnel {
			path, err := roce.SegmentAddress(0x20010db8, 7, 0xabcd)
			if err != nil {
				t.Fatal(err)
			}
			f.Encapsulate(f.IP.Src, path)
		}
		var back roce.Frame
		raw := f.Append(nil)
		if err := back.Decode(raw); err != nil {
			t.Fatal(err)
		}
		said, end := map[string]string{}, 0
		for _, x := range layers(&back, raw) {
			said[x.Layer+" "+x.Name] = x.Value
			if x.To <= x.From || x.To > len(raw) || x.From < end-1 {
				t.Fatalf("%s %s lies at %d to %d of %d, behind %d", x.Layer, x.Name, x.From, x.To, len(raw),
					end)
			}
			end = x.To
		}
		ip := map[bool]string{false: "IPv4", true: "IPv6"}[v6]
		want := map[string]string{ip + " DSCP, ECN": "24, 3", ip + " source": f.IP.Src.String(),
			"BTH PSN": "77", "BTH psn": "77"}
		delete(want, map[bool]string{true: "BTH PSN", false: "BTH psn"}[mrc])
		if f.NumTags > 0 {
			want["VLAN tag"] = "42, priority 3"
		}
		if tunnel {
			want["outer IPv6 segments"] = "2001:db8:7:abcd::"
		}
		if end != len(raw) {
			t.Fatalf("%d of %d bytes are told", end, len(raw))
		}
		for name, v := range want {
			if said[name] != v {
				t.Fatalf("%s is %q, want %q in %v", name, said[name], v, said)
			}
		}
		if n := nicOf(said[ip+" destination"]); n != 2 {
			t.Fatalf("%s is of NIC %d", said[ip+" destination"], n)
		}
	})
	for _, other := range []string{"", "192.168.0.1", "11.0.0.1", "fd00:1::10.0.0.1", "fe80::10.0.0.1",
		"host-1/nic-1"} {
		if n := nicOf(other); n != 0 {
			t.Errorf("%q is of NIC %d", other, n)
		}
	}
}

// A packet without a published format is described by the simulator's comment.
func TestPacketsThatAreNotSpelledOut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "srd")
	capturedAs(t, dir, "transport=srd")
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.View("packets", url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	var all Packets
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, p := range all.Packets {
		kinds[p.Kind]++
		if !strings.Contains(p.From, "/nic-") || !strings.HasPrefix(p.Said, p.Kind+" from 10.") ||
			len(p.Fields) > 0 || p.Again {
			t.Fatalf("%+v", p)
		}
	}
	if kinds["data"] < 50 || len(kinds) < 2 {
		t.Errorf("%v", kinds)
	}
}
