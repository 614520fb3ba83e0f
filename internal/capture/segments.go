package capture

import (
	"railyard/roce"
)

// mtus are the possible payloads of the segments of a batch: a path MTU, or zero for acknowledgements.
var mtus = [...]int{4096, 2048, 1024, 512, 256, 0}

// split divides a batch of segments that the kernel had not yet split when it was captured (UDP segmentation
// offload, as on loopback). All but the last have one size. Each has its own ICRC, computed with its own length,
// and consecutive IPv4 identifications. The size is found by trying; nil when none fits, and for ordinary packets.
func split(f *roce.Frame) []roce.Frame {
	if f.Kind != roce.KindRoCEv2 || !f.Exact || f.ComputeICRC() == f.ICRC {
		return nil
	}
	ib := f.AppendHead(nil)
	ib = roce.AppendICRC(append(ib, f.Body...), f.ICRC)
	for _, m := range mtus {
		size := f.HeadLen() + m + roce.ICRCLen
		if size >= len(ib) {
			continue
		}
		if _, ok := segment(f, ib[:size], 0); !ok {
			continue
		}
		var out []roce.Frame
		for i := 0; len(ib) > 0; i++ {
			n := min(size, len(ib))
			s, ok := segment(f, ib[:n], i)
			if !ok && s.BTH.PKey == 0 {
				return out // not even a header
			}
			out = append(out, s)
			ib = ib[n:]
		}
		return out
	}
	return nil
}

// segment makes a separate frame of one segment; ok reports whether its ICRC is valid.
func segment(f *roce.Frame, ib []byte, i int) (s roce.Frame, ok bool) {
	s = roce.Frame{Kind: roce.KindRoCEv2, Ethernet: f.Ethernet, IP: f.IP, UDP: f.UDP, Exact: true}
	s.UDP.Len = uint16(roce.UDPLen + len(ib))
	if s.IP.Len = s.UDP.Len; f.IP.Version == 4 {
		s.IP.Len += uint16(roce.IPv4Len + len(f.IP.Options))
		s.IP.ID += uint16(i)
	}
	n, err := s.DecodeHead(ib)
	if err != nil || len(ib) < n+roce.ICRCLen+int(s.BTH.Pad) {
		return roce.Frame{}, false
	}
	s.Body, s.ICRC = ib[n:len(ib)-roce.ICRCLen], roce.WireICRC(ib)
	return s, s.ComputeICRC() == s.ICRC
}
