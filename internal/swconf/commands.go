package swconf

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"railyard/unit"
)

// command is a remedy as complete commands, by language. {port}, {as}, {peer}, {group} and {value} are
// placeholders, and a newline begins a command below another. SONiC's are commands of its shell, and of FRR's for
// routing.
type command map[OS]string

// Commands that fix a finding wherever it is (the vendors' command references).
var (
	setMTU = command{NXOS: "interface {port}\n  mtu {value}", EOS: "interface {port}\n   mtu {value}",
		Dell: "interface {port}\n mtu {value}", SONiC: "sudo config interface mtu {port} {value}",
		NVUE: "nv set interface {port} link mtu {value}", Junos: "set interfaces {port} mtu {value}"}
	setUp = command{NXOS: "interface {port}\n  no shutdown", EOS: "interface {port}\n   no shutdown",
		Dell: "interface {port}\n no shutdown", FRR: "interface {port}\n no shutdown",
		SONiC: "sudo config interface startup {port}", NVUE: "nv set interface {port} link state up",
		Junos: "delete interfaces {port} disable"}
	setSpeed = command{NXOS: "interface {port}\n  speed {value}", EOS: "interface {port}\n   speed {value}",
		Dell: "interface {port}\n speed {value}", SONiC: "sudo config interface speed {port} {value}",
		NVUE: "nv set interface {port} link speed {value}", Junos: "set interfaces {port} speed {value}"}
	setLinkLocal = command{NXOS: "interface {port}\n  ipv6 address use-link-local-only",
		EOS:   "interface {port}\n   ipv6 enable",
		SONiC: "sudo config interface ipv6 enable use-link-local-only {port}"}
	setLLDP = command{NXOS: "feature lldp", EOS: "lldp run", Dell: "lldp enable",
		SONiC: "sudo config feature state lldp enabled", Junos: "set protocols lldp interface all"}
	setLLDPPort = command{NXOS: "interface {port}\n  lldp transmit\n  lldp receive",
		EOS:  "interface {port}\n   lldp transmit\n   lldp receive",
		Dell: "interface {port}\n lldp transmit\n lldp receive"}
	setWatchdog = command{NXOS: "priority-flow-control watch-dog-interval on",
		EOS:   "priority-flow-control pause watchdog default timeout 0.2",
		SONiC: "sudo pfcwd start_default"}
	setWatchdogPort = command{NXOS: "interface {port}\n  priority-flow-control watch-dog-interval on",
		EOS:   "interface {port}\n   priority-flow-control pause watchdog",
		Dell:  "interface {port}\n priority-flow-control watchdog on",
		NVUE:  "nv set interface {port} qos pfc-watchdog state enable",
		SONiC: "sudo pfcwd start --action drop --restoration-time 200 {port} 200"}

	setPaths = command{NXOS: "router bgp {as}\n  address-family ipv4 unicast\n    maximum-paths 64",
		EOS:  "router bgp {as}\n   maximum-paths 64",
		FRR:  "router bgp {as}\n address-family ipv4 unicast\n  maximum-paths 64",
		NVUE: "nv set vrf default router bgp address-family ipv4-unicast multipaths ebgp 64"}
	setRelax = command{NXOS: "router bgp {as}\n  bestpath as-path multipath-relax",
		EOS:  "router bgp {as}\n   bgp bestpath as-path multipath-relax",
		FRR:  "router bgp {as}\n bgp bestpath as-path multipath-relax",
		NVUE: "nv set vrf default router bgp path-selection multipath aspath-ignore on"}
	setFamily = command{NXOS: "router bgp {as}\n  neighbor {peer}\n    address-family ipv4 unicast",
		EOS:  "router bgp {as}\n   address-family ipv4\n      neighbor {peer} activate",
		FRR:  "router bgp {as}\n address-family ipv4 unicast\n  neighbor {peer} activate",
		NVUE: "nv set vrf default router bgp neighbor {peer} address-family ipv4-unicast enable on"}
	setRemote = command{NXOS: "router bgp {as}\n  neighbor {peer}\n    remote-as {value}",
		EOS:  "router bgp {as}\n   neighbor {peer} remote-as {value}",
		FRR:  "router bgp {as}\n neighbor {peer} remote-as {value}",
		NVUE: "nv set vrf default router bgp neighbor {peer} remote-as {value}"}
	setPolicy = command{FRR: "router bgp {as}\n no bgp ebgp-requires-policy"}
	setPFC    = command{EOS: "interface {port}\n   {value}", Dell: "interface {port}\n {value}",
		NXOS: "interface {port}\n  {value}"}
)

