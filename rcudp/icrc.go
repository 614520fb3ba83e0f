package rcudp

import (
	"encoding/binary"
	"net/netip"

	"railyard/roce"
)

// icrcHolds checks the ICRC.
func (e *Endpoint) icrcHolds(src netip.AddrPort, seg int, b []byte) bool {
	_, ok := e.identify(src, seg, b)
	return ok
}

// identify finds the IPv4 identification of a received datagram: the one for which its ICRC is valid. The
// identification is guessed: first the position in the arrived batch and then, in case the kernel split or merged
// batches, any other.
func (e *Endpoint) identify(src netip.AddrPort, seg int, b []byte) (id uint16, ok bool) {
	want, ib := roce.WireICRC(b), b[:len(b)-roce.ICRCLen]
	from, to := src.Addr().Unmap(), e.local(e.plane)
	if e.icrc(from, to, src.Port(), uint16(seg), len(ib), ib) == want {
		return uint16(seg), true
	}
	for id := uint16(0); id < maxIdentification && from.Is4(); id++ {
		if int(id) != seg && e.icrc(from, to, src.Port(), id, len(ib), ib) == want {
			return id, true
		}
	}
	return uint16(seg), false
}

// identifyBy is identify for an arrival by a plane.
func (e *Endpoint) identifyBy(plane uint8, src netip.AddrPort, seg int, b []byte) (id uint16, ok bool) {
	e.plane = plane
	id, ok = e.identify(src, seg, b)
	e.plane = 0
	return id, ok
}

// maxIdentification is the number of identifications that are tried: more than the segments of a batch.
const maxIdentification = 64

// icrc computes the ICRC of ib (BTH to padding, or the first part of it) within the IP and UDP headers that the
// kernel adds. length is the total.
func (e *Endpoint) icrc(src, dst netip.Addr, port, id uint16, length int, ib []byte) uint32 {
	n := roce.UDPLen + length + roce.ICRCLen
	binary.BigEndian.PutUint16(e.udp[0:], port)
	binary.BigEndian.PutUint16(e.udp[2:], roce.Port)
	binary.BigEndian.PutUint16(e.udp[4:], uint16(n))
	ip := e.ip[:]
	if dst.Is4() {
		ip = ip[:roce.IPv4Len]
		ip[0], ip[9] = 0x45, 17
		binary.BigEndian.PutUint16(ip[2:], uint16(roce.IPv4Len+n))
		binary.BigEndian.PutUint16(ip[4:], id)
		ip[6], ip[7] = 0x40, 0 // don't fragment
		s, d := src.As4(), dst.As4()
		copy(ip[12:], s[:])
		copy(ip[16:], d[:])
	} else {
		ip[0], ip[6] = 0x60, 17
		binary.BigEndian.PutUint16(ip[4:], uint16(n))
		s, d := src.As16(), dst.As16()
		copy(ip[8:], s[:])
		copy(ip[24:], d[:])
	}
	return e.sum.ICRC(ip, e.udp[:], ib)
}

// Reseal computes the ICRC of a datagram for an IPv4 identification.
func (e *Endpoint) Reseal(d *Datagram, id uint16) {
	pad := d.Tail[:len(d.Tail)-roce.ICRCLen]
	n := len(d.Head) + len(d.Payload) + len(pad)
	sum := e.icrc(e.local(d.Plane), d.Conn.remote(d.Plane), d.Port, id, n, d.Head)
	sum = roce.MoreICRC(roce.MoreICRC(sum, d.Payload), pad)
	roce.AppendICRC(pad, sum)
}
