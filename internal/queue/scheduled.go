package queue

import (
	"railyard/internal/field"
	"railyard/unit"
)

// Scheduled holds the settings that the switches of a scheduled fabric share (docs/references.md, scheduled).
// Switches with servers are interface nodes. An arriving packet is queued per egress port and class (VOQ) until the
// egress port has granted it credit. It is then split into cells that use all fabric links in turn. The others are
// fabric nodes, which only pass cells on. Cell and credit sizes of real fabrics are not public: common estimates
// are 256 B and 1 to 4 KiB.
type Scheduled struct {
	Cell    unit.Bytes `yaml:"cell" range:"32B,16KiB" json:"cell_bytes" doc:"a cell on a fabric link, its header included (default 256B)"`
	Header  unit.Bytes `yaml:"header" range:"0B,4KiB" json:"header_bytes" doc:"of a cell (default 16B)"`
	Message unit.Bytes `yaml:"message" range:"1B,4KiB" json:"message_bytes" doc:"a request or a grant on a fabric link (default 16B)"`
	Credit  unit.Bytes `yaml:"credit" range:"64B,16MiB" json:"credit_bytes" doc:"most bytes that one grant allows a VOQ to send (default 4KiB)"`
	Speedup float64    `yaml:"speedup" range:"1,4" json:"speedup" doc:"rate of an egress port's credits over its own (default 1.02)"`
	Egress  unit.Bytes `yaml:"egress,omitzero" range:"0|64B,2000MB" json:"egress_bytes" doc:"egress buffer per port and class, for what is granted and not sent yet; 0B: computed, what a port sends while a grant and its packet travel"`
	Timeout unit.Time  `yaml:"timeout" range:"1us,1s" json:"timeout_ps" doc:"time without response after which a request is repeated, and an incomplete packet is dropped (default 100us)"`
}

// DefaultScheduled returns the default settings; the network sets the egress buffers.
func DefaultScheduled() Scheduled {
	return Scheduled{Cell: 256, Header: 16, Message: 16, Credit: 4 * unit.KiB, Speedup: 1.02,
		Timeout: 100 * unit.Microsecond}
}

// Cells returns the number of cells of a frame.
func (s *Scheduled) Cells(frame unit.Bytes) int64 {
	room := s.Cell - s.Header
	return int64((frame + room - 1) / room)
}

// Wire returns the bytes of a frame on fabric links: whole cells.
func (s *Scheduled) Wire(frame unit.Bytes) unit.Bytes { return unit.Bytes(s.Cells(frame)) * s.Cell }

// Load returns the load of a frame with full credits on the links of an interface node: its cells, and one request
// or grant per credit in each direction.
func (s *Scheduled) Load(frame unit.Bytes) float64 {
	return float64(s.Wire(frame)) + 2*float64(s.Message)*max(1, float64(frame)/float64(s.Credit))
}

// Efficiency returns the payload share of fabric links for frames of a size. The line rate times this share is the
// capacity of fabric links without speed-up.
func (s *Scheduled) Efficiency(frame unit.Bytes) float64 { return float64(frame) / s.Load(frame) }

// Validate refuses values with which no scheduled fabric could work; mtu is the largest packet.
func (s *Scheduled) Validate(mtu unit.Bytes) error {
	const least = 16 * unit.Byte
	switch {
	case s.Header < 0 || s.Cell < s.Header+least:
		return field.New("cell", "%v leaves less than %v next to the header of %v", s.Cell, least, s.Header)
	case s.Cell > mtu:
		return field.New("cell", "%v is larger than the largest packet, %v: cells cut packets up",
			s.Cell, mtu)
	case s.Message <= 0 || s.Message > s.Cell:
		return field.New("message", "%v is out of range: above 0B, at most the cell of %v", s.Message, s.Cell)
	case s.Credit <= 0:
		return field.New("credit", "%v lets nothing go: it must be above 0B", s.Credit)
	case s.Speedup < 1 || s.Speedup > 4:
		return field.New("speedup", "%v is out of range 1–4: below 1 no port would be busy",
			s.Speedup)
	case s.Egress < s.Credit:
		return field.New("egress", "%v has no room for a credit of %v", s.Egress, s.Credit)
	case s.Timeout <= 0:
		return field.New("timeout", "must be above 0s")
	}
	return nil
}
