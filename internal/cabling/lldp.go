package cabling

import (
	"path"
	"regexp"
	"strings"

	"railyard/internal/field"
)

// Neighbour tables contain one end of each cable. The device is named by the prompt before the command (leaf-1#
// show lldp neighbors), or by the file.
var (
	prompt = regexp.MustCompile(`^(?:[\w.-]+@)?([A-Za-z0-9][\w.-]*?)(?:\([^)]*\))?(?::[^\s#$>]*)?` +
		`\s*[#$>]\s*(?:sudo\s+)?sh\w*\s+lldp\b`)
	nxosHead = regexp.MustCompile(`(?m)^Device ID\s+Local Intf\s+Hold-time`)
	eosHead  = regexp.MustCompile(`(?m)^Port\s+Neighbor Device ID\s+Neighbor Port ID`)
	sonic    = regexp.MustCompile(`(?m)^LocalPort\s+RemoteDevice\s+RemotePortID`)
	mgmt     = regexp.MustCompile(`(?i)^(mgmt|ma|management|oob|bmc|ipmi|fxp|me)[\d/]*$`)
	// mgmtWords are parts of names of switches that carry no fabric: oob-switch-1, mgmt-sw1, sw-mgmt, oobsw2.
	mgmtWords = regexp.MustCompile(`(?i)(^|[-_])(oob|mgmt|mgt|management|bmc|ipmi)[-_]?(sw|switch|rtr|router|gw|tor)?\d*([-_]|$)`)
	macText   = regexp.MustCompile(`(?i)^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$`)
)

func looksNXOS(_, text string) bool  { return nxosHead.MatchString(text) }
func looksEOS(_, text string) bool   { return eosHead.MatchString(text) }
func looksSONiC(_, text string) bool { return sonic.MatchString(text) }

// everyFile matches the names of files whose folder has the device's name.
var everyFile = regexp.MustCompile(`(?i)^(show|sh|lldp|lldpcli|neighbou?rs?|table|output)([-_. ]|$)`)

// deviceOf returns the device in a file's name: leaf-1.txt, leaf-1_lldp.json. If all files have one name, it is the
// directory: leaf-1/show_lldp_neighbors.txt.
func deviceOf(file string) string {
	file = strings.ReplaceAll(file, "\\", "/")
	name := path.Base(file)
	if dir := path.Base(path.Dir(file)); everyFile.MatchString(name) && len(dir) > 0 && dir != "." && dir != "/" &&
		!strings.HasPrefix(name, "lldp_") && !strings.HasPrefix(name, "lldp-") {
		return dir
	}
	if ext := path.Ext(name); len(ext) > 1 && strings.Trim(ext[1:], "0123456789") != "" && len(ext) <= 6 {
		name = strings.TrimSuffix(name, ext)
	}
	for _, cut := range []string{"lldp_neighbors", "lldp-neighbors", "show_lldp", "lldp"} {
		for _, sep := range []string{"_", "-", "."} {
			name = strings.TrimSuffix(name, sep+cut)
			name = strings.TrimPrefix(name, cut+sep)
		}
	}
	return name
}

// neighbours reads a table's lines, each with the format's line parser.
func (b *builder) neighbours(text string, head *regexp.Regexp,
	row func(b *builder, device string, at Place, line string) error) error {
	device, inside := deviceOf(b.file), false
	return lines(text, func(n int, line string) error {
		switch s := strings.TrimSpace(line); {
		case prompt.MatchString(line):
			device, inside = prompt.FindStringSubmatch(line)[1], false
		case head.MatchString(line):
			inside = true
			if b.management || !mgmtDevice(device) {
				b.own[device] = true
				b.is(b.node(b.at(n, 1), device), Switch, roleOf(device))
			}
			return row(b, device, Place{}, line)
		case !inside || s == "" || strings.HasPrefix(s, "Total entries"):
		default:
			return row(b, device, b.at(n, 1+len(line)-len(strings.TrimLeft(line, " \t"))), line)
		}
		return nil
	})
}

// claim is the neighbour that a port reports.
type claim struct {
	at                         Place
	device, port, far, farPort string
	kind                       Kind
}

// neighbour stores a port's neighbour until all files are read. Names occur with domains and without. A device with
// a table here is a switch or a server by its own output.
func (b *builder) neighbour(at Place, device, port, far, farPort string, k Kind) {
	b.claims = append(b.claims, claim{at, device, port, far, farPort, k})
}

// manages reports whether a neighbour belongs to a management network: by the name of a port or of a device, or by
// eth0 of a switch.
func (b *builder) manages(c *claim) bool {
	if mgmt.MatchString(c.port) || mgmt.MatchString(c.farPort) || mgmtDevice(c.device) || mgmtDevice(c.far) {
		return true
	}
	far, _ := kindOf(c.far)
	if far == Unknown {
		far = c.kind
	}
	near := b.c.Nodes[b.node(c.at, c.device)].Kind
	return c.port == "eth0" && near == Switch || c.farPort == "eth0" && far == Switch
}

