package roce

import (
	"fmt"
	"strings"
)

// Text returns an MRC packet as a line for a reader of captures.
func (m *MRC) Text(h *Header) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v QP %#06x PSN %d", h.Opcode, h.DestQP, h.PSN)
	if m.Again {
		b.WriteString(" again")
	}
	switch h.Opcode {
	case MRCAck:
		fmt.Fprintf(&b, " %v MSN %d", h.Syndrome, h.MSN)
	case MRCSack:
		b.WriteString(" " + m.SETH.String())
	case MRCNack:
		k := &m.NETH
		fmt.Fprintf(&b, " %v EV %#x stamp %d", k.Reason, uint32(k.EV), k.Stamp)
	case MRCProbe:
		fmt.Fprintf(&b, " id %d stamp %d", m.PETH.ID, m.PETH.TSETH.Stamp)
	case MRCEndpointRequest:
		fmt.Fprintf(&b, " %v", m.ERTH.Op)
		if m.ERTH.Op == PortStatusUpdate {
			fmt.Fprintf(&b, " planes %#x", m.ERTH.Ports)
		}
		fmt.Fprintf(&b, " stamp %d", m.ERTH.TSETH.Stamp)
	case MRCEndpointResponse:
		fmt.Fprintf(&b, " %v stamp %d", m.EETH.Op, m.EETH.Stamp)
	default:
		m.write(&b, h)
	}
	if h.AckReq {
		b.WriteString(" AckReq")
	}
	return b.String()
}

func (m *MRC) write(b *strings.Builder, h *Header) {
	fmt.Fprintf(b, " message %d", m.METH.MSN)
	if h.Opcode.HasMRCImm() {
		fmt.Fprintf(b, " with immediate %d", m.METH.RQMSN)
	}
	if m.Stamped {
		fmt.Fprintf(b, " stamp %d", m.TSETH.Stamp)
	}
	fmt.Fprintf(b, " va %#x rkey %#x len %d", h.VA, h.RKey, h.Len)
	if h.Opcode.HasMRCImm() {
		fmt.Fprintf(b, " imm %#x", h.Imm)
	}
}

// String shows a SACK.
func (s *SETH) String() string {
	text := fmt.Sprintf("up to %d", s.Cumulative)
	if s.Probed {
		text += fmt.Sprintf(", answers probe %d", uint16(s.AckOffset))
	} else {
		text += fmt.Sprintf(", for %d", s.AckPSN())
	}
	if s.Bitmap != 0 {
		text += fmt.Sprintf(", %#x from %d", s.Bitmap, s.Base())
	}
	text += fmt.Sprintf(", EV %#x %v, stamp %d", uint32(s.EV), s.Verdict, s.CC.Stamp)
	if s.CCType != 0 {
		return text + fmt.Sprintf(", congestion state of type %d", s.CCType)
	}
	text += fmt.Sprintf(", %d out of order, %d B", s.CC.OutOfOrder, s.CC.Received*MRCReceivedUnit)
	if s.CC.Penalty != 0 {
		text += fmt.Sprintf(", penalty %d", s.CC.Penalty)
	}
	return text
}
