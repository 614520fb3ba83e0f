package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"railyard/internal/swconf"
	"railyard/unit"
)

// Findings prints what lint found, most readable first: place, rule, what, why
// and the fix.
func Findings(w io.Writer, list []swconf.Finding) {
	for _, f := range list {
		at := f.File
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
		}
		Wrap(w, "", fmt.Sprintf("%s: %s: %s", at, f.Severity, f.Rule))
		Wrap(w, "   ", f.Message)
		if f.Ports != "" {
			Labelled(w, "      ports: ", f.Ports)
		}
		Labelled(w, "      why: ", f.Why)
		Labelled(w, "      fix: ", f.Fix)
	}
	if len(list) > 0 {
		fmt.Fprintln(w)
	}
}

// Tally prints how much of each text was understood, and the count of findings.
func Tally(w io.Writer, configs []*swconf.Config, hosts []*swconf.Host, title func(swconf.OS) string,
	list []swconf.Finding) {
	const most = 20
	n := 0
	count := func(file, what string, total, read, passed, unknown int) {
		if n++; n <= most {
			Wrap(w, "", fmt.Sprintf("%s: %s, %s: %d understood, %d without bearing on the fabric, %d unknown",
				file, what, unit.Plural(total, "line"), read, passed, unknown))
		}
	}
	for _, c := range configs {
		count(c.File, title(c.OS), c.Total, c.Read, c.Passed, len(c.Unknown))
	}
	for _, h := range hosts {
		count(h.File, "a server", h.Total, h.Read, h.Passed, len(h.Unknown))
	}
	if n > most {
		fmt.Fprintf(w, "and %d more files\n", n-most)
	}
	fmt.Fprintf(w, "%s, %s, %s\n", unit.Plural(swconf.Count(list, swconf.Error), "error"),
		unit.Plural(swconf.Count(list, swconf.Warning), "warning"),
		unit.Plural(swconf.Count(list, swconf.Info), "hint"))
}

// Behaviour prints what a switch does with packets: one table per group of
// ports that are alike.
func Behaviour(w io.Writer, c *swconf.Config, title string) {
	Wrap(w, "", fmt.Sprintf("%s (%s, %s)", c.Name(), title, c.File))
	if wd := c.Watchdog; wd.On.V {
		fmt.Fprintf(w, "PFC watchdog every %v, storm after %v, over after %v\n", wd.Poll.V, wd.Detect.V, wd.Restore.V)
	} else {
		fmt.Fprintln(w, "PFC watchdog off")
	}
	if d := c.DLB; d != nil {
		mac := d.MAC.V
		if mac == "" && c.OS == swconf.NXOS {
			mac = swconf.DefaultDLBMAC
		}
		if mac != "" {
			mac = ", MAC " + mac
		}
		fmt.Fprintf(w, "dynamic load balancing: %s%s\n", d.Mode.V, mac)
	}
	if c.Hash.Is() {
		Wrap(w, "", "ECMP hashes "+c.Hash.V)
	}
	if s := c.Segments(); s != "" {
		Wrap(w, "", "SRv6: "+s)
	}
	for _, v := range c.Views() {
		fmt.Fprintln(w)
		ports := swconf.Compress(v.Ports)
		if ports == "" {
			ports = "all ports (no interface is configured)"
		}
		Wrap(w, "", ports)
		watchdog := "off"
		if v.Watchdog {
			watchdog = "on"
		}
		trust := ""
		if v.Trust != "" {
			trust = ", trust " + v.Trust
		}
		Wrap(w, "  ", fmt.Sprintf("classified by %s%s, queued by %s, PFC %s, watchdog %s, MTU %s",
			orNone(v.Input), trust, orNone(v.Output), v.PFC, watchdog, mtuText(v.MTU)))
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		tagged := slices.ContainsFunc(v.Rows, func(r swconf.Row) bool { return r.COS != "" })
		head := "DSCP"
		if tagged {
			head += "\tCoS"
		}
		fmt.Fprintln(t, "  "+head+"\tgroup\tqueue\tscheduling\tECN\tPFC")
		for _, r := range v.Rows {
			pfc, more, _ := strings.Cut(r.PFC, ", ")
			if len(r.PFC) <= 32 {
				pfc, more = r.PFC, ""
			}
			marks, blank := clip(r.DSCP, 18), "\t"
			if tagged {
				marks, blank = marks+"\t"+orNo(r.COS), "\t\t"
			}
			fmt.Fprintf(t, "  %s\t%d\t%s\t%s\t%s\t%s\n", marks, r.Group, clip(r.Queue, 18), r.Schedule, r.ECN, pfc)
			if more != "" {
				fmt.Fprintf(t, "  %s\t\t\t\t%s\n", blank, more)
			}
		}
		t.Flush()
	}
}

func orNo(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func orNone(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func mtuText(n int64) string {
	if n == 0 {
		return "not said"
	}
	return fmt.Sprint(n)
}
