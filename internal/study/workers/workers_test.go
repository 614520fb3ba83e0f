package workers

import (
	"strings"
	"testing"

	"railyard/internal/study/sweep"
)

// Engines without a directory, and engines that exclude each other, are rejected with the excess flag.
func TestRefused(t *testing.T) {
	for want, c := range map[string]*Placement{
		"--listen": {Listen: "127.0.0.1:0"}, "--nats": {NATS: "nats://localhost"}, "--engine": {Engine: "slurm"}, "": {Engine: "local"},
	} {
		if err := c.Stored(); (err != nil) != (want != "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	c := &Placement{Engine: "slurm", NATS: "nats://localhost"}
	if _, err := c.Distribute(t.Context(), func(string, string) {}, &sweep.Study{}, 1); err == nil ||
		!strings.Contains(err.Error(), "slurm has no effect with --nats") {
		t.Error(err)
	}
}
