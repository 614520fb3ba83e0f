package web

import (
	"net/netip"
	"testing"

	"railyard/roce"
)

// Every byte of an MRC packet from the BTH on is explained once, except reserved ones, with the fields' values.
func TestLayersOfMRC(t *testing.T) {
	f := roce.Frame{Kind: roce.KindRoCEv2, BTH: roce.Header{Opcode: roce.MRCSack, DestQP: 0x11, PSN: 9},
		MRC: roce.MRC{SETH: roce.SETH{Verdict: roce.VerdictSkipOnce, AckOffset: -2, EV: 0xc123, Cumulative: 9,
			Bitmap: 5}}}
	f.IP.Src, f.IP.Dst, f.IP.TTL = netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.1"), 64
	f.Complete()
	raw := f.Append(nil)
	said, end := map[string]string{}, 0
	for _, x := range layers(&f, raw) {
		said[x.Layer+" "+x.Name] = x.Value
		if x.From < end-1 || x.To <= x.From {
			t.Errorf("%s %s lies at %d to %d, behind %d", x.Layer, x.Name, x.From, x.To, end)
		}
		end = x.To
	}
	if end != len(raw) {
		t.Errorf("%d of %d bytes are explained", end, len(raw))
	}
	for name, want := range map[string]string{"BTH dqp": "0x000011", "BTH psn": "9", "SETH m": "SKIP_ONCE",
		"SETH ack_psn_offset": "-2", "SETH entropy": "0x0000c123", "SETH sack_bitmap": "0x0000000000000005"} {
		if said[name] != want {
			t.Errorf("%s is %q, want %q", name, said[name], want)
		}
	}
	f.BTH.Opcode, f.MRC = roce.MRCWriteOnly, roce.MRC{METH: roce.METH{MSN: 3}}
	f.Body = make([]byte, 8)
	f.Complete()
	said = map[string]string{}
	for _, x := range layers(&f, f.Append(nil)) {
		said[x.Layer+" "+x.Name] = x.Value
	}
	_, payload := said["payload 8 bytes"]
	_, stamp := said["TSETH tx_timestamp"]
	if said["METH msn"] != "3" || !payload || stamp {
		t.Errorf("%v", said)
	}
}
