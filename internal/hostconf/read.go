package hostconf

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// Limits of input.
const (
	MaxSize  = 256 << 10 // of one file
	maxNICs  = 256
	maxFiles = 1024
	maxTold  = 1000
)

// File is a file's contents with its name; names below a host's directory identify files of /sys.
type File struct {
	Name string
	Text []byte
}

// reader is the state of parsing a host.
type reader struct {
	h     *swconf.Host
	file  string
	dir   string            // the working directory of a script
	echo  string            // output of the last echo, for a following tee
	pairs map[string]string // RDMA device to network device
	lines map[int]state     // state of each line of the file
	over  bool              // more NICs than a server has
	out   printed
}

// state is the outcome of a line.
type state uint8

const (
	unread state = iota
	passed
	read
	strange
)

// Parse reads a host of one file.
func Parse(name string, text []byte) (*swconf.Host, error) {
	return ParseFiles(name, []File{{name, text}})
}

// ParseFiles parses a host of several files, in their order: later settings win. The name is the host's if no
// configuration has one.
func ParseFiles(name string, files []File) (*swconf.Host, error) {
	r := &reader{h: &swconf.Host{File: name}, pairs: map[string]string{}}
	if len(files) > maxFiles {
		return nil, &cli.SyntaxError{File: name, Msg: fmt.Sprintf("has %d files, at most %d of a host are read",
			len(files), maxFiles)}
	}
	for _, f := range files {
		if err := r.add(f); err != nil {
			return nil, err
		}
	}
	if r.over {
		return nil, &cli.SyntaxError{File: name, Msg: fmt.Sprintf("names more NICs than a server has (%d)", maxNICs)}
	}
	r.finish()
	if h := r.h; len(h.NICs)+len(h.Env)+len(h.Unknown)+len(h.Faults) == 0 {
		r.assume("none of its %d lines has a supported setting", h.Total)
	}
	return r.h, nil
}

// add reads one more file.
func (r *reader) add(f File) error {
	if len(f.Text) > MaxSize {
		return &cli.SyntaxError{File: f.Name, Msg: fmt.Sprintf("has %d bytes, at most %d are read",
			len(f.Text), MaxSize)}
	}
	f.Text = cli.Decode(f.Text)
	if err := cli.Check(f.Name, f.Text); err != nil {
		return err
	}
	text := string(cli.LineEnds(f.Text))
	r.file, r.dir, r.echo, r.lines, r.out = f.Name, "", "", map[int]state{}, printed{}
	if i := strings.Index(f.Name, "sys/"); i >= 0 && sysPath("/"+f.Name[i:]) {
		r.write("/"+f.Name[i:], strings.TrimSpace(text), r.at(1, 1))
		r.h.Total, r.h.Read = r.h.Total+1, r.h.Read+1
		return nil
	}
	var err error
	switch kind(text) {
	case "":
		return &cli.SyntaxError{File: f.Name, Line: 1, Col: 1,
			Msg: "contains no supported setting of a host's NICs; accepted: scripts with mlnx_qos, cma_roce_tos, dcb, lldptool, nicctl, niccli, bnxt_setupcc.sh, ip link or writes to /sys, units of systemd, rules of udev and manifests with such commands, netplan, what these and ibv_devinfo, show_gids, rdma link print, and NCCL's environment"}
	case "output":
		r.transcript(text)
	case "unit":
		r.unit(text)
	case "udev":
		r.udev(text)
	case "manifest":
		r.manifest(text)
	default:
		err = r.script(text)
	}
	r.count(text)
	return err
}

// count adds up the results for the lines of a file.
func (r *reader) count(text string) {
	for i, line := range strings.Split(text, "\n") {
		if s := strings.TrimSpace(line); s == "" || s[0] == '#' && r.lines[i+1] == unread {
			continue
		}
		r.h.Total++
		switch r.lines[i+1] {
		case read:
			r.h.Read++
		case strange:
		default:
			r.h.Passed++
		}
	}
}

// mark records the result for a line; a recognized part prevails.
func (r *reader) mark(at swconf.Place, s state) {
	if at.File == r.file { // a file that the script does not itself write and run
		r.lines[at.Line] = max(r.lines[at.Line], s)
	}
}

// set sets the result for a line, replacing earlier ones.
func (r *reader) set(at swconf.Place, s state) {
	if at.File == r.file {
		r.lines[at.Line] = s
	}
}

func (r *reader) at(line, col int) swconf.Place {
	return swconf.Place{File: r.file, Line: line, Col: col}
}

// unknown lists unrecognized lines.
func (r *reader) unknown(at swconf.Place, text, format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	for _, u := range r.h.Unknown {
		if u.At == at && u.Why == why {
			return
		}
	}
	if len(r.h.Unknown) < maxTold {
		r.h.Unknown = append(r.h.Unknown, swconf.Unknown{At: at, Text: field.Clip(text), Why: why})
	}
	r.set(at, strange)
}

// wrong notes a value that the tool would refuse.
func (r *reader) wrong(at swconf.Place, what, format string, args ...any) {
	r.fault(at, "the tool refuses the line, and what was set before stays", what, format, args...)
}

