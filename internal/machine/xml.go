package machine

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// device is an element of the XML: a CPU, or a device below it.
type device struct {
	kind      string // cpu, pci
	bus       string
	parent    int // of devices; -1
	depth     int
	link      unit.Rate // payload of the PCIe link to the parent; 0: unknown
	vendor    string    // of a CPU
	family    int
	model     int
	class     string
	gpu, sm   int // dev of a GPU, below 0: unknown
	isGPU     bool
	nets      []net
	hasNIC    bool
	nvlinks   []peer
	line, col int
}

// net is a port of a NIC.
type net struct {
	name string
	dev  int
	rate unit.Rate
}

// peer is NVLinks to one place.
type peer struct {
	target    string
	count     int
	through   bool
	line, col int
}

// xmlReader walks NCCL's XML (src/graph/xml.cc): system, then cpu, then pci within pci with gpu and nic in them,
// nvlink in gpu and net in nic. Unknown elements are ignored.
type xmlReader struct {
	file    string
	text    []byte
	dec     *xml.Decoder
	devices []device
	hosts   map[string]bool
	taken   map[string]int // by busid: the line
	system  bool
	counted int // position in the file up to which lines have been counted
	lines   int
}

// maxDepth bounds the nesting of elements, and maxDevices their number.
const maxDepth, maxDevices = 64, 10_000

func readXML(file string, text []byte) (*Server, error) {
	r := &xmlReader{file: file, text: text, dec: xml.NewDecoder(bytes.NewReader(text)),
		hosts: map[string]bool{}, taken: map[string]int{}}
	if err := r.walk(); err != nil {
		return nil, err
	}
	return r.server()
}

