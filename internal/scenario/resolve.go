package scenario

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"railyard/internal/field"
	"railyard/internal/swconf"
	"railyard/rc"
	"railyard/unit"
)

// ReadFile fetches a file the scenario names, relative to the scenario.
type ReadFile func(path string) ([]byte, error)

// resolver makes a plan of a document, block by block. What the file leaves open it decides
// in the file too, so that the values a run had can be kept with it.
type resolver struct {
	*Document // what somebody wrote
	*Plan     // what becomes of it
	read      ReadFile
}

// Resolve checks a document and builds what a run needs. Sizes are checked
// before anything is allocated for them.
func (d *Document) Resolve(read ReadFile) (*Plan, error) {
	f := &d.File
	p := &resolver{d, &Plan{Name: f.Name, Seed: f.Seed, Services: []Service{f.service()},
		Sample: f.Output.Sample, Rows: f.Output.Rows, doc: d}, read}
	for _, step := range []func() error{p.inBounds, p.named, p.network, p.switches, p.transport,
		p.congestion, p.linkEvents, p.work} {
		if err := step(); err != nil {
			return nil, d.placed(err)
		}
	}
	return p.Plan, nil
}

// named refuses a name that would do something to a terminal.
func (p *resolver) named() error {
	name := p.Name
	if i := strings.IndexFunc(name, unicode.IsControl); i >= 0 || !utf8.ValidString(name) {
		return field.New("name", "%q holds what cannot be printed", name)
	}
	return nil
}

func (p *resolver) transport() error {
	t := &p.File.Transport
	p.QPs = t.QPs
	p.RC = rc.Config{MTU: t.MTU, AlwaysReady: true, WriteOnly: t.Write == "only",
		AckEvery: t.AckEvery, Timeout: rc.LocalAckTimeout(t.Timeout),
		Retries: t.Retries, Window: t.Window, NakAfter: t.NakAfter}
	if t.Recovery == "selective" {
		p.RC.Recovery = rc.Selective
	}
	if err := p.RC.Validate(); err != nil {
		return field.Under("transport", err)
	}
	if unit.Bytes(t.MTU)+swconf.Headers > p.smallestMTU() {
		return field.New("transport.mtu",
			"%d bytes and up to %d of headers (WRITE Only with immediate) do not fit the switches' mtu of %v",
			t.MTU, swconf.Headers, p.smallestMTU())
	}
	if p.LB.Reorders(p.LBValues) && p.RC.Recovery == rc.GoBackN {
		p.Notes = append(p.Notes, "spraying reorders packets and go-back-N treats every gap as loss; transport.recovery selective with write only places packets in any order")
	}
	return nil
}
