package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/result"
)

// packet tells what became of one packet.
func (c *reportCmd) packet(e *env) error {
	want, err := fidelity.ParseNamed(c.Packet)
	if err != nil {
		return field.Under("--packet", err)
	}
	all, err := result.ReadFollowed(c.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return input.Fault(fmt.Errorf("%s followed no packet: run its scenario again with --follow %s", c.Dir,
			c.Packet))
	case err != nil:
		return input.Fault(fmt.Errorf("%s: %s cannot be read: %w", c.Dir, result.FollowedFile, err))
	}
	i := slices.IndexFunc(all, func(f result.Followed) bool {
		return f.Asked == want.String() || !want.Behind && f.QP == want.QP && f.PSN == want.PSN
	})
	if i < 0 {
		var names []string
		for _, f := range all {
			names = append(names, f.Asked)
		}
		return input.Fault(fmt.Errorf("%s did not follow packet %s; it followed %s", c.Dir, c.Packet,
			strings.Join(names, ", ")))
	}
	if c.JSON {
		return printJSON(e.stdout, all[i])
	}
	report.Followed(e.stdout, &all[i])
	return nil
}
