package onto

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/dialect"
)

// Step is one line that is typed, or taken out.
type Step struct {
	Path   []string `json:"path"`              // the sections that it stands in, from the outermost
	Text   string   `json:"command"`           // as typed
	Was    string   `json:"was,omitempty"`     // the device's line that it takes the place of, or takes out
	Line   int      `json:"line,omitempty"`    // of that
	Effect string   `json:"effect,omitempty"`  // what it interrupts; "" for nothing
	Source string   `json:"source,omitempty"`  // where that is written
	Remove bool     `json:"remove"`            // it takes a line of the device out
	Opens  bool     `json:"section,omitempty"` // it opens a section: steps in it follow
}

// Merge is the way from one text to another.
type Merge struct {
	OS     swconf.OS `json:"os"`
	Switch string    `json:"switch"`
	Steps  []Step    `json:"steps"`
	Kept   int       `json:"kept"` // lines of the device that stay and that the fabric does not ask for
	Same   int       `json:"same"` // lines that both have
	// Remarks are about lines of the device, each with its place: what goes besides, and what stays and may
	// hold up the fabric's packets.
	Remarks []string `json:"remarks"`
	// Keeps is the command that saves the configuration across restarts.
	Keeps  string `json:"keeps,omitempty"`
	FRR    *Merge `json:"frr,omitempty"` // of a SONiC switch, whose tables have no BGP
	File   string `json:"file"`          // that of the device
	Text   string `json:"-"`             // the device's text with the steps taken
	Script string `json:"script"`        // what is typed, or the JSON patch that is applied
	origin []int  // the device's line that each of the text is, 0 where it is a step's
}

// keeps are the commands that save what runs.
var keeps = map[swconf.OS]string{
	swconf.NXOS:  "what is typed runs and is not saved: copy running-config startup-config, once it holds",
	swconf.EOS:   "what is typed runs and is not saved: copy running-config startup-config, once it holds",
	swconf.FRR:   "what is typed runs and is not saved: write memory, once it holds",
	swconf.SONiC: "config apply-patch FILE runs it, config save -y keeps it, once it holds",
	swconf.Junos: "commit confirmed 10 takes it back after 10 minutes: commit again, once it holds",
	swconf.NVUE:  "nv config apply --confirm takes it back unless you confirm; nv config save keeps it where auto-save is off",
}

// Refused is a merge that is not done: where, why, and what would do.
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

// Options say what may be done.
type Options struct {
	InBand bool // whoever types this reaches the device otherwise: over a console, say
}

// Onto makes the way from a device's text to what was rendered for it, both in one language.
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

// unknown remarks lines of the device that nobody understands here.
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

// holds refuses a merge after which the device would not do what the fabric needs: by its text as it would be
// printed then, and by what is typed behind the one that it has.
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
	if m.OS == swconf.SONiC || m.Script == "" {
		return nil
	}
	text, err := cli.Text(file, running)
	if err != nil {
		return err
	}
	if g := grammars[m.OS]; g != nil && g.leaf != nil { // lists are taken apart by the device
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

// faulty refuses a merge after which the text has an error that neither of the two has by itself.
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

// missed says what would not be the fabric's, and the line of the device that keeps it from that.
func (m *Merge) missed(file string, f *fact) error {
	line := 0
	if n := f.at.Line; n > 0 && n <= len(m.origin) {
		line = m.origin[n-1]
	}
	return &Refused{file, line, fmt.Sprintf("with the steps taken the %s would still not be the fabric's (%s): remove those lines and render again", f.what, named(f.says))}
}
