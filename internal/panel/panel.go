package panel

import (
	"fmt"
	"slices"
	"strconv"
)

// Systems whose names of ports are known, as configurations call them; frr is Linux with Cumulus' names.
const (
	NXOS  = "nxos"
	EOS   = "eos"
	SONiC = "sonic"
	FRR   = "frr"
	Junos = "junos"
	NVUE  = "nvue"
	Dell  = "dell"
)

// Systems lists them.
func Systems() []string { return []string{NXOS, EOS, SONiC, FRR, Junos, NVUE, Dell} }

// Jack is a socket of a cable: a port from 1, or one of the parts of a split port.
type Jack struct {
	Port        int32
	Part, Parts uint8 // from 1; 0: the whole port
}

// String returns the jack as rules list it: 5, or 5/2 where port 5 is broken out.
func (j Jack) String() string {
	if j.Part > 0 {
		return fmt.Sprintf("%d/%d", j.Port, j.Part)
	}
	return strconv.Itoa(int(j.Port))
}

// Run is ports of one kind, side by side.
type Run struct{ Ports, Lanes int }

// Panel is a switch's ports. A nil one belongs to an unknown switch.
type Panel struct {
	System string // operating system, one of Systems; "" if unknown
	Model  string // the key of the model, "" if unknown
	Runs   []Run  // lane runs in order; none, or no lanes: unknown
	Each   int    // lanes of a port that is in no run; 0: unknown

	Device *Device // description in SONiC's files; nil: none
}

// usual is the default number of lanes of a port: QSFP-DD and OSFP have eight.
const usual = 8

// at returns the first lane of a port, from 0, and the number of its lanes; told is false for the default ones.
func (p *Panel) at(port int) (first, lanes int, told bool) {
	if p != nil {
		for _, r := range p.Runs {
			if r.Lanes == 0 {
				break
			}
			if port <= r.Ports {
				return first + (port-1)*r.Lanes, r.Lanes, true
			}
			port, first = port-r.Ports, first+r.Ports*r.Lanes
		}
		if p.Each > 0 {
			return first + (port-1)*p.Each, p.Each, true
		}
	}
	return first + (port-1)*usual, usual, false
}

// Ports returns the number of ports, 0 if it is unknown.
func (p *Panel) Ports() (n int) {
	if p == nil {
		return 0
	}
	if p.Device != nil {
		return p.Device.Ports
	}
	for _, r := range p.Runs {
		n += r.Ports
	}
	return n
}

// Told reports whether the number of lanes of its ports is known.
func (p *Panel) Told() bool {
	_, _, told := p.at(1)
	return told
}

// Lanes returns the lanes of a jack: the first, from 0, and their number.
func (p *Panel) Lanes(j Jack) (first, lanes int) {
	first, lanes, _ = p.at(int(j.Port))
	if j.Parts > 1 {
		own := max(lanes/int(j.Parts), 1)
		return first + int(j.Part-1)*own, own
	}
	return first, lanes
}

// Name returns a system's name of a jack:
//
//	nxos   Ethernet1/3   Ethernet1/3/2   interface breakout module 1 port 3
//	eos    Ethernet3/1   Ethernet3/5     by the first of its lanes; Ethernet3 where it has one
//	sonic  Ethernet16    Ethernet20      as its device's files say, else by its first lane among all
//	frr    swp3          swp3s1          and nvue
//	dell   Eth1/3        Eth1/3/2        interface-naming standard
//	junos  et-0/0/2      et-0/0/2:1
func (p *Panel) Name(system string, j Jack) string {
	port, part := int(j.Port), int(j.Part)
	split := j.Parts > 1
	switch system {
	case NXOS:
		if split {
			return fmt.Sprintf("Ethernet1/%d/%d", port, part)
		}
		return fmt.Sprintf("Ethernet1/%d", port)
	case EOS:
		first, lanes, told := p.at(port)
		if !split && (!told || lanes == 1) {
			return fmt.Sprintf("Ethernet%d", port)
		}
		own, _ := p.Lanes(j)
		return fmt.Sprintf("Ethernet%d/%d", port, own-first+1)
	case SONiC:
		if s, ok := p.Socket(j); ok {
			return s.Name
		}
		first, _ := p.Lanes(j)
		return "Ethernet" + strconv.Itoa(first)
	case FRR, NVUE:
		if split {
			return fmt.Sprintf("swp%ds%d", port, part-1)
		}
		return fmt.Sprintf("swp%d", port)
	case Dell:
		if split {
			return fmt.Sprintf("Eth1/%d/%d", port, part)
		}
		return fmt.Sprintf("Eth1/%d", port)
	case Junos:
		if split {
			return fmt.Sprintf("et-0/0/%d:%d", port-1, part-1)
		}
		return fmt.Sprintf("et-0/0/%d", port-1)
	}
	if split {
		return fmt.Sprintf("Eth%d/%d", port, part)
	}
	return fmt.Sprintf("Eth%d", port)
}

// Own returns the name of a jack in the switch's own system.
func (p *Panel) Own(j Jack) string { return p.Name(p.System, j) }

// Device holds the ports in a switch's own files: SONiC's port_config.ini, or platform.json. Its names apply if a
// system numbers ports by device.
type Device struct {
	HwSKU    string
	Platform string // x86_64-...-r0, "" if unknown
	Chip     string // "Tomahawk 5", "" if unknown
	From     string // file, or table
	Ports    int    // jacks are numbered to here
	Sockets  map[Jack]Socket
}

// Socket is a jack as its device has it.
type Socket struct {
	Name, Alias string
	Lanes       string      // lanes in the device's numbering
	Index       int         // position on the front panel; below 0: unknown
	Sub         int         // part of a split port, from 1; 0: all of it
	FEC         string      // "" if the device sets none
	Speeds      []int64     // in Mbit/s
	More        [][2]string // further fields of the device

	Cage, Mode string // the jack on the front panel, and its breakout; no mode: it is fixed
}

// Can reports whether a jack runs at a speed in Mbit/s.
func (s *Socket) Can(speed int64) bool { return slices.Contains(s.Speeds, speed) }

// Socket returns a jack's, if the device is known.
func (p *Panel) Socket(j Jack) (Socket, bool) {
	if p == nil || p.Device == nil {
		return Socket{}, false
	}
	s, ok := p.Device.Sockets[j]
	return s, ok
}
