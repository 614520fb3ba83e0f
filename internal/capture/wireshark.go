package capture

import (
	_ "embed"
	"fmt"
	"strings"

	"railyard/roce"
)

// dissector is a Lua program that lacks its tables of headers, fields and operations.
//
//go:embed mrc.lua
var dissector string

// WiresharkPlugin is a dissector of MRC for Wireshark. Its tables are generated from the codec's tests, so they
// cannot differ.
func WiresharkPlugin() string {
	var b strings.Builder
	for _, h := range roce.MRCHeaders() {
		fmt.Fprintf(&b, "headers[%q] = { title = %q, len = %d }\n", h.Name, h.Title, h.Len)
	}
	b.WriteString("fields = {\n")
	for _, f := range roce.MRCFields() {
		fmt.Fprintf(&b, "  { header = %q, name = %q, at = %d, bits = %d, signed = %t, hex = %t,\n"+
			"    doc = %q", f.Header, f.Name, f.At, f.Bits, f.Signed, f.Hex, f.Doc)
		if f.Values != nil {
			b.WriteString(", values = {")
			for i, v := range f.Values {
				if v != "" {
					fmt.Fprintf(&b, " [%d] = %q,", i, v)
				}
			}
			b.WriteString(" }")
		}
		b.WriteString(" },\n")
	}
	b.WriteString("}\n")
	for _, o := range roce.MRCOps() {
		fmt.Fprintf(&b, "operations[0x%02x] = { name = %q, headers = { ", uint8(o.Op), o.Name)
		for _, h := range o.Headers {
			fmt.Fprintf(&b, "%q, ", h)
		}
		b.WriteString("} }\n")
	}
	return strings.Replace(dissector, "--[[FORMAT]]\n", b.String(), 1)
}
