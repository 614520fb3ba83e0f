package rcudp

import (
	"net/netip"
	"slices"

	"railyard/entropy"
)

// Source opens a UDP source port for sending. A port in use by another process is replaced by a free one. Release
// gives it back.
func (d *Device) Source(port uint16) (uint16, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.source(0, port)
}

// source is Source on a plane, with the device locked.
func (d *Device) source(plane uint8, port uint16) (uint16, error) {
	if s := d.out[outgoing{plane, port}]; s != nil {
		s.users++
		return port, nil
	}
	addr := d.ep.local(plane)
	s, err := listen(netip.AddrPortFrom(addr, port), d.opt, false)
	if err != nil {
		if s, err = listen(netip.AddrPortFrom(addr, 0), d.opt, false); err != nil {
			return 0, err
		}
	}
	s.users = 1
	d.out[outgoing{plane, s.port}] = s
	return s.port, nil
}

// outgoing is the key of a socket to send by.
type outgoing struct {
	plane uint8
	port  uint16
}

// Release closes unused source ports.
func (d *Device) Release(ports []uint16) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range ports {
		s := d.out[outgoing{0, p}]
		if s == nil {
			continue
		}
		if s.users--; s.users == 0 {
			delete(d.out, outgoing{0, p})
			s.conn.Close()
		}
	}
}

// Entropy opens source ports for the entropy values of MRC, at least one on each plane, planes in turn. The first ones
// opened are shared by all until the device is closed.
func (d *Device) Entropy(n int) ([]uint16, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	planes := len(d.recv)
	for len(d.entropy) < max(1, n/planes)*planes {
		i := len(d.entropy)
		port, err := d.source(uint8(i%planes), entropy.Port(uint32(d.start.UnixNano()), i))
		if err != nil {
			return nil, err
		}
		if slices.Contains(d.entropy, port) { // a value belongs to one plane only
			if port, err = d.source(uint8(i%planes), 0); err != nil {
				return nil, err
			}
		}
		d.entropy = append(d.entropy, port)
	}
	return d.entropy, nil
}
