package sonic

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/platform"
	"railyard/unit"
)

type parser struct {
	c     *swconf.Config
	root  *node
	ports map[string]*swconf.Port
	order map[string]int // order of ports in the file
	lost  int            // references to nothing

	model     string // dynamic buffer model, computed on first use
	switchMap *node  // DSCPs to traffic classes of ports without a map
}

// Parse reads a configuration.
func Parse(file string, text []byte) (*swconf.Config, error) {
	if err := cli.Check(file, text); err != nil {
		return nil, err
	}
	r := newReader(file, text)
	root, err := r.document()
	if err != nil {
		return nil, err
	}
	if several(root) {
		return r.asics(root)
	}
	if root, err = r.tabled(root); err != nil {
		return nil, err
	}
	return read(file, root)
}

// read interprets the tables of one database.
func read(file string, root *node) (*swconf.Config, error) {
	p := &parser{c: &swconf.Config{OS: swconf.SONiC, File: file, Bundling: bundling}, root: root,
		ports: map[string]*swconf.Port{}, order: map[string]int{}}
	if err := p.tables(); err != nil {
		return nil, err
	}
	p.metadata()
	p.readPorts()
	p.bundles()
	p.subs()
	p.vlans()
	p.tunnels()
	p.watchdog()
	p.resolve()
	p.c.Settle()
	p.hash()
	p.trimming()
	p.srv6()
	return p.c, p.c.Over()
}

func (p *parser) table(name string) *node { return p.root.get(name) }

// ref follows a reference and notes it. Old images write [TABLE|name].
func (p *parser) ref(table string, n *node) *node {
	if n == nil {
		return nil
	}
	name := plain(table, n.text)
	if name == "" || name == computed || p.elsewhere(table) {
		return nil // none, one created by SONiC, or one in another file
	}
	p.c.Use(table, name, n.at)
	to := p.table(table).get(name)
	if to == nil {
		p.lost++
	}
	return to
}

// elsewhere reports whether a table is in another file only: qos.json and buffers.json are parts of a configuration.
func (p *parser) elsewhere(table string) bool { return p.c.Part && p.table(table) == nil }

// plain is a reference without the brackets of old images.
func plain(table, text string) string {
	if name, ok := strings.CutPrefix(text, "["+table+"|"); ok && strings.HasSuffix(name, "]") {
		return name[:len(name)-1]
	}
	return text
}

func (p *parser) bad(n *node, format string, args ...any) {
	swconf.Report(p.c, n.at, swconf.Error, "bad-value", fmt.Sprintf(format, args...),
		"SONiC refuses the row or ignores the field", "write a value of the kind that the YANG model has")
}

// number parses an integer from 0 to max.
func (p *parser) number(row *node, field string, max int64) (int64, bool) {
	f := row.get(field)
	if f == nil {
		return 0, false
	}
	v, err := strconv.ParseInt(f.text, 10, 64)
	if err != nil || v < 0 || v > max {
		p.bad(f, "%s %q is not a whole number from 0 to %d", field, f.text, max)
		return 0, false
	}
	return v, true
}

// either reports whether a field has the first of two values; a third is a fault.
func (p *parser) either(n *node, field, yes, no string) bool {
	if n.text != yes && n.text != no {
		p.bad(n, "%s %q: %s or %s are accepted", field, n.text, no, yes)
	}
	return n.text == yes
}

const maxBytes = 1 << 40

func (p *parser) metadata() {
	c := p.c
	host := p.table("DEVICE_METADATA").get("localhost")
	if h := host.get("hostname"); h != nil {
		c.Hostname = swconf.Say(h.text, h.at)
	}
	if h := host.get("hwsku"); h != nil {
		c.HwSKU = swconf.Say(h.text, h.at)
	}
	c.LLDP.V = true
	if f := p.table("FEATURE").get("lldp").get("state"); f != nil {
		c.LLDP = swconf.Say(strings.HasSuffix(f.text, "enabled"), f.at)
	}
	p.bgp(host)
}

// values returns an object's members in their order.
func values(n *node) []*node {
	if !n.object() {
		return nil
	}
	return n.kids
}

func (p *parser) watchdog() {
	w := &p.c.Watchdog
	poll, _ := platform.Of("sonic", "").Number("watchdog_poll_s")
	w.Poll.V = unit.Time(poll * float64(unit.Second))
	table := p.table("PFC_WD")
	if table == nil {
		return
	}
	least, of := unit.Time(math.MaxInt64), ""
	for i, row := range values(table) {
		name := table.keys[i]
		if name == "GLOBAL" {
			if v, ok := p.number(row, "POLL_INTERVAL", 3000); ok {
				w.Poll = swconf.Say(unit.Time(v)*unit.Millisecond, row.get("POLL_INTERVAL").at)
			}
			continue
		}
		detect, ok1 := p.number(row, "detection_time", 5000)
		restore, ok2 := p.number(row, "restoration_time", 60000)
		if ok1 && detect < 100 || ok2 && restore < 100 {
			swconf.Report(p.c, row.at, swconf.Error, "watchdog-range",
				fmt.Sprintf("%s: watchdog times below 100 ms are not accepted", name),
				"pfcwd refuses the row", "detection_time 100 to 5000, restoration_time 100 to 60000")
		}
		if t := unit.Time(detect) * unit.Millisecond; ok1 && t < least {
			least, of = t, name+"'s detection_time"
		}
		if t := unit.Time(restore) * unit.Millisecond; ok2 && t < least {
			least, of = t, name+"'s restoration_time"
		}
		if !ok2 {
			restore = 2 * detect // the default of pfcwd start
		}
		if port := p.ports[name]; port != nil {
			port.Watchdog = swconf.Say(true, row.at)
		}
		if !w.On.Is() {
			w.On = swconf.Say(true, row.at)
			w.Detect = swconf.Say(unit.Time(detect)*unit.Millisecond, row.at)
			w.Restore = swconf.Say(unit.Time(restore)*unit.Millisecond, row.at)
			if a := row.str("action"); a == "forward" || a == "alert" {
				w.Forward = swconf.Say(true, row.get("action").at)
			}
		}
	}
	if w.Poll.Is() && w.Poll.V > least {
		swconf.Report(p.c, w.Poll.At, swconf.Error, "watchdog-range",
			fmt.Sprintf("polling every %v is longer than %s, %v", w.Poll.V, of, least),
			"pfcwd refuses such an interval: a storm may begin and end between two polls",
			fmt.Sprintf("a POLL_INTERVAL of at most %d", least/unit.Millisecond))
	}
}

// alpha is 2^n, as dynamic_th has it.
func alpha(n int64) float64 { return math.Pow(2, float64(n)) }
