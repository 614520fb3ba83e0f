package recognise

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/field"
	"railyard/internal/site"
	"railyard/internal/topo"
	"railyard/unit"
)

// switchModel returns the type key of a switch model in an inventory; "" if none is named or known.
func (f *finder) switchModel(n int) string {
	if text := f.c.Nodes[n].Model; text != "" {
		return site.Called(text)
	}
	return ""
}

// serverModel is the same of a server.
func (f *finder) serverModel(n int) *site.Server {
	if text := f.c.Nodes[n].Model; text != "" {
		return site.ServerCalled(text)
	}
	return nil
}

// models keeps the switch models whose ports suffice for the cabling, and lists the rest in an inventory. Ports
// named as whole ones are whole.
func (f *finder) models() {
	types, wanted := f.out.Site.Types, []string(nil)
	for i := range types {
		wanted = append(wanted, types[i].Model)
		types[i].Model = ""
	}
	f.build() // without rules that connect nothing; the caller reports other errors
	for i := range types {
		t := &types[i]
		if t.Model = wanted[i]; t.Model == "" {
			continue
		}
		if _, err := f.holds(); err != nil {
			f.note("%s: %s has no room for what is cabled, and is left out: %s", t.Name, t.Model,
				field.All(err)[0].Msg)
			t.Model = ""
			continue
		}
		f.whole(t)
	}
	unknown := map[string]int{}
	var names []string
	for n, x := range f.c.Nodes {
		if x.Model == "" || f.gone[n] || f.switchModel(n) != "" || f.serverModel(n) != nil {
			continue
		}
		name := fmt.Sprintf("%s (%s)", x.Model, f.kind[n])
		if unknown[name]++; unknown[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%d of %s", unknown[name], name)
	}
	if len(names) > 0 {
		slices.Sort(names)
		f.note("unknown models (railyard models): %s; their number of ports is unknown",
			strings.Join(names, ", "))
	}
}

// holds builds the description in its current form.
func (f *finder) holds() (*topo.Graph, error) {
	return f.out.Site.Build(site.Defaults{Host: f.out.Host, Fabric: f.out.Fabric})
}

// whole assumes unsplit ports if more port names then match the source.
func (f *finder) whole(t *site.Type) {
	count := func() int {
		g, err := f.holds()
		if err != nil {
			return -1
		}
		_, same := f.keptIn(cabling.Of(g))
		return same
	}
	broken := count()
	if t.Split = 1; count() <= broken {
		t.Split = 0
	}
}

// modelled notes the components that servers have because of their model.
func (f *finder) modelled() {
	told := map[string]int{}
	var names []string
	for n := range f.c.Nodes {
		s := f.serverModel(n)
		if s == nil || f.gone[n] || f.kind[n] != cabling.Server || f.c.Nodes[n].GPUs >= 0 || f.o.GPUs > 0 {
			continue
		}
		if told[s.Name]++; told[s.Name] == 1 {
			names = append(names, s.Name)
		}
	}
	for _, name := range names {
		f.note("%s: GPUs are those of the model, %s", unit.Plural(told[name], "server"), name)
	}
}
