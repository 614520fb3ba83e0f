// Package devices finds the ports of switches that run SONiC: by the name of a hwsku, by a device's own files
// (port_config.ini, platform.json with hwsku.json, config_db.json), or by a name in a configuration. Choice.Fit gives a
// fabric's switches their ports.
package devices

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/sonic"
	"railyard/internal/topo"
	"railyard/unit"
)

// Choice selects the devices of switches that run SONiC, by the name of a hwsku or a device's own files, each prefixed
// by its switches: spine-*=ACS-SN5600.
type Choice struct {
	HwSKU   []string
	Profile []string
}

// device is the profile of the switches that one flag means.
type device struct {
	flag    string
	means   string // a switch's name, with * and ?, or a role; "" all
	profile *sonic.Profile
	used    bool
}

// Given reports whether flags select devices.
func (f *Choice) Given() bool { return len(f.HwSKU)+len(f.Profile) > 0 }

// Wanted reports whether the flags or the scenario select devices.
func (f *Choice) Wanted(g *topo.Graph) bool {
	return f.Given() || slices.ContainsFunc(g.Nodes, func(n topo.Node) bool { return n.HwSKU != "" })
}

// chosen is the prefix of a flag's value.
var chosen = regexp.MustCompile(`^([A-Za-z0-9_.*?-]+)=(.+)$`)

// devices reads the devices in the flags.
func (f *Choice) devices() (list []device, err error) {
	add := func(flag, value string, read func(flag, value string) (*sonic.Profile, error)) {
		d := device{flag: flag + " " + field.Clip(value)}
		if m := chosen.FindStringSubmatch(value); m != nil {
			d.means, value = m[1], m[2]
		}
		if err == nil {
			d.profile, err = read(flag, value)
		}
		list = append(list, d)
	}
	for _, v := range f.HwSKU {
		add("--hwsku", v, sonic.Named)
	}
	for _, v := range f.Profile {
		add("--profile", v, func(_, v string) (*sonic.Profile, error) { return readProfile(v) })
	}
	return list, err
}

// Fit gives the fabric's switches the ports of their devices: from flags, the most specific first, else from their type
// or their model.
func (f *Choice) Fit(g *topo.Graph) error {
	list, err := f.devices()
	if err != nil {
		return input.Fault(err)
	}
	rank := func(d *device, n *topo.Node) int {
		glob, _ := path.Match(d.means, n.Name)
		role, bad := topo.ParseRole(d.means)
		switch {
		case d.means == "":
			return 1
		case d.means == n.Name:
			return 4
		case glob:
			return 3
		case bad == nil && role == n.Role:
			return 2
		}
		return 0
	}
	err = sonic.Fit(g, func(node int) *sonic.Profile {
		n := &g.Nodes[node]
		var best *device
		most := 0
		for i := range list {
			r := rank(&list[i], n)
			list[i].used = list[i].used || r > 0
			if r > 0 && r >= most { // the last of two equally specific rules counts
				best, most = &list[i], r
			}
		}
		switch {
		case best != nil:
			return best.profile
		case n.HwSKU != "":
			return sonic.Known(n.HwSKU) // the scenario selects it
		case n.Panel != nil && n.Panel.Device != nil:
			return nil
		case n.Panel != nil:
			return sonic.OfModel(n.Panel.Model)
		}
		return nil
	})
	if err != nil {
		return input.Fault(err)
	}
	for _, d := range list {
		if !d.used {
			return input.Fault(field.Choice(d.flag, d.means, switchNames(g), "no switch is called so, nor is of that role").ListedBy("railyard topo SCENARIO --cables"))
		}
	}
	return nil
}

