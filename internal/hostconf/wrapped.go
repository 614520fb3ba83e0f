package hostconf

import (
	"regexp"
	"strings"
)

// Texts with commands that do not look like scripts: units of systemd, rules of udev.
var (
	unitLike = regexp.MustCompile(`(?m)^\[(?:Unit|Service)\]\s*$`)
	exec     = regexp.MustCompile(`^\s*Exec(?:Start|StartPre|StartPost|Reload)=[-@:+!|]*(.*)$`)
	assigns  = regexp.MustCompile(`^\s*Environment=(.*)$`)

	udevLike = regexp.MustCompile(`(?m)^\s*(?:ACTION|SUBSYSTEMS?|KERNEL|DRIVERS|ENV\{\w+\}|` +
		`ATTRS?\{\w+\})(?:==|!=)"`)
	udevName = regexp.MustCompile(`\b(?:NAME|KERNEL|ENV\{INTERFACE\})==?"([\w.-]+)"`)
	udevRun  = regexp.MustCompile(`\bRUN(?:\{program\})?\+?="((?:[^"\\]|\\.)*)"`)
	udevMTU  = regexp.MustCompile(`\bATTR\{mtu\}="(\d+)"`)
)

// joined returns the lines of a text, each with the number of its first line. Lines that end with a backslash are
// merged with the next ones.
func joined(text string, take func(n int, line string)) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		n, s := i+1, lines[i]
		for strings.HasSuffix(s, `\`) && i+1 < len(lines) {
			i++
			s = strings.TrimSuffix(s, `\`) + " " + strings.TrimSpace(lines[i])
		}
		take(n, s)
	}
}

// unit parses the commands of a unit of systemd, in order; the value of %i is unknown.
func (r *reader) unit(text string) {
	names := strings.NewReplacer("%%", "%", "%i", "$INSTANCE", "%I", "$INSTANCE", "%n", "$UNIT")
	joined(text, func(n int, s string) {
		if m := exec.FindStringSubmatch(s); m != nil {
			r.runs(names.Replace(m[1]), n)
		} else if m := assigns.FindStringSubmatch(s); m != nil {
			r.typed("export "+strings.ReplaceAll(m[1], `"`, ""), n)
		}
	})
}

// runs takes a command that another program starts.
func (r *reader) runs(text string, n int) {
	if !r.typed(text, n) && strings.TrimSpace(text) != "" {
		r.unknown(r.at(n, 1), text, "is not a command that a shell reads")
	}
}

// udev parses the commands of rules for an added device; any device if a rule does not name it.
func (r *reader) udev(text string) {
	joined(text, func(n int, s string) {
		if strings.HasPrefix(strings.TrimSpace(s), "#") {
			return
		}
		dev := "$INTERFACE"
		if m := udevName.FindStringSubmatch(s); m != nil {
			dev = m[1]
		}
		names := strings.NewReplacer("%%", "%", "%k", dev, "$kernel", dev, "$name", dev, "%E{INTERFACE}", dev,
			"$env{INTERFACE}", dev, `\"`, `"`)
		for _, m := range udevRun.FindAllStringSubmatch(s, -1) {
			r.runs(names.Replace(m[1]), n)
		}
		if m := udevMTU.FindStringSubmatch(s); m != nil {
			r.mtu(r.net(strings.TrimPrefix(dev, "$INTERFACE"), r.at(n, 1)), m[1], r.at(n, 1))
			r.mark(r.at(n, 1), read)
		}
	})
}
