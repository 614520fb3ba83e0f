package onto

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/dialect"
	"railyard/unit"
)

// Step is one typed, or removed, line.
type Step struct {
	Path   []string `json:"path"`              // sections, from the outermost
	Text   string   `json:"command"`           // as typed
	Was    string   `json:"was,omitempty"`     // the device's line that it replaces or removes
	Line   int      `json:"line,omitempty"`    // of that
	Effect string   `json:"effect,omitempty"`  // traffic that it interrupts; "" for none
	Source string   `json:"source,omitempty"`  // source of the interruption
	Remove bool     `json:"remove"`            // whether it removes a line of the device
	Opens  bool     `json:"section,omitempty"` // whether it opens a section that contains the following steps
}

// Merge is the difference between two configurations as commands.
type Merge struct {
	OS     swconf.OS `json:"os"`
	Switch string    `json:"switch"`
	Steps  []Step    `json:"steps"`
	Kept   int       `json:"kept"` // remaining lines of the device that are not in the fabric's configuration
	Same   int       `json:"same"` // lines that both have
	// Remarks are notes on lines of the device, with positions: on those removed as well, and on remaining ones
	// that may affect the fabric's packets.
	Remarks []string `json:"remarks"`
	// Keeps is the command that saves the configuration across restarts.
	Keeps  string `json:"keeps,omitempty"`
	FRR    *Merge `json:"frr,omitempty"` // FRR configuration of a SONiC switch, whose tables have no BGP
	File   string `json:"file"`          // the device's
	Text   string `json:"-"`             // the device's configuration after the steps
	Script string `json:"script"`        // commands to type, or the JSON patch to apply
	origin []int  // the device's line of each line of Text, 0 for a step's line
}

// keeps are the commands that save the running configuration.
var keeps = map[swconf.OS]string{
	swconf.NXOS:  "what is typed runs and is not saved: copy running-config startup-config, once it holds",
	swconf.EOS:   "what is typed runs and is not saved: copy running-config startup-config, once it holds",
	swconf.FRR:   "what is typed runs and is not saved: write memory, once it holds",
	swconf.SONiC: "config apply-patch FILE runs it, config save -y keeps it, once it holds",
	swconf.Junos: "commit confirmed 10 takes it back after 10 minutes: commit again, once it holds",
	swconf.NVUE:  "nv config apply --confirm takes it back unless you confirm; nv config save keeps it where auto-save is off",
}

// Refused is a refused merge: position, reason, and remedy.
type Refused struct {
	File string
	Line int
	Why  string
}

func (e *Refused) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Why
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
}

// Options are permissions of a merge.
type Options struct {
	InBand bool // the operator has another access to the device, such as a console
}

// Onto computes the merge of a rendered configuration into a device's, both in one language.
func Onto(file string, running []byte, rendered string, os swconf.OS, opt Options) (*Merge, error) {
	has, err := dialect.Parse(file, running, os)
	if err != nil {
		return nil, err
	}
	want, err := dialect.Parse("rendered", []byte(rendered), os)
	if err != nil {
		return nil, err
	}
	m := &Merge{OS: os, File: file, Keeps: keeps[os], Steps: []Step{}, Remarks: []string{}}
	switch g := grammars[os]; {
	case os == swconf.SONiC:
		err = m.tables(file, running, rendered, opt)
	case os == swconf.Junos:
		err = m.statements(file, running, rendered, opt)
	case g == nil:
		return nil, fmt.Errorf("%s: --onto does not support %s", file, dialect.Title(os))
	default:
		err = m.lines(file, running, rendered, g, opt)
	}
	if err != nil {
		return nil, err
	}
	m.unknown(file, has)
	return m, m.holds(file, running, has, want)
}

// unknown notes unrecognized lines of the device.
func (m *Merge) unknown(file string, has *swconf.Config) {
	const most = 8
	for i, u := range has.Unknown {
		switch at := fmt.Sprintf("%s:%d: ", file, u.At.Line); {
		case i < most:
			m.Remarks = append(m.Remarks, fmt.Sprintf("%s%q is not understood, and stays", at, u.Text))
		case i == most:
			m.Remarks = append(m.Remarks, fmt.Sprintf("%sand %d more lines, from here on, are not understood, and stay", at, len(has.Unknown)-i))
		}
	}
}

// unpaused notes the DSCPs that ports have lossless before a merge, and not after it.
func (m *Merge) unpaused(file string, has, got *swconf.Config) {
	for d := range 64 {
		n, line := 0, 0
		for _, p := range has.Ports {
			if q := got.Port(p.Name); q != nil && p.Lossless(d) && !q.Lossless(d) {
				n, line = n+1, cmp.Or(line, p.QoS.DSCP[d].At.Line)
			}
		}
		if n > 0 {
			m.Remarks = append(m.Remarks, fmt.Sprintf("%s:%d: packets of DSCP %d lose PFC on %s", file, line, d,
				unit.Plural(n, "port")))
		}
	}
}

// holds rejects a merge after which the device would not meet the fabric's needs. It checks the resulting
// configuration as printed, and the existing one followed by the typed commands.
func (m *Merge) holds(file string, running []byte, has, want *swconf.Config) error {
	got, err := dialect.Parse(file+" with the steps", []byte(m.Text), m.OS)
	if err != nil {
		return err
	}
	if f := differs(want, got); f != nil {
		return m.missed(file, f)
	}
	if err := m.faulty(file, has, want, got); err != nil {
		return err
	}
	m.unpaused(file, has, got)
	if m.OS == swconf.SONiC || m.Script == "" {
		return nil
	}
	text, err := cli.Text(file, running)
	if err != nil {
		return err
	}
	if g := grammars[m.OS]; g != nil && g.leaf != nil { // the device splits lists
		nodes, err := tree(file, text)
		if err != nil {
			return err
		}
		before, _ := write(single(nodes), "")
		text = []byte(before)
	}
	typed := strings.TrimRight(string(text), "\n") + "\n" + m.Script
	if got, err = dialect.Parse(file+" with the steps", []byte(typed), m.OS); err != nil {
		return err
	}
	if f := differs(want, got); f != nil {
		f.at.Line = 0
		return m.missed(file, f)
	}
	return nil
}

// faulty rejects a merge whose result has an error that neither input has.
func (m *Merge) faulty(file string, has, want, got *swconf.Config) error {
	for _, f := range got.Faults {
		same := func(o swconf.Finding) bool { return o.Rule == f.Rule && o.Message == f.Message }
		known := slices.ContainsFunc(has.Faults, same) || slices.ContainsFunc(want.Faults, same)
		if f.Severity == swconf.Error && !known {
			line := 0
			if n := f.Line; n > 0 && n <= len(m.origin) {
				line = m.origin[n-1]
			}
			return &Refused{file, line, fmt.Sprintf(
				"with the steps taken %s: %s; remove the line of the device and render again", f.Message, f.Why)}
		}
	}
	return nil
}

// missed describes the missing property, and the line of the device that prevents it.
func (m *Merge) missed(file string, f *fact) error {
	line := 0
	if n := f.at.Line; n > 0 && n <= len(m.origin) {
		line = m.origin[n-1]
	}
	return &Refused{file, line, fmt.Sprintf("with the steps taken the %s would still not be the fabric's (%s): remove those lines and render again", f.what, named(f.says))}
}