// FitTexts gives switches the ports of the device that their configuration names, or the configured ports if ports
// share an index because of breakouts. Mismatches are left to lint's findings about ports.
func FitTexts(g *topo.Graph, configs []*swconf.Config) error {
	of := map[int]*sonic.Profile{}
	for _, c := range configs {
		node := g.Node(c.Name())
		if c.OS != swconf.SONiC || node < 0 || g.Nodes[node].Panel != nil {
			continue
		}
		if p := sonic.Known(c.HwSKU.V); p != nil {
			of[node] = p
		} else if broken(c) {
			text, err := input.Text(c.File, cli.MaxSize)
			if err != nil {
				return input.Fault(err)
			}
			of[node], _ = sonic.Running(c.File, text) // lint has reported its errors
		}
	}
	if len(of) > 0 {
		sonic.Try(g, func(node int) *sonic.Profile { return of[node] })
	}
	return nil
}

// broken reports whether two ports of a configuration have one index.
func broken(c *swconf.Config) bool {
	seen := map[int]bool{}
	for _, p := range c.Ports {
		if p.Number > 0 && seen[p.Number] {
			return true
		}
		seen[p.Number] = true
	}
	return false
}

// switchNames are a fabric's switches.
func switchNames(g *topo.Graph) (names []string) {
	for _, n := range g.Nodes {
		if n.Role != topo.Host {
			names = append(names, n.Name)
		}
	}
	return names
}

// readProfile reads a device's file, or the files of its directory: a hwsku's, or a platform's, whose file default_sku
// names one.
func readProfile(at string) (*sonic.Profile, error) {
	info, err := os.Stat(at)
	if err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	if !info.IsDir() {
		return profileFile(at)
	}
	list, sku := filepath.Join(at, "port_config.ini"), filepath.Join(at, "hwsku.json")
	if there(filepath.Join(at, "default_sku")) {
		return defaultSKU(at)
	}
	abs, err := filepath.Abs(at)
	if err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	all := filepath.Join(at, "platform.json")
	platform := filepath.Base(abs)
	if !there(all) {
		all, platform = filepath.Join(filepath.Dir(abs), "platform.json"), filepath.Base(filepath.Dir(abs))
	}
	var p *sonic.Profile
	switch {
	case there(sku) && there(all) && hasPorts(all):
		p, err = platformFiles(all, sku)
	case there(list):
		p, err = profileFile(list)
	case there(filepath.Join(at, "config_db.json")):
		return profileFile(filepath.Join(at, "config_db.json"))
	default:
		return nil, fmt.Errorf("--profile: %s has no port_config.ini, no hwsku.json next to or below a platform.json, no default_sku and no config_db.json%s", at, skusBelow(at))
	}
	if err != nil {
		return nil, err
	}
	if p.HwSKU = filepath.Base(abs); platformName.MatchString(platform) {
		p.Platform = platform
	}
	return p, nil
}

// platformName is SONiC's form of platform names.
var platformName = regexp.MustCompile(`^(x86_64|arm64|armhf|aarch64)-[\w.-]+$`)

// defaultSKU reads the hwsku that a platform's folder names.
func defaultSKU(at string) (*sonic.Profile, error) {
	file := filepath.Join(at, "default_sku")
	b, err := input.Read(file, 1<<12)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(string(b))
	if len(words) == 0 || !filepath.IsLocal(words[0]) || !there(filepath.Join(at, words[0])) {
		return nil, fmt.Errorf("%s names no folder next to it; accepted: the name of a hwsku and of a topology, as in ACS-SN5600 t1%s", file, skusBelow(at))
	}
	return readProfile(filepath.Join(at, words[0]))
}

// skusBelow lists the subdirectories of a platform that are a hwsku's.
func skusBelow(at string) string {
	lists, _ := filepath.Glob(filepath.Join(at, "*", "port_config.ini"))
	skus, _ := filepath.Glob(filepath.Join(at, "*", "hwsku.json"))
	var names []string
	for _, f := range slices.Sorted(slices.Values(append(lists, skus...))) {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	if names = slices.Compact(names); len(names) == 0 {
		return ""
	}
	return "; below it lie " + strings.Join(names, ", ")
}

func there(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, fs.ErrNotExist)
}