// fault records a wrong value, with its consequence.
func (r *reader) fault(at swconf.Place, why, what, format string, args ...any) {
	r.mark(at, read)
	if len(r.h.Faults) >= maxTold {
		return
	}
	r.h.Faults = append(r.h.Faults, swconf.Finding{Severity: swconf.Error, Rule: "bad-value", File: at.File,
		Line: at.Line, Column: at.Col, Message: what + " " + fmt.Sprintf(format, args...),
		Why: why, Fix: "write a value that it takes"})
}

// assume records an assumption of the reader about an unset value.
func (r *reader) assume(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(r.h.Notes, s) && len(r.h.Notes) < maxTold {
		r.h.Notes = append(r.h.Notes, s)
	}
}

// wild replaces a device name that only the host can list, as with ls, by every device.
func wild(dev string) string {
	if dev == "" || vague(dev) || strings.ContainsAny(dev, "*?[{<") {
		return swconf.Every
	}
	return dev
}

// net is the NIC of a network device.
func (r *reader) net(dev string, at swconf.Place) *swconf.HostNIC {
	return r.nic(at, func(n *swconf.HostNIC) *string { return &n.Dev }, wild(dev))
}

// rdma is the NIC of an RDMA device.
func (r *reader) rdma(dev string, at swconf.Place) *swconf.HostNIC {
	dev, _, _ = strings.Cut(dev, "/") // of mlx5_0/1
	n := r.nic(at, func(n *swconf.HostNIC) *string { return &n.RDMA }, wild(dev))
	for prefix, kind := range map[string]string{"mlx5": "mlx5", "bnxt_re": "bnxt", "ionic": "ionic"} {
		if strings.HasPrefix(dev, prefix) {
			n.Kind = kind
		}
	}
	return n
}

func (r *reader) nic(at swconf.Place, dev func(*swconf.HostNIC) *string, name string) *swconf.HostNIC {
	for _, n := range r.h.NICs {
		if *dev(n) == name {
			return n
		}
	}
	n := &swconf.HostNIC{At: at}
	*dev(n) = name
	if len(r.h.NICs) >= 2*maxNICs { // each may be named twice, by either device
		r.over = true
		return n
	}
	r.h.NICs = append(r.h.NICs, n)
	return n
}

// finish combines the settings of a NIC under its two names, and applies those for every NIC.
func (r *reader) finish() {
	h := r.h
	for _, rdma := range sorted(r.pairs) {
		r.join(rdma, r.pairs[rdma])
	}
	var nets, rdmas []string
	for _, n := range h.NICs {
		if n.RDMA == "" && n.Dev != swconf.Every {
			nets = append(nets, n.Dev)
		}
		if n.Dev == "" && n.RDMA != swconf.Every {
			rdmas = append(rdmas, n.RDMA)
		}
	}
	if len(nets) == len(rdmas) {
		for i := range nets {
			r.join(rdmas[i], nets[i])
		}
		if len(nets) > 1 {
			r.assume("no file maps RDMA devices to network devices: mapped in the order in which they are named (ibdev2netdev and rdma link print the mapping)")
		}
	}
	r.join(swconf.Every, swconf.Every)
	r.spread()
	slices.SortStableFunc(h.NICs, func(a, b *swconf.HostNIC) int {
		return cmp.Or(cmp.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line))
	})
}

func sorted(m map[string]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// join makes one NIC of an RDMA device and a network device.
func (r *reader) join(rdma, dev string) {
	i := slices.IndexFunc(r.h.NICs, func(n *swconf.HostNIC) bool { return n.RDMA == rdma })
	k := slices.IndexFunc(r.h.NICs, func(n *swconf.HostNIC) bool { return n.Dev == dev })
	switch {
	case i < 0 && k < 0 || i == k:
	case i < 0:
		r.h.NICs[k].RDMA = rdma
	case k < 0:
		r.h.NICs[i].Dev = dev
	default:
		a, b := r.h.NICs[min(i, k)], r.h.NICs[max(i, k)]
		fill(a, b)
		a.Dev, a.RDMA = dev, rdma
		r.h.NICs = slices.Delete(r.h.NICs, max(i, k), max(i, k)+1)
	}
}

// spread applies the settings for all NICs to each; if none has a name, they remain one.
func (r *reader) spread() {
	var all []*swconf.HostNIC
	named := slices.DeleteFunc(slices.Clone(r.h.NICs), func(n *swconf.HostNIC) bool {
		is := n.Dev == swconf.Every && (n.RDMA == "" || n.RDMA == swconf.Every) ||
			n.RDMA == swconf.Every && n.Dev == ""
		if is {
			all = append(all, n)
		}
		return is
	})
	if len(named) == 0 {
		for len(all) > 1 {
			fill(all[0], all[1])
			all = slices.Delete(all, 1, 2)
		}
		r.h.NICs = all
		return
	}
	for _, n := range named {
		for _, a := range all {
			fill(n, a)
		}
	}
	r.h.NICs = named
}

// base is the last part of a path.
func base(p string) string { return path.Base(p) }
