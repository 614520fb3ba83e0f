package capture

import "railyard/roce"

// lacksPayload reports whether a switch trimmed an RC WRITE or SEND with an invalid ICRC. Its payload is shorter
// than its headers announce (RETH's DMA length), or below the path MTU although other packets follow (IBTA 9.3.3,
// 9.4.1).
func lacksPayload(f *roce.Frame) bool {
	n := len(f.Payload())
	if n > 0 && n%leastMTU == 0 {
		return false
	}
	switch f.BTH.Opcode {
	case roce.WriteOnly, roce.WriteOnlyImm:
		return n < int(f.BTH.Len)
	case roce.WriteFirst, roce.WriteMiddle, roce.SendFirst, roce.SendMiddle:
		return true
	}
	return false
}

// trimmed processes a packet of RC whose payload a switch trimmed.
func (st *stream) trimmed(us float64, p *Packet, f *roce.Frame) {
	st.flow.Packets++
	st.flow.Trimmed++
	st.say(us, p.Number, "trimmed by a switch: PSN %d", f.BTH.PSN)
}