func (r *xmlReader) fail(line, col int, format string, args ...any) error {
	return &field.Error{File: r.file, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// walk reads all elements.
func (r *xmlReader) walk() error {
	at, last := []int{-1}, -1 // by open element: the device that contains it
	for {
		tok, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			if !r.system {
				return r.fail(0, 0, "holds no <system>, expected NCCL's topology")
			}
			return nil
		}
		if err != nil {
			line, col := r.dec.InputPos()
			var s *xml.SyntaxError
			if errors.As(err, &s) {
				return r.fail(line, col, "is not XML: %s", s.Msg)
			}
			return r.fail(line, col, "is not XML: %v", err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			line, col := r.place()
			if len(at) > maxDepth || len(r.devices) >= maxDevices {
				return r.fail(line, col, "has more than %d levels or %d devices", maxDepth, maxDevices)
			}
			if last, err = r.open(t, at[len(at)-1], line, col); err != nil {
				return err
			}
			at = append(at, last)
		case xml.EndElement:
			at = at[:len(at)-1]
		}
	}
}

// place returns line and column of the element that was read last.
func (r *xmlReader) place() (line, col int) {
	start := max(0, bytes.LastIndexByte(r.text[:r.dec.InputOffset()], '<'))
	r.lines += bytes.Count(r.text[r.counted:start], []byte("\n"))
	r.counted = start
	return r.lines + 1, start - bytes.LastIndexByte(r.text[:start], '\n')
}

// attributes are an element's.
type attributes map[string]string

// number returns the value of an attribute, or a default if it is missing.
func (r *xmlReader) number(a attributes, key string, without, line, col int) (int, error) {
	text, said := a[key]
	if !said || text == "" {
		return without, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 0, 32)
	if err != nil {
		return 0, r.fail(line, col, "%s=%s is not a number", key, field.Quote(text))
	}
	return int(n), nil
}

// open parses an element and returns the device of its contents.
func (r *xmlReader) open(t xml.StartElement, in, line, col int) (int, error) {
	a := attributes{}
	for _, x := range t.Attr {
		a[x.Name.Local] = x.Value
	}
	name := t.Name.Local
	if name != "system" && !r.system {
		return in, r.fail(line, col, "begins with <%s>, expected <system> of NCCL's topology", name)
	}
	var err error
	num := func(key string, without int) (n int) {
		if err == nil {
			n, err = r.number(a, key, without, line, col)
		}
		return n
	}
	switch name {
	case "system":
		r.system = true
		if v := num("version", 1); err == nil && v != 1 {
			return in, r.fail(line, col, "version %d of NCCL's topology is not known, only 1", v)
		}
	case "cpu", "pci":
		if in >= 0 && name == "cpu" || in < 0 && name == "pci" {
			return in, r.fail(line, col, "<%s> is in a wrong place: pci is in cpu, or in pci", name)
		}
		d := device{kind: name, bus: a["busid"], parent: in, vendor: a["vendor"], class: a["class"], gpu: -1,
			link: lanes(a["link_speed"], a["link_width"]), family: num("familyid", 0),
			model: num("modelid", 0), line: line, col: col}
		if in >= 0 {
			d.depth = r.devices[in].depth + 1
		}
		bus := strings.ToLower(d.bus)
		if at, met := r.taken[bus]; met && name == "pci" && bus != "" {
			return in, r.fail(line, col, "busid=%s is that of the <pci> in line %d as well: a device has an address of its own", field.Quote(d.bus), at)
		} else if name == "pci" {
			r.taken[bus] = line
		}
		if h := a["host_hash"]; h != "" && name == "cpu" {
			if r.hosts[h] = true; len(r.hosts) > 1 {
				return in, r.fail(line, col, "describes several servers: keep the <cpu> of one host_hash")
			}
		}
		r.devices = append(r.devices, d)
		return len(r.devices) - 1, err
	case "gpu", "nic", "net", "nvlink", "xgmi", "c2c":
		if in < 0 {
			return in, r.fail(line, col, "<%s> is in no <pci> or <cpu>", name)
		}
		if wrong := r.part(name, a, &r.devices[in], num, line, col); err == nil {
			err = wrong
		}
	}
	return in, err
}

// part parses a component of a device.
func (r *xmlReader) part(name string, a attributes, d *device, num func(string, int) int, line, col int) error {
	switch name {
	case "gpu":
		if d.isGPU {
			return r.fail(line, col, "a second GPU of one <pci>")
		}
		d.isGPU, d.gpu, d.sm = true, num("dev", -1), num("sm", 0)
	case "nic":
		d.hasNIC = true
	case "net":
		n := net{a["name"], num("dev", -1), unit.Rate(num("speed", 0)) * unit.Mbps}
		if n.rate < 0 || n.rate > 100*unit.Tbps {
			return r.fail(line, col, "speed=%s is not a rate in Mbit/s", field.Quote(a["speed"]))
		}
		d.nets = append(d.nets, n)
	case "nvlink", "xgmi":
		p := peer{strings.ToLower(a["target"]), num("count", 1), strings.HasPrefix(a["tclass"], "0x0680"), line, col}
		if p.count < 1 || p.count > 1024 {
			return r.fail(line, col, "count=%s is not a number of links", field.Quote(a["count"]))
		}
		d.nvlinks = append(d.nvlinks, p)
	case "c2c":
		// The GPU is a chip on the CPU's module: its traffic does not use the PCIe link in the XML.
		if n, bw := num("count", 0), num("bw", 0); n > 0 && bw > 0 && n < 1024 {
			d.link = unit.Rate(n) * unit.Rate(bw) * 8 * unit.Mbps
		}
	}
	return nil
}

// lanes returns the payload rate of a PCIe link, in packets of 256 bytes, the maximum that servers use. Up to 16
// GT/s each packet has 24 bytes around it, and 128 of 130 bits are data (8 of 10 up to 5 GT/s). This follows the
// PCIe base specification and Neugebauer et al., SIGCOMM 2018. At 64 GT/s, 236 of 256 bytes of a flit carry
// packets, with 16 bytes around each. Credits and acknowledgements are left out.
func lanes(speed, width string) unit.Rate {
	number, rest, _ := strings.Cut(strings.TrimSpace(speed), " ")
	gts, err := strconv.ParseFloat(number, 64)
	n, bad := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(width), "x"))
	if err != nil || bad != nil || n < 1 || n > 32 || !strings.HasPrefix(rest, "GT/s") {
		return 0
	}
	share := 0.0
	switch gts {
	case 2.5, 5:
		share = 0.8 * 256 / 280
	case 8, 16, 32:
		share = 128. / 130 * 256 / 280
	case 64:
		share = 236. / 256 * 256 / 272
	}
	return unit.Rate(gts*share*float64(n)*1000) * unit.Mbps
}