// hasPorts reports whether a platform.json has ports: files of older devices describe only fans, and their list of
// ports applies.
func hasPorts(file string) bool {
	b, err := input.Read(file, sonic.ProfileBytes)
	return err != nil || sonic.HasPorts(file, b)
}

func platformFiles(all, sku string) (*sonic.Profile, error) {
	a, err := input.Text(all, sonic.ProfileBytes)
	if err != nil {
		return nil, err
	}
	b, err := input.Text(sku, sonic.ProfileBytes)
	if err != nil {
		return nil, err
	}
	return sonic.Platform(all, a, sku, b)
}

// profileFile reads one file: JSON is a platform.json, with hwsku.json next to it, or a config_db.json.
func profileFile(file string) (*sonic.Profile, error) {
	text, err := input.Text(file, sonic.ProfileBytes)
	if err != nil {
		return nil, err
	}
	json := strings.HasPrefix(strings.TrimSpace(string(text[:min(len(text), 1<<12)])), "{")
	if !json {
		p, err := sonic.PortConfig(file, text)
		if err == nil {
			named(p, filepath.Dir(file))
		}
		return p, err
	}
	if !sonic.HasPorts(file, text) {
		return sonic.Running(file, text)
	}
	all, sku := file, filepath.Join(filepath.Dir(file), "hwsku.json")
	if filepath.Base(file) == "hwsku.json" {
		all, sku = filepath.Join(filepath.Dir(file), "platform.json"), file
		if !there(all) {
			all = filepath.Join(filepath.Dir(filepath.Dir(file)), "platform.json")
		}
	}
	if !there(sku) || !there(all) {
		return nil, fmt.Errorf("%s: platform.json contains possible port modes, hwsku.json the configured ones: both are needed, in one folder or hwsku.json in one below%s", file, skusBelow(filepath.Dir(file)))
	}
	p, err := platformFiles(all, sku)
	if err == nil {
		named(p, filepath.Dir(sku))
	}
	return p, err
}

// named derives hwsku and platform from the directory of a file, in SONiC's layout.
func named(p *sonic.Profile, dir string) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return
	}
	if parent := filepath.Base(filepath.Dir(abs)); platformName.MatchString(parent) {
		p.HwSKU, p.Platform = filepath.Base(abs), parent
	}
}

// BrokenOut describes the breakouts of switches' jacks for their cables.
func BrokenOut(g *topo.Graph) (notes []string) {
	jacks := make([]map[string]map[string]bool, len(g.Nodes)) // by switch and mode
	for i := range g.Links {
		for _, node := range []int{g.Links[i].A, g.Links[i].B} {
			s, ok := g.Nodes[node].Panel.Socket(g.Jack(i, node))
			if !ok || s.Sub == 0 || s.Mode == "" {
				continue
			}
			if jacks[node] == nil {
				jacks[node] = map[string]map[string]bool{}
			}
			if jacks[node][s.Mode] == nil {
				jacks[node][s.Mode] = map[string]bool{}
			}
			jacks[node][s.Mode][s.Cage] = true
		}
	}
	first, count, order := map[string]string{}, map[string]int{}, []string{}
	for node, modes := range jacks {
		var words []string
		for mode, cages := range modes {
			words = append(words, fmt.Sprintf("%s broken out into %s", unit.Plural(len(cages), "jack"), mode))
		}
		if len(words) == 0 {
			continue
		}
		slices.Sort(words)
		n := &g.Nodes[node]
		w := n.Panel.Device.From + ": " + strings.Join(words, ", ")
		if count[w]++; count[w] == 1 {
			first[w] = n.Name
			order = append(order, w)
		}
	}
	for _, w := range order {
		verb := " is "
		if n := count[w] - 1; n > 0 {
			verb = fmt.Sprintf(" and %d more are ", n)
		}
		notes = append(notes, first[w]+verb+w)
	}
	return notes
}

// Words are the flags as they were given.
func (f *Choice) Words() (s string) {
	for _, v := range f.HwSKU {
		s += " --hwsku " + v
	}
	for _, v := range f.Profile {
		s += " --profile " + v
	}
	return s
}
