package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/capture"
	"railyard/internal/input"
	"railyard/internal/report/table"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

type pcapCmd struct {
	File  string `arg:"" optional:"" help:"Capture: pcapng or pcap; Ethernet, Linux cooked or raw IP"`
	Limit int    `help:"Maximum number of events to print" default:"200" range:"0,10000000"`
	JSON  bool   `help:"Print events and summary as JSON"`

	WiresharkPlugin bool `help:"Print a Wireshark dissector of MRC in Lua"`
}

func (c *pcapCmd) Help() string {
	return `Decodes RoCEv2 and RoCEv1 captures: messages with PSNs, time and rate, gaps, NAKs, retransmissions,
CNPs, pause frames, and ICRC checks. For MRC it decodes paths (entropy values) and their state,
trimmed packets, NACKs, probes and planes; --wireshark-plugin prints a dissector of MRC. Of TCP it
reports sequence numbers, retransmissions, gaps and marks.

Examples:
  railyard pcap write.pcapng
  railyard pcap switch-port.pcap --limit 10000 --json | jq '.flows[] | select(.packets_again > 0)'
  railyard pcap --wireshark-plugin > mrc.lua  # tshark -X lua_script:mrc.lua -r mrc.pcapng`
}

// Run is the pcap command.
func (c *pcapCmd) Run(e *env) error {
	switch {
	case c.WiresharkPlugin && c.File != "":
		return input.Fault(errors.New("--wireshark-plugin prints a plugin and reads no FILE"))
	case c.WiresharkPlugin:
		_, err := io.WriteString(e.stdout, capture.WiresharkPlugin())
		return err
	case c.File == "":
		return input.Fault(errors.New("pcap: FILE is missing"))
	}
	r, err := capture.Open(c.File)
	if err != nil {
		if is := scenariofile.NeighborOf(c.File); !strings.Contains(is, "railyard pcap ") {
			err = fmt.Errorf("%w%s", err, is)
		}
		return input.Fault(err)
	}
	defer r.Close()
	var events []capture.Event
	t := capture.NewTeller(c.Limit, func(ev capture.Event) { events = append(events, ev) })
	m := newMeter(e)
	err = t.Tell(r, func(n int64) { m.show(r.Share(), unit.Plural(n, "packet")) })
	m.finish()
	if err != nil {
		return input.Fault(fmt.Errorf("%s: %w", c.File, err))
	}
	var cut error // for a damaged file: the part before the damage is reported
	if t.Story.Damaged != "" {
		cut = input.Fault(fmt.Errorf("%s: %s", c.File, t.Story.Damaged))
	}
	// A message is printed when it ends, at the position of its start.
	slices.SortStableFunc(events, func(a, b capture.Event) int { return cmp.Compare(a.Micros, b.Micros) })
	if c.JSON {
		t.Story.Events = events
		return errors.Join(printJSON(e.stdout, &t.Story), cut)
	}
	for _, ev := range events {
		table.Event(e.stdout, ev)
	}
	table.Story(e.stdout, &t.Story)
	return cut
}