// between returns the bandwidth between CPUs, as NCCL estimates it (src/graph/topo.h), in GB/s.
func between(c *device) unit.Rate {
	gbytes := 10 // Skylake, and unknown models
	switch {
	case c.vendor == "AuthenticAMD" && (c.family == 175 || c.family == 25): // Zen 3 and 4
		gbytes = 24
	case c.vendor == "AuthenticAMD" && (c.family == 191 || c.family == 26): // Zen 5
		gbytes = 32
	case c.vendor == "AuthenticAMD":
		gbytes = 16
	case c.vendor == "GenuineIntel" && c.model == 0xcf: // Emerald Rapids
		gbytes = 40
	case c.vendor == "GenuineIntel" && c.model == 0x8f: // Sapphire Rapids
		gbytes = 22
	case c.vendor == "GenuineIntel" && c.model == 0x4f: // Broadwell
		gbytes = 6
	}
	return unit.Rate(gbytes*8) * unit.Gbps
}

// card is a NIC's port and the device that has it.
type card struct {
	net
	at int
}

// server makes a server of the devices.
func (r *xmlReader) server() (*Server, error) {
	s := &Server{Format: "NCCL topology"}
	var gpus []int
	var cards []card
	for i := range r.devices {
		d := &r.devices[i]
		switch {
		case d.isGPU || strings.HasPrefix(d.class, "0x03"):
			gpus = append(gpus, i)
			if s.SM = max(s.SM, d.sm); d.sm != 0 && d.sm != s.SM {
				return nil, r.fail(d.line, d.col, "sm %d, and another GPU %d: a server has GPUs of one kind",
					d.sm, s.SM)
			}
		case len(d.nets) > 0:
			for _, n := range d.nets {
				cards = append(cards, card{n, i})
			}
		case d.hasNIC || strings.HasPrefix(d.class, "0x02"):
			cards = append(cards, card{net{name: d.bus, dev: -1}, i})
		}
	}
	switch {
	case len(gpus) == 0:
		return nil, r.fail(0, 0, "has no GPU: neither <gpu> nor a <pci> of class 0x03; where NCCL fills in the rest, take what it dumps (NCCL_TOPO_DUMP_FILE)")
	case len(cards) == 0:
		return nil, r.fail(0, 0, "has no NIC: neither <net> nor a <pci> of class 0x02")
	case len(gpus) > MaxGPUs || len(cards) > MaxNICs:
		return nil, r.fail(0, 0, "has %s and %s; at most %d and %d are taken", unit.Plural(len(gpus), "GPU"),
			unit.Plural(len(cards), "NIC"), MaxGPUs, MaxNICs)
	}
	slices.SortStableFunc(gpus, func(a, b int) int {
		x, y := &r.devices[a], &r.devices[b]
		return order(x.gpu, y.gpu, x.bus, y.bus)
	})
	slices.SortStableFunc(cards, func(a, b card) int {
		return order(a.dev, b.dev, r.devices[a.at].bus, r.devices[b.at].bus)
	})
	if err := r.join(s, gpus); err != nil {
		return nil, err
	}
	var all []NIC
	near := make([][]Near, len(gpus))
	for _, c := range cards {
		all = append(all, NIC{c.name, c.rate, c.at})
	}
	for i, g := range gpus {
		s.GPUs = append(s.GPUs, fmt.Sprintf("GPU%d", i))
		for _, c := range cards {
			near[i] = append(near[i], r.near(g, c.at))
		}
	}
	s.settle(all, near)
	r.buses(s, gpus)
	return s, nil
}

// order compares two devices by number if both have one, else by address.
func order(a, b int, x, y string) int {
	if a >= 0 && b >= 0 && a != b {
		return a - b
	}
	return strings.Compare(strings.ToLower(x), strings.ToLower(y))
}