// in returns the commands of a language, none if it has none here. values are pairs of a name and its value.
func (x command) in(os OS, values ...string) []string {
	if x[os] == "" {
		return nil
	}
	for i := 0; i < len(values); i += 2 {
		values[i] = "{" + values[i] + "}"
	}
	return strings.Split(strings.NewReplacer(values...).Replace(x[os]), "\n")
}

// routing returns commands of BGP; for SONiC those of FRR.
func (x command) routing(c *Config, values ...string) []string {
	os := c.OS
	if os == SONiC {
		os = FRR
	}
	return x.in(os, append(values, "as", fmt.Sprint(c.BGP.ASN.V))...)
}

// paste gives the last finding the commands that fix it.
func (l *linter) paste(lines []string) { l.findings[len(l.findings)-1].Commands = lines }

// pastePort gives the last finding commands on a port.
func (l *linter) pastePort(c *Config, p *Port, x command, value string) {
	l.paste(x.in(c.OS, "port", p.Name, "value", value))
}

// indented are the languages whose blocks show by indentation.
var indented = []OS{NXOS, EOS, FRR, Dell}

// line is a line of the configuration's text, or "".
func (c *Config) line(n int) string {
	if c.lines == nil {
		c.lines = strings.Split(c.Source, "\n")
	}
	if n < 1 || n > len(c.lines) {
		return ""
	}
	return strings.TrimRight(c.lines[n-1], "\r ")
}

// words is a line without its indentation.
func (c *Config) words(n int) string { return strings.TrimLeft(c.line(n), " \t") }

// indent returns the number of characters before a line's first word.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// beside returns the commands that enter lines in the section of a configuration line, beginning with the lines
// that open its blocks. There are none for a line outside any block, and where blocks do not show.
func (c *Config) beside(at Place, lines ...string) (out []string) {
	own := c.line(at.Line)
	if at.File != c.File || own == "" || !slices.Contains(indented, c.OS) {
		return nil
	}
	deep := indent(own)
	for i := at.Line - 1; i > 0 && deep > 0; i-- {
		above := c.line(i)
		if text := strings.TrimSpace(above); text != "" && text[0] != '!' && indent(above) < deep {
			out, deep = append(out, above), indent(above)
		}
	}
	if len(out) == 0 || deep > 0 {
		return nil
	}
	slices.Reverse(out)
	for _, x := range lines {
		out = append(out, own[:indent(own)]+x)
	}
	return out
}

// Parts of a line that configures random detection.
var (
	lowest   = regexp.MustCompile(`(minimum-threshold) \S+( [a-z]+\b)?`)
	highest  = regexp.MustCompile(`(maximum-threshold) \S+( [a-z]+\b)?`)
	chance   = regexp.MustCompile(`((?:drop|max-mark)-probability) \S+`)
	profile  = regexp.MustCompile(`^"([\w.-]+)":`) // SONiC's profile, by its name
	averages = regexp.MustCompile(`(\bweight) \S+`)
)

// marks returns the commands that set other thresholds for a queue with ECN.
func (c *Config) marks(w Said[WRED], want mark) []string {
	own := c.words(w.At.Line)
	switch {
	case want.highText != "":
	case c.OS == SONiC:
		if row := profile.FindStringSubmatch(own); row != nil {
			return []string{fmt.Sprintf("sudo ecnconfig -p %s -gmin %d -gmax %d", row[1], want.low, want.high)}
		}
	case c.OS == NVUE:
		var out []string
		bytes := []unit.Bytes{want.low, want.high}
		for i, at := range []Place{w.V.MinAt, w.V.MaxAt} {
			if own = c.words(at.Line); strings.HasPrefix(own, "nv set ") {
				out = append(out, fmt.Sprint(own[:strings.LastIndex(own, " ")+1], int64(bytes[i])))
			}
		}
		return out
	case lowest.MatchString(own) && highest.MatchString(own):
		own = lowest.ReplaceAllString(own, fmt.Sprintf("$1 %d bytes", want.low))
		own = highest.ReplaceAllString(own, fmt.Sprintf("$1 %d bytes", want.high))
		if !want.open && want.percent >= 1 {
			own = chance.ReplaceAllString(own, fmt.Sprintf("$1 %.0f", want.percent))
		}
		return c.beside(w.At, own)
	}
	return nil
}

