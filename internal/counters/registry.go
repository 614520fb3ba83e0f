package counters

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Format is the output of one command.
type Format struct {
	Name   string
	System string // system that prints it: nxos, eos, sonic, host
	About  string
	// Command prints it; PORT is replaced by each port. It is empty if Show uses another command with equal
	// content.
	Command string

	command *regexp.Regexp // command as typed, abbreviated or not; its first group is the port
	head    *regexp.Regexp // a line that begins only this format, for files without prompts
	tell    string         // for JSON: a key that no other output has
	read    func(r *reading)
	write   func(w *bytes.Buffer, s *Snapshot)
}

// formats in the order in which a system's are written. A command line is also matched against them in this order.
var formats = slices.Concat(always, nxosFormats, eosFormats, sonicFormats, hostFormats)

// Formats lists them.
func Formats() []Format { return formats }

// Systems are the systems whose outputs are read and written.
var Systems = []string{"nxos", "eos", "sonic", "host"}

// Find returns a format by its name.
func Find(name string) *Format {
	for i := range formats {
		if formats[i].Name == name {
			return &formats[i]
		}
	}
	return nil
}

// SystemOf returns the system of the switches with these outputs: the first known one, or the first of Systems.
func SystemOf(seen []Snapshot) string {
	for i := range seen {
		if f := Find(seen[i].Format); f != nil && f.System != "" && f.System != "host" {
			return f.System
		}
	}
	return Systems[0]
}

// Show returns a session on a device: each command of its system with its output.
func Show(system string, s Snapshot) []byte {
	var b bytes.Buffer
	for i := range formats {
		f := &formats[i]
		if f.System != system && f.System != "" || f.Command == "" {
			continue // one of two commands with the same content suffices
		}
		command := f.Command
		if f.System == "" && (system == "nxos" || system == "eos") {
			command = map[string]string{"nxos": "run ", "eos": ""}[system] + "bash " + command
		}
		if !strings.Contains(command, "PORT") {
			f.session(&b, system, command, &s)
			continue
		}
		for p := range s.Ports {
			one := s
			one.Ports = s.Ports[p : p+1]
			if name := f.names(&s.Ports[p]); name != "" {
				f.session(&b, system, strings.Replace(command, "PORT", name, 1), &one)
			}
		}
	}
	return b.Bytes()
}

// names returns the name of a port in a command, "" if the command has none: ethtool uses interfaces, sysfs RDMA
// devices.
func (f *Format) names(p *Port) string {
	device, _, rdma := strings.Cut(p.Name, "/")
	if rdma != (f.Name == "hw-counters") {
		return ""
	}
	return device
}

// session is one command and its output, if any.
func (f *Format) session(b *bytes.Buffer, system, command string, s *Snapshot) {
	var out bytes.Buffer
	f.write(&out, s)
	if out.Len() == 0 {
		return
	}
	switch system {
	case "sonic":
		fmt.Fprintf(b, "admin@%s:~$ ", s.Device)
	case "host":
		fmt.Fprintf(b, "root@%s:~# ", s.Device)
	default:
		fmt.Fprintf(b, "%s# ", s.Device)
	}
	b.WriteString(command + "\n")
	b.Write(out.Bytes())
	b.WriteByte('\n')
}

// Exposed names the command for metrics of Prometheus, for an error; "": the data is none.
func Exposed(data []byte) string {
	if bytes.Contains(data, []byte("# TYPE ")) || bytes.Contains(data, []byte(`"resultType"`)) ||
		bytes.Contains(data, []byte("node_infiniband_")) || bytes.Contains(data, []byte("node_ethtool_")) {
		return "; metrics of Prometheus are read from its server: railyard diagnose --prometheus URL"
	}
	return ""
}