// up lists a device and its ancestors, up to its CPU.
func (r *xmlReader) up(i int) (all []int) {
	for ; i >= 0; i = r.devices[i].parent {
		all = append(all, i)
	}
	return all
}

// way returns the path of a transfer: the devices whose links to their parents it uses, the CPUs that it crosses,
// and the highest device, -1 between CPUs.
func (r *xmlReader) way(a, b int) (links, cpus []int, turn int) {
	x, y := r.up(a), r.up(b)
	turn = -1
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		turn = x[len(x)-1]
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	for _, d := range append(x, y...) {
		if r.devices[d].kind == "cpu" {
			cpus = append(cpus, d)
		} else {
			links = append(links, d)
		}
	}
	return links, cpus, turn
}

// near returns the distance between a NIC and a GPU.
func (r *xmlReader) near(gpu, nic int) Near {
	links, _, turn := r.way(gpu, nic)
	switch {
	case turn < 0:
		return SYS
	case r.devices[turn].kind == "cpu":
		return PHB
	case len(links) <= 2:
		return PIX
	}
	return PXB
}

// buses finds the PCIe links that all traffic of some NICs takes.
func (r *xmlReader) buses(s *Server, gpus []int) {
	takes := map[int][]int{}
	for n := range s.NICs {
		common, users := map[int]int{}, 0
		for g, uses := range s.Uses {
			if !slices.Contains(uses, n) {
				continue
			}
			users++
			links, cpus, _ := r.way(gpus[g], s.NICs[n].at)
			for _, d := range append(links, cpus...) {
				common[d]++
			}
		}
		for d, k := range common {
			if k == users {
				takes[d] = append(takes[d], n)
			}
		}
	}
	for d := range r.devices {
		rate := r.devices[d].link
		if r.devices[d].kind == "cpu" {
			rate = between(&r.devices[d])
		}
		if nics := takes[d]; rate > 0 && len(nics) > 0 {
			s.Buses = append(s.Buses, Bus{rate, nics})
		}
	}
}

// join determines the links of the GPUs: NVLinks to a switch or to one another, else PCIe.
func (r *xmlReader) join(s *Server, gpus []int) error {
	place := map[string]int{}
	for i, g := range gpus {
		place[strings.ToLower(r.devices[g].bus)] = i
	}
	said := false
	links := make([][]int, len(gpus))
	for i, g := range gpus {
		links[i] = make([]int, len(gpus))
		for _, p := range r.devices[g].nvlinks {
			said = true
			k, known := place[p.target]
			switch {
			case p.through:
				s.through = true
				for other := range gpus {
					links[i][other] += p.count
				}
			case known && k != i:
				links[i][k] += p.count
			case known: // in Azure's NCv4 the virtual machine hides their far ends
				s.Notes = append(s.Notes, fmt.Sprintf("line %d: %s of %s to itself ignored",
					p.line, unit.Plural(p.count, "link"), p.target))
			default:
				s.Notes = append(s.Notes, fmt.Sprintf("line %d: %s to %s, which is not a GPU here, ignored", p.line, unit.Plural(p.count, "link"), p.target))
			}
		}
	}
	if !said {
		return nil // NCCL finds the links when it starts, so its input files have none
	}
	for i := range gpus {
		for k := range i {
			if !s.through && links[i][k] != links[k][i] {
				d := &r.devices[gpus[i]]
				return r.fail(d.line, d.col, "GPU %s has %s to %s, which has %d back", d.bus,
					unit.Plural(links[i][k], "link"), r.devices[gpus[k]].bus, links[k][i])
			}
		}
	}
	s.links = links
	s.pcie = func(a, b int) unit.Rate {
		least := unit.Rate(0)
		taken, cpus, _ := r.way(gpus[a], gpus[b])
		for _, d := range taken {
			if rate := r.devices[d].link; rate > 0 && (least == 0 || rate < least) {
				least = rate
			}
		}
		for _, c := range cpus {
			if rate := between(&r.devices[c]); least == 0 || rate < least {
				least = rate
			}
		}
		return least
	}
	return nil
}
