package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"railyard/internal/capture"
	"railyard/internal/input"
	"railyard/internal/report/table"
	"railyard/unit"
)

type pcapCmd struct {
	File  string `arg:"" optional:"" help:"Capture: pcapng or pcap; Ethernet, Linux cooked or raw IP."`
	Limit int    `help:"Tell at most so many events." default:"200" range:"0,10000000"`
	JSON  bool   `help:"Print events and summary as JSON."`

	WiresharkPlugin bool `help:"Print a Wireshark dissector of MRC, in Lua, instead."`
}

func (c *pcapCmd) Help() string {
	return `Tells a capture of RoCE traffic as a story: each message with its PSNs, time and rate, gaps,
NAKs, packets sent again, CNPs, pause frames, and whether every ICRC holds. Captures of real NICs (RoCEv2,
RoCEv1) work as well as ours. Of MRC it tells paths (entropy values) with their verdicts, trimmed packets,
NACKs, probes and planes; Wireshark knows MRC with the plugin that --wireshark-plugin prints.

Examples:
  railyard pcap write.pcapng
  railyard pcap switch-port.pcap --limit 10000 --json | jq '.flows[] | select(.packets_again > 0)'
  railyard pcap --wireshark-plugin > mrc.lua  (tshark -X lua_script:mrc.lua -r mrc.pcapng)`
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
		return input.Fault(errors.New(`expected "<file>"`))
	}
	r, err := capture.Open(c.File)
	if err != nil {
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
	// A message is told when it ends, and stands where it began.
	slices.SortStableFunc(events, func(a, b capture.Event) int { return cmp.Compare(a.Micros, b.Micros) })
	if c.JSON {
		t.Story.Events = events
		return printJSON(e.stdout, &t.Story)
	}
	for _, ev := range events {
		table.Event(e.stdout, ev)
	}
	table.Story(e.stdout, &t.Story)
	return nil
}
