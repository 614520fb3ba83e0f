package scenariofile

import (
	"io"
	"regexp"
	"slices"

	"railyard/internal/input"
)

// captures are the first bytes of pcapng, and of pcap in both byte orders, in microseconds and nanoseconds.
var captures = []string{"\n\r\r\n", "\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d", "\x4d\x3c\xb2\xa1"}

// neighbors lists texts that are often passed to the wrong command: their form, their name, and the command that reads
// them.
var neighbors = []struct {
	form          *regexp.Regexp
	name, command string
}{
	{regexp.MustCompile(`^#!.*sh\b|(?m)^#SBATCH `), "a batch script", "submit"},
	{regexp.MustCompile(`"(PORT|DEVICE_METADATA|BUFFER_PROFILE|PORT_QOS_MAP)": *\{|` +
		`(?m)^(interface [A-Z]|class-map |policy-map |hostname |set interfaces |nv set )`),
		"the configuration of a device", "config lint"},
	{regexp.MustCompile(`(?m)^(fabric|workload|server):`), "a scenario", "run"},
}

// Neighbor returns the kind of a file and the command that reads it, as the end of an error, or "".
func Neighbor(name string, text []byte) string {
	is := ""
	for _, n := range slices.Backward(neighbors) {
		if n.form.Match(text[:min(len(text), 1<<16)]) {
			is = n.name + ": railyard " + n.command + " " + name
		}
	}
	if len(text) >= 4 && slices.Contains(captures, string(text[:4])) {
		is = "a packet capture: railyard pcap " + name
	}
	if is == "" {
		return ""
	}
	return "; it looks like " + is
}

// NeighborOf does so for a regular file.
func NeighborOf(name string) string {
	if input.Pipe(name) {
		return ""
	}
	f, _, err := input.Stream(name, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 1<<16))
	return Neighbor(name, head)
}