// speedValue is a rate in the form of a language's command for a port's speed.
func speedValue(os OS, r unit.Rate) string {
	switch os {
	case EOS, Junos:
		return fmt.Sprintf("%dg", int64(r/unit.Gbps))
	case NVUE:
		return fmt.Sprintf("%dG", int64(r/unit.Gbps))
	}
	return fmt.Sprint(int64(r / unit.Mbps))
}

// commandMTU returns the commands by which the target of a line accepts packets of a size: a port, several ports,
// or a class.
func (c *Config) commandMTU(at Place, p *Port, packet unit.Bytes) []string {
	mtu := fmt.Sprintf("mtu %d", mtuFor(c, packet))
	if own := c.line(at.Line); at == p.At && slices.Contains(indented, c.OS) && strings.HasPrefix(own, "interface") {
		return []string{own, "  " + mtu}
	} else if lines := c.beside(at, mtu); len(lines) > 0 {
		return lines
	}
	return setMTU.in(c.OS, "port", p.Name, "value", fmt.Sprint(mtuFor(c, packet)))
}

// codePoint is an 802.1p priority as Junos writes it.
var codePoint = regexp.MustCompile(`\bcode-point ([01]{3})\b`)

// pausePriority is the priority of a line that pauses one.
var pausePriority = regexp.MustCompile(`\b(pfc-cos|priority|switch-priority) (\d)\b`)

// pauseInstead returns the commands by which the ports of a treatment pause a queue's priority instead of the wrong
// one, from the line that pauses the wrong one.
func (c *Config) pauseInstead(q *QoS, queue int, wrong Said[int]) (out []string) {
	own, right := c.words(wrong.At.Line), q.Queues[queue].Net
	one := strings.TrimSpace(pausePriority.ReplaceAllString(own, fmt.Sprintf("${1} %d", queue)))
	switch {
	case c.OS == SONiC:
		for _, p := range c.Ports {
			if p.QoS == q {
				out = append(out, fmt.Sprintf("sudo config interface pfc priority %s %d off", p.Name, wrong.V),
					fmt.Sprintf("sudo config interface pfc priority %s %d on", p.Name, queue))
			}
		}
	case c.OS == NXOS && strings.HasPrefix(own, "pause ") && right.Line > 0:
		off, class := c.beside(wrong.At, "no "+own), c.beside(right, c.words(right.Line))
		if len(off) > 0 && len(class) > 0 {
			out = slices.Concat(off, class, []string{c.line(wrong.At.Line)[:indent(c.line(wrong.At.Line))] + one})
		}
	case (c.OS == EOS || c.OS == Dell) && one != own:
		out = c.beside(wrong.At, "no "+own, one)
	case c.OS == NVUE && strings.HasPrefix(own, "nv set ") && one != own:
		out = []string{"nv unset " + strings.TrimPrefix(own, "nv set "), one}
	case c.OS == Junos && strings.HasPrefix(own, "set ") && codePoint.MatchString(own):
		out = []string{"delete " + strings.TrimPrefix(own, "set "),
			codePoint.ReplaceAllString(own, fmt.Sprintf("code-point %03b", queue))}
	}
	return out
}

// pastePausing gives the last finding the commands by which a port pauses priorities.
func (l *linter) pastePausing(c *Config, p *Port, priorities uint8, mode PFCMode) {
	lines, _ := pausing(c, p, priorities, mode)
	if c.OS != SONiC && len(lines) > 0 {
		lines = setPFC.in(c.OS, "port", p.Name, "value", strings.Join(lines, "\n  "))
	}
	l.paste(lines)
}
