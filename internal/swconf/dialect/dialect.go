// Package dialect knows every configuration language that Railyard reads, and
// which one a text is written in.
package dialect

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/eos"
	"railyard/internal/swconf/frr"
	"railyard/internal/swconf/nxos"
	"railyard/internal/swconf/sonic"
)

// language is one way to write a switch's configuration.
type language struct {
	os    swconf.OS
	title string
	looks func(string) int // how many of its tell-tale phrases a text has
	parse func(file string, text []byte) (*swconf.Config, error)
	// render writes one switch's files.
	render func(*design.Design, *design.Switch) ([]design.File, error)
}

var languages = []language{
	{swconf.NXOS, "Cisco NX-OS", nxos.Looks, nxos.Parse, nxos.Render},
	{swconf.SONiC, "SONiC config_db.json", sonic.Looks, sonic.Parse, sonic.Render},
	{swconf.FRR, "FRR", frr.Looks, frr.Parse, frr.Render},
	{swconf.EOS, "Arista EOS", eos.Looks, eos.Parse, eos.Render},
}

// foreign are languages that are recognised and not read.
var foreign = []struct {
	name    string
	phrases []string
}{
	{"Juniper Junos", []string{"set interfaces ", "class-of-service", "routing-options", "host-name ",
		"family inet", "protocols {", "system {"}},
	{"NVIDIA Cumulus NVUE", []string{"nv set ", "nv config"}},
	{"Huawei or H3C VRP", []string{"sysname ", "undo ", "dcb pfc", "traffic classifier", "quit\n"}},
	{"Nokia SR Linux", []string{"set / interface", "network-instance"}},
	{"Dell OS10", []string{"trust dot1p-map", "qos-map traffic-class", "dcbx enable"}},
	{"a Railyard scenario", []string{"fabric:\n", "workload:\n", "host_link:"}},
}

// Names lists the languages that can be given by hand.
func Names() []string {
	var out []string
	for _, l := range languages {
		out = append(out, string(l.os))
	}
	return out
}

// Title is a language's full name.
func Title(os swconf.OS) string {
	for _, l := range languages {
		if l.os == os {
			return l.title
		}
	}
	return string(os)
}

// Parse reads a configuration. os says its language; "" finds out.
func Parse(file string, text []byte, os swconf.OS) (*swconf.Config, error) {
	if err := cli.Check(file, text); err != nil {
		return nil, err
	}
	text = cli.LineEnds(text)
	if os == "" {
		var err error
		if os, err = detect(file, string(text)); err != nil {
			return nil, err
		}
	}
	i := slices.IndexFunc(languages, func(l language) bool { return l.os == os })
	if i < 0 {
		return nil, fmt.Errorf("%q is no configuration language; accepted: %s", os,
			strings.Join(Names(), ", "))
	}
	return languages[i].parse(file, text)
}

// detect names the language whose phrases a text has most of.
func detect(file, text string) (swconf.OS, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if n := sonic.Looks(text); n > 1 { // JSON, which no other is: large, and searched once
		return swconf.SONiC, nil
	}
	best, most := -1, 0
	for i, l := range languages {
		if n := l.looks(text); n > most {
			best, most = i, n
		}
	}
	for _, f := range foreign {
		if n := swconf.Score(text, f.phrases...); n > most {
			return "", &cli.SyntaxError{File: file, Line: 1, Col: 1,
				Msg: fmt.Sprintf("looks like %s; accepted: %s", f.name, titles())}
		}
	}
	if best < 0 {
		return "", &cli.SyntaxError{File: file, Line: 1, Col: 1,
			Msg: fmt.Sprintf("is in no language known here; accepted: %s (say which with --os)", titles())}
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
	i := slices.IndexFunc(languages, func(l language) bool { return l.os == d.OS })
	if i < 0 {
		return nil, fmt.Errorf("%q is no configuration language; accepted: %s", d.OS,
			strings.Join(Names(), ", "))
	}
	for _, s := range d.Switches {
		if err := ports(d, s); err != nil {
			return nil, err
		}
		f, err := languages[i].render(d, s)
		if err != nil {
			return nil, err
		}
		files = append(files, f...)
	}
	plans, err := d.Plans()
	return append(files, plans...), err
}

// Multihome is how a language joins two switches unless asked otherwise.
func Multihome(os swconf.OS) string {
	if os == swconf.FRR {
		return design.ESI
	}
	return design.MLAG
}

// Spec reads a configuration and returns the switch it describes, on a platform
// that decides what the text leaves open, and the text's load balancing.
func Spec(file string, text []byte, base queue.Spec) (queue.Spec, *swconf.Config, []string, error) {
	c, err := Parse(file, text, "")
	if err != nil {
		return base, nil, nil, err
	}
	s, notes, err := c.Spec(base)
	return s, c, notes, err
}
