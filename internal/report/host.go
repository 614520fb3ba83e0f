package report

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"railyard/internal/swconf"
)

// Host prints the settings of a server's NICs and of NCCL from its configuration, NIC by NIC, with equal ones
// together.
func Host(w io.Writer, h *swconf.Host) {
	Wrap(w, "", fmt.Sprintf("%s (host, %s)", h.Name(), h.File))
	for _, v := range h.Views() {
		fmt.Fprintln(w)
		Wrap(w, "", v.Title)
		for _, l := range v.Lines {
			Wrap(w, "  ", l)
		}
		if len(v.Rows) == 0 {
			continue
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "  priority\tDSCP\tclass\tPFC\tECN\tRoCE")
		for _, r := range v.Rows {
			fmt.Fprintf(t, "  %d\t%s\t%s\t%s\t%s\t%s\n", r.Priority, clip(r.DSCP, 24), r.Class, r.PFC,
				r.ECN, cmp.Or(r.For, "-"))
		}
		t.Flush()
	}
	if len(h.Env) > 0 {
		fmt.Fprintln(w)
		for _, v := range h.Variables() {
			fmt.Fprintf(w, "  %s=%s%s\n", v.Name, v.Value, meaning(v))
		}
	}
	for _, n := range h.Notes {
		Labelled(w, "note: ", n)
	}
	for _, u := range h.Unknown {
		Labelled(w, "not understood: ", fmt.Sprintf("%s:%d: %s: %s", u.At.File, u.At.Line, u.Text, u.Why))
	}
	for _, f := range h.Faults {
		Labelled(w, "error: ", fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message))
	}
}

// meaning returns a traffic class with its DSCP.
func meaning(v swconf.HostVar) string {
	var tc int
	if _, err := fmt.Sscanf(v.Value, "%d", &tc); v.Name != "NCCL_IB_TC" || err != nil {
		return ""
	}
	return fmt.Sprintf("  (DSCP %d)", tc>>2)
}
