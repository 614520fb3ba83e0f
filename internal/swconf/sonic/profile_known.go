package sonic

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/sheet"
	"railyard/internal/swconf"
)

// device is a device as a rule: runs of equal jacks, in the order of the front panel.
type device struct {
	Key      string
	Name     string // product and chip: Arista 7060X6-64PE, Tomahawk 5
	Platform string
	Model    string // the switch model in fabric.types.NAME.model
	Like     string // another with the same jacks
	Now      []string
	Jacks    []jackRun
}

// jackRun is a run of equal jacks. In labels # is the jack's index, @ the part's letter, % its number from 1, and ~ its
// first lane, from 1.
type jackRun struct {
	Ports, Each int    // number of ports, and of lanes in each
	Lanes       string // lanes of all, in order: 9-16 1-8
	First, Step int    // numbers of their names
	Index       int    // of the first
	Whole       string // label of an unsplit jack,
	Parts       string // and speed of a part
	Modes       []string
	Speed       int64 // speed of ports that cannot be broken out
	FEC         string
}

//go:embed hwskus.json
var knownData []byte

// devices are the devices whose ports are known without their files.
var devices, Devices = loadKnown()

func loadKnown() (list []device, sheets []sheet.Sheet) {
	sheets, err := sheet.Read(knownData)
	if err == nil {
		err = json.Unmarshal(knownData, &list)
	}
	if err != nil {
		panic(err) // the embedded table is wrong: our bug
	}
	for i := range list {
		if of := list[i].Like; of != "" {
			base := list[slices.IndexFunc(list, func(k device) bool { return k.Key == of })]
			list[i].Jacks, list[i].Platform = base.Jacks, base.Platform
		}
	}
	return list, sheets
}

// HwSKUs lists the names of devices whose ports are known.
func HwSKUs() (names []string) {
	for i := range devices {
		names = append(names, devices[i].Key)
	}
	return names
}

// Known returns a device by its hwsku, nil if it is unknown.
func Known(hwsku string) *Profile {
	i := slices.IndexFunc(devices, func(k device) bool { return strings.EqualFold(k.Key, hwsku) })
	if i < 0 {
		return nil
	}
	return devices[i].profile()
}

// OfModel returns the device of a switch model (site.Model's key), nil if unknown.
func OfModel(model string) *Profile {
	i := slices.IndexFunc(devices, func(k device) bool { return k.Model != "" && k.Model == model })
	if i < 0 {
		return nil
	}
	return devices[i].profile()
}

// Named returns a device by its hwsku, or an error with the known ones; path is the value's key.
func Named(path, hwsku string) (*Profile, error) {
	if p := Known(hwsku); p != nil {
		return p, nil
	}
	return nil, field.Choice(path, hwsku, HwSKUs(), "%s is an unknown device; name its port_config.ini, or its folder, with --profile", field.Quote(hwsku)).ListedBy("railyard models")
}

// profile spells the rule out.
func (k *device) profile() *Profile {
	p := &Profile{HwSKU: k.Key, Platform: k.Platform}
	_, p.Chip, _ = strings.Cut(k.Name, ", ")
	for i := range k.Jacks {
		r := &k.Jacks[i]
		lanes := spread(r.Lanes)
		for n := range r.Ports {
			c := Cage{Name: "Ethernet" + strconv.Itoa(r.First+n*r.Step), Index: r.Index + n}
			own := lanes[n*r.Each : (n+1)*r.Each]
			for _, text := range r.Modes {
				c.Modes = append(c.Modes, r.mode(&c, text, own))
			}
			if len(r.Modes) == 0 {
				c.Modes = []Mode{{Ports: []Outlet{{Name: c.Name, Alias: r.alias(r.Whole, c.Index, 0, 0),
					Lanes: own,
					Index: c.Index, Speed: r.Speed, Speeds: slower(r.Each, r.Speed), FEC: r.FEC}}}}
			} else {
				now := slices.Index(r.Modes, k.Now[i])
				c.Modes[0], c.Modes[now] = c.Modes[now], c.Modes[0]
				for j := range c.Modes[0].Ports {
					c.Modes[0].Ports[j].FEC = r.FEC
				}
			}
			p.Cages = append(p.Cages, c)
		}
	}
	return p
}

// mode returns a breakout of a jack.
func (r *jackRun) mode(c *Cage, text string, lanes []int) Mode {
	list, _ := parts(text, len(lanes)) // the table is checked by a test
	pattern, count := r.Whole, 0
	for _, x := range list {
		count += x.ports
	}
	if count > 1 {
		pattern = r.Parts
	}
	var names []string
	lane := 0
	for _, x := range list {
		for range x.ports {
			names = append(names, r.alias(pattern, c.Index, len(names), lane))
			lane += x.lanes / x.ports
		}
	}
	indexes := make([]int, len(lanes))
	for i := range indexes {
		indexes[i] = c.Index
	}
	return Mode{Text: text, Ports: broken(list, number(c.Name), lanes, indexes, names, swconf.Place{})}
}

// alias returns the label.
func (r *jackRun) alias(pattern string, index, part, lane int) string {
	return strings.NewReplacer("#", strconv.Itoa(index), "@", string(rune('a'+part)), "%",
		strconv.Itoa(part+1),
		"~", strconv.Itoa(lane+1)).Replace(pattern)
}

// spread writes out 9-16 1-8.
func spread(text string) (out []int) {
	for word := range strings.FieldsSeq(text) {
		a, b := 0, 0
		if n, _ := fmt.Sscanf(word, "%d-%d", &a, &b); n < 2 {
			b = a
		}
		for l := a; l <= b; l++ {
			out = append(out, l)
		}
	}
	return out
}
