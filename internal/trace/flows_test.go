package trace

import (
	"strings"
	"testing"

	"railyard/unit"
)

func TestFlows(t *testing.T) {
	x, err := Read("", File{"flow.txt", []byte("2\n0 3 3 100 4096 2.000001\n1 3 2 100 1000 2\n\nsome " +
		"words\n")})
	if err != nil {
		t.Fatal(err)
	}
	last, _ := ends(t, x.DAG, unit.Microsecond)
	if x.Ranks != 4 || last != 2*unit.Microsecond || x.Format != "hpcc-flows" {
		t.Errorf("%v %+v", last, x)
	}
	want := "mapped [flows, as transfers: 2 (first flow.txt:2)], guessed [flows that start before the " +
		"previous one, which HPCC would start later: 1 (first flow.txt:3) start of the first flow, 2s, used as " +
		"the start of the run: 1 (first in flow.txt)], left out [flows of a priority group other than 3; the " +
		"DSCP of the scenario is used: 1 (first flow.txt:3) lines after the last flow: 1 (first flow.txt:5)]"
	if got := words(x.Report); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for text, want := range map[string]string{
		"":                         "f.txt: is empty",
		"two\n":                    `f.txt:1:1: found "two", expected how many flows follow`,
		"-1\n":                     "expected how many flows follow",
		"0\n":                      "has no flow",
		"2\n0 1 3 100 10 0\n":      "f.txt:2:1: ends after 1 flows of 2",
		"1\n0 0 3 100 10 0\n":      "expected two different nodes",
		"1\n0 -1 3 100 10 0\n":     "expected two different nodes",
		"1\n0 1 3 100 0 0\n":       "expected bytes",
		"1\n0 1 3 100 10 -1\n":     "expected a start in seconds",
		"1\n0 1 3 100 10 NaN\n":    "expected a start in seconds",
		"1\n0 1 3 100 10\n":        "expected src dst priority port bytes seconds",
		"1\n0 999999 3 100 10 0\n": "expected two different nodes of 0 to 131071",
	} {
		if _, err := Read("hpcc-flows", File{"f.txt", []byte(text)}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
