package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"railyard/internal/long"
)

// Killed before any change to a file, plan failures goes on from its directory: the output is that of a study that
// nobody disturbed, and no failure that has a result is simulated again. RAILYARD_LONG=1 tries all changes.
func TestKilledPlanFailures(t *testing.T) {
	smallFile(t)
	plain := []string{"plan", "failures", "small.yaml", "--kinds", "link,switch"}
	again := append(plain, "--study", "killed")
	_, want, _ := call(t, plain...)
	journal := func() []byte { b, _ := os.ReadFile("killed/simulations.jsonl"); return b }
	changes := len(killedAt(t, 0, railyard(again...)))
	lines := bytes.Count(journal(), []byte("\n"))
	if changes < 4 || lines < 4 {
		t.Fatalf("%d changes to files, %d lines", changes, lines)
	}
	for n := 1; n <= changes; n++ {
		if !long.On() && n%3 != 1 {
			continue
		}
		if err := os.RemoveAll("killed"); err != nil {
			t.Fatal(err)
		}
		killedAt(t, n, railyard(again...))
		had := journal()
		code, out, errs := call(t, again...)
		has := journal()
		if code != 0 || out != want || !bytes.HasPrefix(has, had[:bytes.LastIndexByte(had, '\n')+1]) ||
			bytes.Count(has, []byte("\n")) != lines {
			t.Fatalf("killed before change %d of %d: exit %d, %s%s", n, changes, code, out, errs)
		}
	}
	before := journal()
	if code, _, errs := call(t, append(again, "--pairs", "2")...); code != 0 || !bytes.HasPrefix(journal(), before) ||
		bytes.Count(journal(), []byte("\n")) != lines+2 {
		t.Errorf("with pairs: exit %d, %s\n%s", code, errs, journal())
	}
}

// A directory with trials of other scenarios, or of another command, is refused.
func TestPlanFailuresStudyRefused(t *testing.T) {
	smallFile(t)
	for _, args := range []string{"plan failures small.yaml --kinds switch --study f",
		"sweep small.yaml --grid lb=ecmp,spray --out s"} {
		if code, _, errs := call(t, strings.Fields(args)...); code != 0 {
			t.Fatal(errs)
		}
	}
	for args, want := range map[string]string{
		"plan failures small.yaml --kinds switch --study f --set lb=spray": "f cannot be resumed: it is a study of other scenarios, values or version; accepted: another --study",
		"plan failures small.yaml --kinds switch --study f --at 1us":       "f cannot be resumed: it is a study of other scenarios",
		"plan failures small.yaml --kinds switch --study s":                "s holds files but no study of railyard plan failures; choose another --study",
		"compare small.yaml --set lb=ecmp,spray --study f":                 "f holds files but no study",
	} {
		if code, out, errs := call(t, strings.Fields(args)...); code != exitInput || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s%s", args, code, out, errs)
		}
	}
}
