package param

import (
	"reflect"
	"testing"

	"railyard/unit"
)

type shared struct {
	Gap unit.Time `yaml:"gap" range:"0|1us,1s" default:"5us" doc:"between probes; 0s: none"`
}

type knobs struct {
	shared
	Gain  float64    `yaml:"gain" range:"0.1,0.9" default:"0.5" doc:"of the mean"`
	Tag   int        `yaml:"tag" of:"0, 4, 8" default:"4" doc:"bytes"`
	Ever  bool       `yaml:"ever" default:"true" doc:"or never" by:"simulated"`
	Floor unit.Rate  `yaml:"floor" range:"1Mbps,1Tbps" default:"2Gbps" doc:"least" at:"line"`
	Limit unit.Bytes `yaml:"limit" range:"1KB,1MB" default:"2KB" doc:"most" unless:"ever"`
	other int
}

// A struct's tags are its parameters, and its values go to a table of names and back.
func TestStruct(t *testing.T) {
	table := In[knobs]()
	want := []Param{{Name: "gap", Doc: "between probes; 0s: none", Kind: Duration, Min: "1us", Max: "1s", Zero: true},
		{Name: "gain", Doc: "of the mean", Kind: Number, Min: "0.1", Max: "0.9"},
		{Name: "tag", Doc: "bytes", Kind: Count, Of: "0, 4, 8"},
		{Name: "ever", Doc: "or never", Kind: Flag, Simulated: true},
		{Name: "floor", Doc: "least", Kind: Speed, Min: "1Mbps", Max: "1Tbps", Line: true},
		{Name: "limit", Doc: "most", Kind: Size, Min: "1KB", Max: "1MB", Unless: "ever"}}
	if got := table.Params(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	v := table.Defaults()
	if err := v.Fits(table.Params()); err != nil {
		t.Error(err)
	}
	s := table.Read(v)
	if s != (knobs{shared{5 * unit.Microsecond}, 0.5, 4, true, 2 * unit.Gbps, 2 * unit.KB, 0}) {
		t.Errorf("%+v", s)
	}
	if again := table.Values(s); !reflect.DeepEqual(again, v) {
		t.Errorf("%v, want %v", again, v)
	}
	delete(v, "gain")
	defer func() {
		if recover() == nil {
			t.Error("a value is missing and nobody said so")
		}
	}()
	table.Read(v)
}
