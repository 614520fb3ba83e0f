package dialect_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

// Texts of a few kilobytes or megabytes that occupied the parsers for minutes: ranges of interfaces, sections,
// thousands of unknown lines. They are rejected with the excess line, or parsed at once, including lint and show.
func TestTextsThatTakeTooLong(t *testing.T) {
	nx, ar := "feature lldp\nhostname a\n", "! device: a (DCS)\nhostname a\n"
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	many := "names more interfaces than a switch has (4096)"
	sections := "opens more sections than a switch's configuration has"
	for name, c := range map[string]struct{ text, want string }{
		"ranges": {nx + strings.Repeat("interface Ethernet1/1-4096\n  mtu 9216\n", 5000), many},
		"ranges in a line": {nx + "interface " + lines(400, "Ethernet%d/1-4096,") + "Ethernet1/1\n",
			"x:3:11: " + many},
		"ranges of EOS":     {ar + strings.Repeat("interface Ethernet1-4096\n   mtu 9214\n", 3000), many},
		"interfaces":        {nx + lines(40_000, "interface Ethernet1/%d\n  mtu 9216\n"), many},
		"interfaces of FRR": {"frr defaults datacenter\n" + lines(40_000, "interface swp%d\n"), sections},
		"SONiC's": {`{"PORT": {` +
			lines(60_000, `"Ethernet%d": {"lanes": "1", "speed": "400000"},`) +
			`"Ethernet99999": {"lanes": "1"}}}`, "names more interfaces than a switch has (4096)"},
		"policies": {nx + lines(40_000, "policy-map type qos p%d\n"), "x:10003:1: " + sections},
		"neighbours": {nx + "router bgp 65000\n" +
			lines(40_000, "  neighbor 10.0.%[1]d.1 remote-as 1\n"), sections},
		"a staircase":   {nx + stairs(1000, "policy-map type qos x"), ""},
		"unknown lines": {nx + strings.Repeat("nonsense here\n", 200_000), ""},
		"known lines": {nx + strings.Repeat("priority-flow-control watch-dog-interval on\n", 50_000),
			""},
		"4,000 interfaces": {nx +
			lines(4000, "interface Ethernet1/%d\n  mtu 9216\n  priority-flow-control mode on\n"), ""},
	} {
		began := spent()
		cfg, err := dialect.Parse("x", []byte(c.text), "")
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %.300v, want %q", name, err, c.want)
			}
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		} else {
			swconf.Lint(swconf.Input{Configs: []*swconf.Config{cfg}, PathMTU: 4096, DataDSCP: 24, CNPDSCP: 48,
				Base: queue.Default()})
			cfg.Views()
		}
		if took := spent() - began; took > time.Minute { // if lines are compared with all others
			t.Errorf("%s: took %v", name, took)
		}
	}
}

// stairs are lines, each further in than the one before.
func stairs(n int, line string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + line + "\n")
	}
	return b.String()
}

// spent returns the processor time of this process. Unlike elapsed time it does not grow with other load on the
// host.
func spent() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
