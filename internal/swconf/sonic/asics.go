package sonic

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// Switches with several ASICs have a database for each in a separate namespace, and one for the device (SONiC
// multi-ASIC design). Configurations of several ASICs, as golden configurations and config apply-patch have them,
// are an object of databases: localhost and asic0, asic1 and so on.

// wholeDevice is the name of the database of the whole device.
const wholeDevice = "localhost"

// asicNumber returns which ASIC a database is of.
func asicNumber(key string) (n int, ok bool) {
	tail, ok := strings.CutPrefix(key, "asic")
	n, err := strconv.Atoi(tail)
	return n, ok && err == nil && n >= 0 && strconv.Itoa(n) == tail
}

// several reports whether a file contains databases instead of tables.
func several(root *node) bool {
	if !root.object() || len(root.keys) == 0 {
		return false
	}
	some := len(root.keys) == 1 && root.keys[0] == wholeDevice
	for _, k := range root.keys {
		_, ok := asicNumber(k)
		some = some || ok
	}
	return some
}

// asics parses such a file as one device: each ASIC's ports with its own maps and profiles, whose names other ASICs may
// use differently.
func (r *reader) asics(root *node) (*swconf.Config, error) {
	out := &swconf.Config{OS: swconf.SONiC, File: r.file, Bundling: bundling, Part: true}
	out.LLDP.V = true
	chips := 0
	for i, key := range root.keys {
		of := root.kids[i]
		_, chip := asicNumber(key)
		switch {
		case !chip && key != wholeDevice:
			return nil, &cli.SyntaxError{File: r.file, Line: of.at.Line, Col: of.at.Col, Msg: fmt.Sprintf(
				"%q is among the databases of ASICs: expected localhost, asic0, asic1 and on", key)}
		case !of.object():
			return nil, &cli.SyntaxError{File: r.file, Line: of.at.Line, Col: of.at.Col,
				Msg: key + " is not a database: expected an object of tables"}
		}
		root, err := r.tabled(of)
		if err != nil {
			return nil, err
		}
		c, err := read(r.file, root)
		if err != nil {
			return nil, err
		}
		if chip {
			chips++
		}
		join(out, c, key, of.at, chip)
	}
	if chips > 1 {
		out.Apart = append(out.Apart, swconf.Say(fmt.Sprintf("%d ASICs, each with packet memory, queues and routes of its own, are one switch here", chips), root.at))
	}
	out.Room(root.at, len(out.Ports))
	return out, out.Over()
}

// join adds a database to a device.
func join(out, c *swconf.Config, key string, at swconf.Place, chip bool) {
	if c.Hostname.Is() && (!out.Hostname.Is() || !chip) {
		out.Hostname = c.Hostname
	}
	if c.HwSKU.Is() && (!out.HwSKU.Is() || !chip) {
		out.HwSKU = c.HwSKU
	}
	if c.LLDP.Is() && !out.LLDP.Is() {
		out.LLDP = c.LLDP
	}
	if !out.Watchdog.On.Is() && (chip || c.Watchdog.On.Is()) {
		out.Watchdog = c.Watchdog
	}
	if c.Buffer.Is() && (!out.Buffer.Is() || c.Buffer.V < out.Buffer.V) {
		out.Buffer = c.Buffer // a port uses its own ASIC's buffer, so the minimum is safe
	}
	if chip {
		out.Part = out.Part && c.Part
	}
	channels(out, c)
	alike(out, c)
	out.Ports, out.Bundles, out.Subs = append(out.Ports, c.Ports...), append(out.Bundles, c.Bundles...),
		append(out.Subs, c.Subs...)
	if out.QoS == nil || len(out.Ports) == len(c.Ports) {
		out.QoS = c.QoS
	}
	for _, o := range c.Objects {
		out.Define(key+" "+o.Kind, o.Name, o.At, o.Quiet)
	}
	for _, u := range c.Refs {
		out.Use(key+" "+u.Kind, u.Name, u.At)
	}
	if out.BGP == nil {
		out.BGP = c.BGP
	} else if b := c.BGP; b != nil {
		out.BGP.Neighbors = append(out.BGP.Neighbors, b.Neighbors...)
		out.BGP.Networks = append(out.BGP.Networks, b.Networks...)
	}
	if !out.Hash.Is() {
		out.Hash = c.Hash
	}
	if c.Trim != (swconf.Trim{}) && out.Trim == (swconf.Trim{}) {
		out.Trim = c.Trim
	}
	out.SRv6.Locators = append(out.SRv6.Locators, c.SRv6.Locators...)
	out.SRv6.SIDs = append(out.SRv6.SIDs, c.SRv6.SIDs...)
	out.Routes, out.Idle = append(out.Routes, c.Routes...), append(out.Idle, c.Idle...)
	out.Faults, out.Unknown = append(out.Faults, c.Faults...), append(out.Unknown, c.Unknown...)
	out.Read, out.Passed, out.Total = out.Read+c.Read, out.Passed+c.Passed, out.Total+c.Total
}

// channels renumbers port channels whose number another ASIC also has. Numbers identify them in the model, names in
// output.
func channels(out, c *swconf.Config) {
	free := 10_000 // SONiC's names have four digits
	for _, b := range append(append([]*swconf.Port{}, out.Bundles...), c.Bundles...) {
		free = max(free, b.Number+1)
	}
	for _, b := range c.Bundles {
		if out.Bundle(b.Number) == nil {
			continue
		}
		for _, p := range c.Ports {
			if p.Channel.Is() && p.Channel.V == b.Number {
				p.Channel.V = free
			}
		}
		b.Number = free
		free++
	}
}

// alike makes ports share the QoS of another ASIC's equal ports.
func alike(out, c *swconf.Config) {
	seen := map[swconf.Print]*swconf.QoS{}
	for _, list := range [][]*swconf.Port{out.Ports, c.Ports} {
		last, same := (*swconf.QoS)(nil), (*swconf.QoS)(nil)
		for _, p := range list {
			if p.QoS == nil {
				continue
			}
			if p.QoS != last {
				print := p.QoS.Fingerprint()
				if seen[print] == nil {
					seen[print] = p.QoS
				}
				last, same = p.QoS, seen[print]
			}
			p.QoS = same
		}
	}
}