// mgmtDevice reports whether a device is of a management network by its name, without the domain.
func mgmtDevice(name string) bool {
	short, _, _ := strings.Cut(name, ".")
	return mgmtWords.MatchString(short)
}

// believe makes cables from neighbours. n9k1.example.com is the n9k1 whose table is here.
func (b *builder) believe() {
	for _, c := range b.claims {
		if !b.management && b.manages(&c) {
			b.note(c.at, "management networks are left out (--management imports them)")
			continue
		}
		if short, _, ok := strings.Cut(c.far, "."); ok && b.own[short] && !b.own[c.far] {
			c.far = short
		}
		here, there := b.node(c.at, c.device), b.node(c.at, c.far)
		kind, role := kindOf(c.far)
		if kind == Unknown {
			kind = c.kind
		}
		b.is(there, kind, role)
		guess := c.farPort == "" || macText.MatchString(c.farPort)
		if guess {
			c.farPort = ""
		}
		b.cable(Cable{A: End{here, c.port}, B: End{there, c.farPort}, At: c.at, guess: guess})
	}
}

var nxosRow = regexp.MustCompile(`^(.*?)\s+([A-Za-z][A-Za-z-]*[\d/.:]+)\s+(\d+)\s+` +
	`((?:[RBTCWPSO](?:[, ]*[RBTCWPSO])*\s+)?)(\S.*?)\s*$`)

// readNXOS parses show lldp neighbors of NX-OS, where a long name has a separate line.
func readNXOS(b *builder, text string) error {
	name := ""
	return b.neighbours(text, nxosHead, func(b *builder, device string, at Place, line string) error {
		if at.File == "" {
			name = ""
			return nil
		}
		m := nxosRow.FindStringSubmatch(line)
		if m == nil {
			if name != "" {
				return at.fail("%s is not a neighbour; expected device, local interface, hold-time, capability, port",
					field.Quote(strings.TrimSpace(line)))
			}
			name = strings.TrimSpace(line)
			return nil
		}
		if far := strings.TrimSpace(m[1]); far != "" {
			name = far
		}
		if name == "" {
			return at.fail("a neighbour without a name")
		}
		b.neighbour(at, device, m[2], name, m[5], capability(m[4]))
		name = ""
		return nil
	})
}

// capability returns the kind of a node by LLDP's letters: bridges and routers are switches, stations servers.
func capability(s string) Kind {
	switch {
	case strings.ContainsAny(s, "BR"):
		return Switch
	case strings.Contains(s, "S"):
		return Server
	}
	return Unknown
}

// readEOS reads show lldp neighbors of EOS: port, device, port, time to live.
func readEOS(b *builder, text string) error {
	return b.neighbours(text, eosHead, func(b *builder, device string, at Place, line string) error {
		if at.File == "" || strings.HasPrefix(strings.TrimSpace(line), "---") {
			return nil
		}
		w := strings.Fields(line)
		if len(w) < 4 || strings.Trim(w[len(w)-1], "0123456789") != "" {
			return at.fail("%s is not a neighbour; expected port, device, its port, time to live",
				field.Quote(strings.TrimSpace(line)))
		}
		last := len(w) - 2
		b.neighbour(at, device, w[0], strings.Join(w[1:last], " "), w[last], Unknown)
		return nil
	})
}

// readSONiC reads show lldp table, whose column positions are in the line of dashes. A port that announces a MAC
// address is named by its description, if that is one word.
func readSONiC(b *builder, text string) error {
	var spans [][2]int
	return b.neighbours(text, sonic, func(b *builder, device string, at Place, line string) error {
		s := strings.TrimSpace(line)
		switch {
		case at.File == "":
			spans = nil
			return nil
		case strings.HasPrefix(s, "--") && strings.Trim(s, "- ") == "":
			if spans == nil {
				spans = dashes(line)
			}
			return nil
		case len(spans) < 3:
			return at.fail("the line of dashes below the header is missing")
		}
		cell := func(i int) string {
			if i >= len(spans) || spans[i][0] >= len(line) {
				return ""
			}
			end := len(line)
			if i+1 < len(spans) {
				end = min(end, spans[i+1][0])
			}
			return strings.TrimSpace(line[spans[i][0]:end])
		}
		port, far, farPort := cell(0), cell(1), cell(2)
		if port == "" || far == "" {
			return at.fail("%s has no port or no device", field.Quote(s))
		}
		if port == "eth0" {
			port = "mgmt0"
		}
		if d := cell(4); macText.MatchString(farPort) && d != "" && !strings.ContainsAny(d, " \t") {
			farPort = d
		}
		b.neighbour(at, device, port, far, farPort, capability(cell(3)))
		return nil
	})
}

// dashes returns the columns at which fields begin and end.
func dashes(line string) (out [][2]int) {
	start := -1
	for i := 0; i <= len(line); i++ {
		dash := i < len(line) && line[i] == '-'
		if dash && start < 0 {
			start = i
		} else if !dash && start >= 0 {
			out = append(out, [2]int{start, i})
			start = -1
		}
	}
	return out
}
