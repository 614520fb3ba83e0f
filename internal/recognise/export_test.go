package recognise

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/cabling"
	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/topo"

	"pgregory.net/rapid"
)

// exports are the files in which we write a fabric: Graphviz always, the list of cables and
// containerlab where it can be configured, Slurm's topology where there is one switch to hang off.
func exports(g *topo.Graph) []cabling.File {
	out := []cabling.File{{Name: "fabric.dot", Text: []byte(g.Dot())}}
	d, err := design.Make(design.Fabric{Name: "x", Graph: g, DataDSCP: 24, CNPDSCP: 48, OS: swconf.NXOS,
		Spec: func(int) queue.Spec { return queue.Default() }, Addressing: design.Unnumbered,
		Multihome: design.MLAG})
	if err != nil {
		return out
	}
	plans, err := d.Plans()
	if err != nil {
		return out
	}
	one := g.Kind == "single-rail" && len(g.NICs) == len(g.Hosts) // all that Slurm's tree can say
	for _, f := range plans {
		if f.Path == "cabling.csv" || f.Path == "fabric.clab.yml" || f.Path == "topology.conf" && one {
			out = append(out, cabling.File{Name: f.Path, Text: []byte(f.Text)})
		}
	}
	return out
}

// A random fabric of any kind, written out and read again, is the same one, and so is the
// description that is found of it.
func TestExportsComeBack(t *testing.T) {
	both := 0
	rapid.Check(t, func(t *rapid.T) {
		g := drawFabric(t)
		want := cabling.Of(g)
		files := exports(g)
		if len(files) >= 3 {
			both++
		}
		for _, f := range files {
			c, err := cabling.Read([]cabling.File{f}, "")
			if err == nil {
				err = c.Err()
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", f.Name, err, f.Text)
			}
			lengths := f.Name == "cabling.csv"
			rates := lengths || f.Name == "fabric.dot"
			if diff := cabling.Same(want, c, rates, lengths); diff != "" {
				t.Fatalf("%s: %s\n%s", f.Name, diff, f.Text)
			}
			found, err := Recognise(c, Options{})
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			if diff := cabling.Same(want, cabling.Of(found.Graph), rates, lengths); diff != "" {
				t.Fatalf("%s: %s", f.Name, diff)
			}
		}
	})
	if both < 20 {
		t.Errorf("%d fabrics were written in every format", both)
	}
}

// Slurm's tree says all there is to say of servers with one NIC at one switch.
func TestTreeComesBack(t *testing.T) {
	g, err := topo.Build("single-rail", topo.Params{Server: topo.Server{GPUs: 1, NICs: 1, Ports: 1},
		Hosts:    12,
		Segments: 1, HostCable: hostCable, Fabric: fabricCable})
	if err != nil {
		t.Fatal(err)
	}
	files := exports(g)
	c, err := cabling.Read(files[len(files)-1:], "slurm")
	if err != nil {
		t.Fatal(files[len(files)-1].Name, err)
	}
	if diff := cabling.Same(cabling.Of(g), c, false, false); diff != "" {
		t.Error(diff)
	}
}

// FuzzRecognise gives it whatever a reader makes of a text: an answer, or an error that is the
// input's.
func FuzzRecognise(f *testing.F) {
	all, err := filepath.Glob("../cabling/testdata/*/*")
	if err != nil || len(all) < 10 {
		f.Fatal(err, all)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		s := string(text)
		f.Add(s)
		for i := 11; i < len(s); i += 67 {
			f.Add(s[:i] + s[i+1:])
			f.Add(strings.Replace(s, s[i:i+1], "7", 3))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4000 {
			return
		}
		c, err := cabling.Read([]cabling.File{{Name: "leaf-1.txt", Text: []byte(text)}}, "")
		if err != nil || c.Err() != nil || len(c.Nodes) > 500 || len(c.Cables) > 2000 {
			return
		}
		_, err = Recognise(c, Options{})
		var bad *field.Error
		if err != nil && (!errors.As(err, &bad) || strings.Contains(err.Error(), "a bug of Railyard")) {
			t.Fatal(err)
		}
	})
}
