package dialect_test

import (
	"errors"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/unit"

	"pgregory.net/rapid"
)

// trims is a switch whose RoCE queue trims.
func trims(limit unit.Bytes, t queue.Trim) queue.Spec {
	s := spec()
	s.Queues[3] = queue.Class{Weight: 50, Alpha: 1, Trim: true}
	if s.Queues[3].Limit = limit; limit > 0 {
		s.Queues[3].Alpha = 0
	}
	s.DSCP[46], s.DSCP[47] = 7, 7
	s.Trim = t
	return swconf.Normal(s)
}

// SONiC's trimming settings are written and parse unchanged; other languages report that they have none.
func TestTrimming(t *testing.T) {
	g := fabric(t, "rail")
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(0, 1).Draw(rt, "fixed") * rapid.IntRange(20_000, 1_000_000).Draw(rt, "limit")
		s := trims(unit.Bytes(limit),
			queue.Trim{Size: unit.Bytes(rapid.IntRange(64, 4000).Draw(rt, "size")), DSCP: 46,
				LastHop: rapid.SampledFrom([]uint8{46, 47}).Draw(rt, "last hop")})
		d, err := plan(g, s, swconf.SONiC, design.Unnumbered, "", "")
		if err != nil {
			rt.Fatal(err)
		}
		cs, text := configs(t, d)
		for _, c := range cs {
			got, _, err := c.Spec(spec())
			if errors.Is(err, swconf.ErrNoQoS) {
				continue
			}
			want := s
			if strings.HasPrefix(c.Name(), "spine") { // not the last hop of any path
				want.Trim.LastHop = want.Trim.DSCP
			}
			if err != nil || got.Trim != want.Trim || got.Queues[3] != want.Queues[3] {
				rt.Fatalf("%s: %v: got %+v and %+v, want %+v and %+v", c.Name(), err, got.Trim, got.Queues[3],
					want.Trim, want.Queues[3])
			}
		}
		for _, f := range lint(g, cs) {
			if f.Rule == "trimming" || f.Rule == "bad-value" {
				rt.Fatalf("%s:%d: %s: %s\n%s", f.File, f.Line, f.Rule, f.Message, text[f.File])
			}
		}
		shown := ""
		for _, v := range cs[0].Views() {
			for _, r := range v.Rows {
				shown += r.PFC + "\n"
			}
		}
		if !strings.Contains(shown, "trims to ") || !strings.Contains(shown, "DSCP 46") {
			rt.Fatalf("show says\n%s", shown)
		}
	})
	s := trims(40_000, queue.Trim{Size: 128, DSCP: 46, LastHop: 46})
	for _, os := range []swconf.OS{swconf.NXOS, swconf.EOS} {
		d, err := plan(g, s, os, design.Unnumbered, "", "")
		if err == nil {
			_, err = dialect.Render(d)
		}
		if err == nil || !strings.Contains(err.Error(), "packet trimming (switch.queues.*.trim)") {
			t.Errorf("%s: %v", os, err)
		}
	}
	s.Trim.Either = true
	d, err := plan(g, s, swconf.SONiC, design.Unnumbered, "", "")
	if err == nil {
		_, err = dialect.Render(d)
	}
	if err == nil || !strings.Contains(err.Error(), "switch.trim.either") {
		t.Errorf("either: %v", err)
	}
}

// Errors of a trimming configuration are found at their lines.
func TestTrimmingFindings(t *testing.T) {
	g := fabric(t, "rail")
	d, err := plan(g, trims(40_000, queue.Trim{Size: 128, DSCP: 46, LastHop: 46}), swconf.SONiC,
		design.Unnumbered, "", "")
	if err != nil {
		t.Fatal(err)
	}
	files, err := dialect.Render(d)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, with, want string }{
		"below the headers": {`"size": "128"`, `"size": "60"`,
			"packets are cut to 60B, less than their headers"},
		"behind data": {`"dscp_value": "46"`, `"dscp_value": "20"`,
			"trimmed packets (DSCP 20) go to queue 0, which has no strict priority"},
		"no DSCP":   {`"dscp_value": "46"`, `"nothing": "46"`, "queue 3 trims, and the size is not configured"},
		"no action": {`"trim"`, `"cut"`, `packet_discard_action "cut": drop or trim are accepted`},
		"two frames": {`"static_th": "40000"`, `"static_th": "10000"`,
			"queue 3 trims above 10KB, less than two frames"},
	} {
		text := strings.ReplaceAll(files[0].Text, c.old, c.with)
		cfg, err := dialect.Parse(files[0].Path, []byte(text), "")
		if err != nil || text == files[0].Text {
			t.Fatal(name, err)
		}
		found := false
		for _, f := range lint(g, []*swconf.Config{cfg}) {
			found = found || f.Line > 0 && strings.Contains(f.Message, c.want)
		}
		if !found {
			t.Errorf("%s is not found", name)
		}
	}
}
