// Package render makes configurations from a scenario's plan. Design decides addresses and numbers of its switches,
// Hosts writes the scripts of its servers' NICs, Write writes all files below a folder, or none.
package render

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/unit"
)

// Configurable reports whether switch configurations express a routing.
func Configurable(lb *route.Policy) bool {
	return !route.Is[route.Steerer](lb) && !route.Is[route.Riser](lb) && !route.Is[route.Informed](lb) &&
		!route.Is[route.EVReader](lb)
}

// Design decides addresses and numbers for a plan's fabric.
func Design(p *scenario.Plan, file string, os swconf.OS, addressing, multihome, asic string) (*design.Design, error) {
	if multihome == "" {
		multihome = dialect.Multihome(os)
	}
	if p.Scheduled != nil {
		return nil, fmt.Errorf("fabric.scheduled: VOQs, credits and cells are internal to the ASICs and not part of a switch configuration; --set fabric.scheduled.on=false renders the switches without")
	}
	if route.Is[route.Steerer](p.LB) {
		return nil, fmt.Errorf("lb %s: no switch configuration selects the group that packets cross; --set lb=ecmp renders shortest paths", p.LB.Name)
	}
	if p.IPv6 {
		return nil, fmt.Errorf("fabric.ip 6: servers have IPv4 addresses here; --set fabric.ip=4 renders the same switches for them")
	}
	if route.Is[route.Riser](p.LB) || route.Is[route.Informed](p.LB) {
		return nil, fmt.Errorf("lb %s: no public syntax configures it; --set lb=ecmp renders shortest paths by hash, --set lb=dlb the least loaded of their ports", p.LB.Name)
	}
	if route.Is[route.EVReader](p.LB) {
		return nil, fmt.Errorf("lb %s: no public syntax selects a port by bits of a UDP port or flow label; --set lb=ecmp renders switches that hash them, --set transport.forwarding=srv6 paths in the packet", p.LB.Name)
	}
	carried := p.Default().Carried
	gap, _ := p.LBValues["flowlet_gap"].(unit.Time)
	return design.Make(design.Fabric{Name: scenariofile.Slug(p.Name, file), Graph: p.Graph,
		Spec: func(n int) queue.Spec { return *p.SpecOf(n) },
		LB:   p.LB.Name, DLB: p.LB.DLB, FlowletGap: gap, SameSeed: p.Base.SameSeed,
		DataDSCP: p.Default().DSCP, CNPDSCP: p.Default().CNPDSCP, Response: p.Switching.Response,
		// ports are a protocol's planes, and no bundles
		Apart: carried != nil, Segments: carried != nil && carried.Segments,
		Modes:    p.Modes,
		Pipeline: p.Switching.Pipeline, OS: os, ASIC: asic, Addressing: addressing, Multihome: multihome})
}

// Write writes files below a directory, each under a temporary name first.
// Without force nothing is written when one of them exists.
func Write(dir string, files []design.File, force bool) error {
	if a, b, clash := clashing(files); clash {
		return input.Fault(
			fmt.Errorf("%s and %s cannot both be written: rename the switch; nothing is written", a, b))
	}
	for _, f := range files {
		if !filepath.IsLocal(f.Path) {
			return input.Fault(fmt.Errorf("%q would lie outside %s: nothing is written", f.Path, dir))
		}
		if err := output.Inside(dir, f.Path); err != nil {
			return err
		}
		_, err := os.Lstat(filepath.Join(dir, f.Path))
		switch {
		case err == nil && !force:
			return input.Fault(fmt.Errorf("%s exists; --force replaces it", filepath.Join(dir, f.Path)))
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return input.Fault(err)
		}
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return input.Fault(err)
		}
		if err := output.WriteBytes(path, force, []byte(f.Text)); err != nil {
			return err
		}
	}
	return nil
}

// clashing finds two files of one name, or one whose name is another's folder: a switch
// called cabling.csv.
func clashing(files []design.File) (a, b string, clash bool) {
	folders, names := map[string]string{}, map[string]bool{}
	for _, f := range files {
		for d := filepath.Dir(f.Path); d != "."; d = filepath.Dir(d) {
			folders[d] = f.Path
		}
	}
	for _, f := range files {
		path := filepath.Clean(f.Path)
		if inside, ok := folders[path]; ok {
			return path, inside, true
		}
		if names[path] {
			return path, path, true
		}
		names[path] = true
	}
	return "", "", false
}
