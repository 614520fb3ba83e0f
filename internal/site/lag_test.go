package site

import (
	"fmt"
	"strings"
	"testing"
)

// The spines of the source's figure 13-8: 3.2 Tbit/s up from each rail switch, to each of four spines by a
// layer 3 port channel of two cables of 400G.
func TestChannelsOfRules(t *testing.T) {
	s := segment(func(*Type) {})
	s.Cables[1].Count, s.Cables[1].Lag, s.Cables[1].Min = 0, 2, 2
	g, err := s.Build(defaults)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(g.Inventory().Channels); got != "[{rail spine 2 800Gbps 2 8}]" {
		t.Error(got)
	}
	for want, edit := range map[string]func(r []Rule){
		"cables[1].count: 3 cables make no channels of 2": func(r []Rule) { r[1].Count, r[1].Lag = 3, 2 },
		"cables[1].min_links: 1 to 2, the members":        func(r []Rule) { r[1].Lag, r[1].Min = 2, 3 },
		"cables[1].min_links: is of a channel":            func(r []Rule) { r[1].Lag, r[1].Min = 0, 1 },
		"cables[0].lag: host is servers":                  func(r []Rule) { r[0].Lag = 2 },
		"cables[1].lag: a channel has 1 to 64":            func(r []Rule) { r[1].Lag = 65 },
		"cables[1].lag: share gives each end one":         func(r []Rule) { r[1].Lag, r[1].Share = 2, true },
	} {
		s := segment(func(*Type) {})
		s.Cables[1].Count, s.Cables[1].Min = 0, 0
		edit(s.Cables)
		if _, err := s.Build(defaults); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
