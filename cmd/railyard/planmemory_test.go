package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestLowestZeRO lays a model out as a framework that has no stage 0 does, where no stage is given; a stage that is
// given and that it lacks is refused.
func TestLowestZeRO(t *testing.T) {
	net := filepath.Join(scenarios(t), "pod64-llama2-7b.yaml")
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"memory llama-3.1-8b --dp 8 --software torchtitan", "ZeRO2", exitOK},
		{"memory llama-3.1-8b --dp 8 --software torchtitan --zero 3", "ZeRO3", exitOK},
		{"memory llama-3.1-8b --dp 8 --software torchtitan --zero 0", "--zero: torchtitan does not have stage 0", exitInput},
		{"score llama-3.1-8b --global-batch 64 --software torchtitan --fabric " + net, "ZeRO2", exitOK},
		{"score llama-3.1-8b --global-batch 64 --software torchtitan --zero 0 --fabric " + net,
			"--zero: torchtitan does not have stage 0", exitInput},
	} {
		code, out, errs := call(t, append([]string{"plan"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit %d, %s%s", c.args, code, out, errs)
		}
	}
}
