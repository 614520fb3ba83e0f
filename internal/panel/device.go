package panel

import "slices"

// Device holds the ports in a switch's own files: SONiC's port_config.ini, or
// platform.json. Its names count where a system numbers by what stands there.
type Device struct {
	HwSKU    string
	Platform string // x86_64-...-r0, "" where nobody said
	From     string // file, or table
	Ports    int    // jacks are numbered to here
	Sockets  map[Jack]Socket
}

// Socket is a jack as its device has it.
type Socket struct {
	Name, Alias string
	Lanes       string      // as the device numbers them
	Index       int         // on the front; below 0: not said
	Sub         int         // which part of a port that is broken out, from 1; 0: all of it
	FEC         string      // "" where the device leaves it open
	Speeds      []int64     // in Mbit/s
	More        [][2]string // what the device has besides

	Cage, Mode string // the jack on the front, and what it is broken out into; no mode: that is fixed
}

// Can reports whether a jack runs at a speed in Mbit/s.
func (s *Socket) Can(speed int64) bool { return slices.Contains(s.Speeds, speed) }

// Socket is a jack's, where the device is known.
func (p *Panel) Socket(j Jack) (Socket, bool) {
	if p == nil || p.Device == nil {
		return Socket{}, false
	}
	s, ok := p.Device.Sockets[j]
	return s, ok
}
