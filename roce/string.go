package roce

import (
	"fmt"
	"strings"
)

// String is one line for a reader of a capture.
func (f *Frame) String() string {
	switch f.Kind {
	case KindPause:
		return fmt.Sprintf("%v > %v %v", f.Src, f.Dst, &f.Pause)
	case KindLLDP:
		return fmt.Sprintf("%v > %v LLDP %d bytes", f.Src, f.Dst, len(f.LLDP))
	case KindRoCEv1, KindRoCEv2:
	default:
		return fmt.Sprintf("%v > %v type %#04x", f.Src, f.Dst, f.Type)
	}
	var b strings.Builder
	for _, t := range f.Tags[:f.NumTags] {
		fmt.Fprintf(&b, "vlan %d prio %d ", t.TCI&0xfff, t.TCI>>13)
	}
	if f.Tagged {
		fmt.Fprintf(&b, "%v ", &f.CSIG)
	}
	if f.Tunnel {
		block, path := AppendSegments(nil, f.Outer.Dst)
		fmt.Fprintf(&b, "%v > %x by %x ", f.Outer.Src, block, path)
	}
	if f.Kind == KindRoCEv2 {
		fmt.Fprintf(&b, "%v.%d > %v ", f.IP.Src, f.UDP.SrcPort, f.IP.Dst)
	} else {
		fmt.Fprintf(&b, "%v > %v RoCEv1 ", f.IP.Src, f.IP.Dst)
	}
	fmt.Fprintf(&b, "dscp %d %s ", f.IP.DSCP(), [4]string{"Not-ECT", "ECT(1)", "ECT(0)", "CE"}[f.IP.ECN()])
	if f.BTH.Opcode.IsMRC() {
		b.WriteString(f.MRC.Text(&f.BTH))
	} else {
		b.WriteString(f.BTH.String())
	}
	if f.BTH.Opcode != CNP && len(f.Body) > 0 {
		fmt.Fprintf(&b, " payload %d", len(f.Payload()))
	}
	return b.String()
}
