package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"railyard/internal/report/usage"

	"github.com/alecthomas/kong"
)

// Every number on the command line has a range, and every name in with and without is a flag of the same command.
// (rdma's flags are checked against the device.)
func TestFlagsHaveRanges(t *testing.T) {
	parser, err := kong.New(&commands{}, helpWords)
	if err != nil {
		t.Fatal(err)
	}
	type named struct{ flag, other string }
	told := map[named]bool{} // commands that share a flag may each lack some of the flags that it refers to
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		beside := map[string]bool{}
		for _, f := range n.Flags {
			beside[f.Name] = true
		}
		values := append([]*kong.Value{}, n.Positional...)
		for _, f := range n.Flags {
			values = append(values, f.Value)
		}
		for _, v := range values {
			k := v.Target.Type()
			for k.Kind() == reflect.Pointer {
				k = k.Elem()
			}
			numeric := k.Kind() == reflect.Float64 || k.Kind() == reflect.Int || k.Kind() == reflect.Int64
			if numeric && k.Name() != "Duration" && v.Tag.Get("range") == "" &&
				!strings.Contains(n.FullPath(), "rdma") {
				t.Errorf("%s: %s has no range", n.FullPath(), usage.Called(v))
			}
			if text := v.Tag.Get("range"); text != "" {
				if low, high, err := usage.Bounds(text); err != nil || !(low < high) {
					t.Errorf("%s: %s has the range %q", n.FullPath(), usage.Called(v), text)
				}
			}
			for _, name := range strings.Split(v.Tag.Get("with")+","+v.Tag.Get("without"), ",") {
				if name != "" {
					k := named{usage.Called(v), name}
					told[k] = told[k] || beside[name]
				}
			}
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(parser.Model.Node)
	for k, is := range told {
		if !is {
			t.Errorf("%s speaks of --%s, which is a flag of no command that has it", k.flag, k.other)
		}
	}
}

// Numbers out of range and flags without effect are rejected in one line.
func TestFlagsThatCannotBe(t *testing.T) {
	dir := scenarios(t)
	three := filepath.Join(dir, "three-flows.yaml")
	t.Chdir(t.TempDir())
	os.WriteFile("prices.json",
		[]byte(`{"switches":[{"ports":64,"rate_gbps":400}],"cables":[{"upto_m":1}]} and more`), 0o600)
	for args, want := range map[string]string{
		"plan memory --states 175B --efficiency 1e-300":                      "--efficiency: 1e-300 is out of range 0.1–100",
		"plan memory --states 175B --efficiency NaN":                         "--efficiency: NaN is out of range 0.1–100",
		"plan memory --states 175B --tp 8":                                   "--tp: has no effect with --states",
		"plan memory --states 1e-300":                                        "write a count from 1",
		"plan memory --states NaNB":                                          "write a count from 1",
		"plan memory gpt3-13b --efficiency 50":                               "--efficiency: has no effect without --states",
		"plan memory gpt3-13b --tp=-8":                                       "--tp: -8 is out of range 1–1048576",
		"plan size gpt3-13b --tokens 1T --days NaN":                          "--days: NaN is out of range 0.001–1000000",
		"plan size gpt3-13b --tokens 1T --days Inf":                          "is out of range 0.001–1000000",
		"plan size gpt3-13b --tokens 1T --days 1e-300":                       "is out of range 0.001–1000000",
		"plan size gpt3-13b --tokens 1T --days 3 --weeks 1":                  "--days: has no effect with --weeks",
		"plan size gpt3-13b --tokens 1T --gpus 8 --utilisation 1e-300":       "--utilisation: 1e-300 is out of range 0.1–100",
		"plan size gpt3-13b --tokens 1T --gpus 8 --watts=-1":                 "is out of range",
		"plan size gpt3-13b --tokens 1T --gpus 8 --tflops 1e300":             "is out of range",
		"plan size gpt3-13b --tokens 1T --gpus 8 --price-kwh NaN":            "is out of range",
		"plan size --table 1 --days 3":                                       "--days: has no effect with --table",
		"plan size gpt3-13b --table 1":                                       "MODEL: has no effect with --table",
		"plan size gpt3-13b --tokens 1T --gpus 8 --tflops 9 --precision fp8": "--precision: has no effect with --tflops",
		"plan search gpt3-13b --fabric " + three + " --packets NaN":          "is out of range",
		"plan search gpt3-13b --fabric " + three + " --efficiency Inf":       "is out of range",
		"plan fabric --gpus 64 --force":                                      "--force: has no effect without --out",
		"plan fabric --gpus 64 --prices prices.json":                         "prices.json: byte",
		"plan fabric --prices-example --gpus 64":                             "--gpus: has no effect with --prices-example",
		"plan traffic " + three +
			" --force": "--force: has no effect without --plot or --parquet",
		"run " + three +
			" --capture-window 0us..1us": "--capture-window: has no effect without --capture",
		"topo " + three +
			" --dot --json": "--json: has no effect with --dot",
		"config lint x.cfg --set lb=spray": "--set: has no effect without --fabric",
		"config lint x.cfg --json --sarif": "--json: has no effect with --sarif",
		"config lint x.cfg --data-dscp 64": "--data-dscp: 64 is out of range 0–63",
		"report x --json --html x.html":    "--json: has no effect with --html",
		"report x --force":                 "--force: has no effect without --html or --png or --svg",
		"serve --port 99999":               "--port: 99999 is out of range 0–65535",
		"lab fail link a:Eth1 --loss NaN":  "--loss: NaN is out of range 0–100",
	} {
		code, out, errs := call(t, strings.Fields(args)...)
		if code != 2 || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, %q; want %q", args, code, out, errs, want)
		}
	}
}
