package dialect

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/dell"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/eos"
	"railyard/internal/swconf/frr"
	"railyard/internal/swconf/junos"
	"railyard/internal/swconf/nvue"
	"railyard/internal/swconf/nxos"
	"railyard/internal/swconf/sonic"
)

// language is one configuration language of switches.
type language struct {
	os    swconf.OS
	title string
	looks func(swconf.Text) int // number of its characteristic phrases in a text; nil: JSON
	parse func(file string, text []byte) (*swconf.Config, error)
	// render writes one switch's files; nil: the language is read only.
	render func(*design.Design, *design.Switch) ([]design.File, error)
}

var languages = []language{
	{swconf.NXOS, "Cisco NX-OS", nxos.Looks, nxos.Parse, nxos.Render},
	{swconf.SONiC, "SONiC config_db.json", nil, sonic.Parse, sonic.Render},
	{swconf.FRR, "FRR", frr.Looks, frr.Parse, frr.Render},
	{swconf.EOS, "Arista EOS", eos.Looks, eos.Parse, eos.Render},
	{swconf.NVUE, "NVIDIA Cumulus NVUE", nvue.Looks, nvue.Parse, nvue.Render},
	{swconf.Dell, "Dell Enterprise SONiC", dell.Looks, dell.Parse, nil},
	{swconf.Junos, "Juniper Junos", junos.Looks, junos.Parse, junos.Render},
}

// Names lists the languages that can be selected.
func Names() []string {
	var out []string
	for _, l := range languages {
		out = append(out, string(l.os))
	}
	return out
}

// Device refuses an unknown hwsku of SONiC; path is the value's key.
func Device(path, hwsku string) error {
	_, err := sonic.Named(path, hwsku)
	return err
}

// Written lists the languages that can be rendered, too.
func Written() []string {
	var out []string
	for _, l := range languages {
		if l.render != nil {
			out = append(out, string(l.os))
		}
	}
	return out
}

// NoLanguage is the message for a text in none of the languages, before the accepted ones.
const NoLanguage = "is in no supported language"

// Title is a language's full name.
func Title(os swconf.OS) string {
	for _, l := range languages {
		if l.os == os {
			return l.title
		}
	}
	return string(os)
}

// Parse parses a configuration. os is the language; "" detects it.
func Parse(file string, text []byte, os swconf.OS) (*swconf.Config, error) {
	text, err := cli.Text(file, text)
	if err != nil {
		return nil, err
	}
	if os == "" {
		if os, err = detect(file, string(text)); err != nil {
			return nil, err
		}
	}
	i := slices.IndexFunc(languages, func(l language) bool { return l.os == os })
	if i < 0 {
		return nil, fmt.Errorf("%q is not a configuration language; accepted: %s", os, strings.Join(Names(), ", "))
	}
	c, err := languages[i].parse(file, text)
	if c != nil {
		c.Source = string(text)
	}
	return c, err
}

// detect returns the language with the most phrases in a text.
func detect(file, text string) (swconf.OS, error) {
	const telling = 1 << 20 // the part of a text that is sufficient for detection
	text = strings.ReplaceAll(text[:min(len(text), telling)], "\r\n", "\n")
	if cli.Document(text) {
		return "", &cli.SyntaxError{File: file, Line: 1, Col: 1, Msg: "looks like a document in Markdown; write the part between two of its fences (```) to its own file; accepted: " +
			titles() + ", and scripts of hosts"}
	}
	if nvue.LooksJSON(text) {
		return swconf.NVUE, nil
	}
	tables := sonic.Looks(text)
	if tables > 1 { // JSON, which no other is: large, and searched once
		return swconf.SONiC, nil
	}
	all := swconf.Searched("\n" + text)
	best, most := -1, 0
	for i, l := range languages {
		n := tables
		if l.looks != nil {
			n = l.looks(all.From(1))
		}
		if n > most {
			best, most = i, n
		}
	}
	if name := stranger(all, most); name != "" {
		return "", &cli.SyntaxError{File: file, Line: 1, Col: 1,
			Msg: fmt.Sprintf("looks like %s; accepted: %s", name, titles())}
	}
	if best < 0 {
		return "", &cli.SyntaxError{File: file, Line: 1, Col: 1,
			Msg: fmt.Sprintf("%s; accepted: %s (set it with --os)", NoLanguage, titles())}
	}
	return languages[best].os, nil
}

func titles() string {
	var out []string
	for _, l := range languages {
		out = append(out, fmt.Sprintf("%s (%s)", l.title, l.os))
	}
	return strings.Join(out, ", ")
}

// Render writes the configuration of every switch of a design in its language,
// and the plans of the fabric.
func Render(d *design.Design) (files []design.File, err error) {
	if files, err = RenderOne(d, ""); err != nil {
		return nil, err
	}
	plans, err := d.Plans()
	return append(files, plans...), err
}

// RenderOne writes the configuration of one switch, "" of every one.
func RenderOne(d *design.Design, name string) (files []design.File, err error) {
	i := slices.IndexFunc(languages, func(l language) bool { return l.os == d.OS })
	if i < 0 {
		return nil, fmt.Errorf("%q is not a configuration language; accepted: %s", d.OS, strings.Join(Names(), ", "))
	}
	if languages[i].render == nil {
		return nil, fmt.Errorf("%s is read and not written; written are: %s", languages[i].title,
			strings.Join(Written(), ", "))
	}
	if err := balances(d); err != nil {
		return nil, err
	}
	for _, s := range d.Switches {
		if name != "" && s.Name != name {
			continue
		}
		if err := ports(d, s); err != nil {
			return nil, err
		}
		f, err := languages[i].render(d, s)
		if err != nil {
			return nil, err
		}
		files = append(files, f...)
	}
	return files, nil
}

// Multihome returns a language's default method of combining two switches.
func Multihome(os swconf.OS) string {
	if os == swconf.FRR {
		return design.ESI
	}
	return design.MLAG
}

// Spec parses a configuration and returns the switch it describes, on a platform that decides unset values, and its
// load balancing.
func Spec(file string, text []byte, base queue.Spec) (queue.Spec, *swconf.Config, []string, error) {
	c, err := Parse(file, text, "")
	if err != nil {
		return base, nil, nil, err
	}
	s, notes, err := c.Spec(base)
	return s, c, notes, err
}
