package hostconf

import (
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/jobscript"
	"railyard/internal/slurm"
	"railyard/internal/swconf"
	"railyard/unit"
)

// printed is the state of a reader of printed lines.
type printed struct {
	nic  *swconf.HostNIC
	tc   int // mlnx_qos: the class whose priorities follow
	prio int // niccli: of the APP entry
	// answers are the files of /sys whose contents the next lines are: of cat, and of cma_roce_tos
	answers []string
	rows    string // the table of receive buffers that the next lines are
}

// line is one kind of printed line: a pattern, and its meaning.
type line struct {
	re   *regexp.Regexp
	take func(r *reader, m []string, at swconf.Place)
}

// prompt matches the prompt before a command that was typed, or traced by the shell's -x.
var prompt = regexp.MustCompile(`^(?:[\w.@:~/ \[\]-]{0,80}[#$] |\++ )(.*\S)`)

// login matches a prompt that names its host.
var login = regexp.MustCompile(`^\[?[\w.-]+@([\w-][\w.-]*)[: ]`)

// transcript reads the output of tools, with command lines in it.
func (r *reader) transcript(text string) {
	for i, raw := range strings.Split(text, "\n") {
		n := i + 1
		if m := prompt.FindStringSubmatch(raw); m != nil {
			if at := login.FindStringSubmatch(raw); at != nil && !r.h.Hostname.Is() {
				r.h.Hostname = swconf.Say(at[1], r.at(n, 1))
			}
			r.typed(m[1], n)
			continue
		}
		s := strings.TrimSpace(raw)
		if s == "" || strings.Trim(s, "-=* ") == "" {
			continue
		}
		if r.answered(s, r.at(n, 1)) {
			continue
		}
		if !r.printedLine(s, r.at(n, 1)) {
			r.mark(r.at(n, 1), passed)
		}
	}
}

// answered processes the content of a requested file of /sys.
func (r *reader) answered(s string, at swconf.Place) bool {
	if len(r.out.answers) == 0 || strings.ContainsAny(s, ":{") {
		return false
	}
	p := r.out.answers[0]
	r.out.answers = r.out.answers[1:]
	if what := base(p); what == "buffer_size" || what == "prio2buffer" { // a table
		r.out.nic, r.out.rows, r.out.answers = r.net(strings.Split(p, "/")[4], at), what, nil
		return false
	}
	s, _, _ = strings.Cut(s, "  #")
	r.write(p, strings.TrimSpace(s), at)
	return true
}

// typed takes a command line that was typed.
func (r *reader) typed(text string, n int) (ok bool) {
	s, err := jobscript.ReadShell(r.file, []byte(text))
	r.mark(r.at(n, 1), passed)
	r.out.answers, r.out.rows = nil, ""
	if err != nil {
		return false
	}
	at := func(c jobscript.Command) bool {
		for i := range c.Words {
			c.Words[i].At.Line = n
		}
		return r.command(c)
	}
	sets := func(name, value string, _ slurm.Place) { r.variable(name, value, r.at(n, 1)) }
	s.Walk(jobscript.Environment{Command: at, Sets: sets, There: true})
	return true
}

func (r *reader) printedLine(s string, at swconf.Place) bool {
	for i := range printedLines {
		if m := printedLines[i].re.FindStringSubmatch(s); m != nil {
			r.mark(at, read)
			printedLines[i].take(r, m, at)
			return true
		}
	}
	return false
}

// now returns the current NIC; all if no line names one.
func (r *reader) now(at swconf.Place) *swconf.HostNIC {
	if r.out.nic == nil {
		r.out.nic = r.net(swconf.Every, at)
	}
	return r.out.nic
}

// kinds of lines by the tool that prints them; the first that fits counts.
var printedLines []line

func init() {
	add := func(re string, take func(*reader, []string, swconf.Place)) {
		printedLines = append(printedLines, line{regexp.MustCompile(re), take})
	}
	mlnxLines(add)
	ionicLines(add)
	add(`^(?:\./|[^/=]*: )?((?:/|sys/)\S+?)\s*(?::|=)\s*(\S.*)$`, func(r *reader, m []string,
		at swconf.Place) {
		p := "/" + strings.TrimPrefix(m[1], "/")
		if sysPath(p) {
			r.write(p, m[2], at)
		}
	})
	add(`^(`+variables+`\w+)=(.*)$`, func(r *reader, m []string, at swconf.Place) { r.variable(m[1], m[2], at) })
	add(`^FEC parameters for (\S+):$`, func(r *reader, m []string, at swconf.Place) { // ethtool --show-fec
		r.out.nic = r.net(m[1], at)
	})
	add(`^Active FEC encodings?: (\S+)`, func(r *reader, m []string, at swconf.Place) {
		r.now(at).FEC = swconf.Say(strings.ToLower(m[1]), at)
	})
	add(`^prio-pfc (.*)$`, each1("pfc", "prio-pfc"))
	add(`^dscp-prio (.*)$`, each1("app", "dscp-prio"))
	add(`^prio-tc (.*)$`, each1("ets", "prio-tc"))
	add(`^tc-tsa (.*)$`, each1("ets", "tc-tsa"))
	add(`^tc-bw (.*)$`, each1("ets", "tc-bw"))
	add(`^\d+: ([^:@\s]+)(?:@\S+)?: <.*> mtu (\d+)`, func(r *reader, m []string, at swconf.Place) {
		if m[1] != "lo" {
			r.mtu(r.net(m[1], at), m[2], at)
		}
	})
	add(`^(\w+) port \d+ ==> (\S+)`, func(r *reader, m []string, at swconf.Place) { r.pair(m[1], m[2], at) })
	add(`^link (\w+)/\d+ .*\bnetdev (\S+)`, func(r *reader, m []string, at swconf.Place) { r.pair(m[1], m[2], at) })
	add(`^hca_id:\s*(\S+)`, func(r *reader, m []string, at swconf.Place) { r.out.nic = r.rdma(m[1], at) })
	add(`^active_mtu:\s*(\d+)`, func(r *reader, m []string, at swconf.Place) {
		if v, ok := r.within(m[1], 65536, "active_mtu", at); ok {
			r.now(at).PathMTU = swconf.Say(int(v), at)
		}
	})
	add(`^GID\[\s*(\d+)\]:\s*(\S+?),?\s+(RoCE v2|IB/RoCE v1|RoCE v1)`, func(r *reader, m []string,
		at swconf.Place) {
		r.gid(r.now(at), m[1], m[2], m[3], at)
	})
	add(`^(\w+)\s+\d+\s+(\d+)\s+([0-9a-fA-F:]{15,})\s+(?:[\d.]+\s+)?(v1|v2)\s*(\S*)$`,
		func(r *reader, m []string, at swconf.Place) { // show_gids
			if m[5] != "" {
				r.pairs[m[1]] = m[5]
			}
			r.gid(r.rdma(m[1], at), m[2], m[3], m[4], at)
		})
	add(`^(ROCE_CC_\w+|RPG_\w+|DCE_TCP_\w+|CLAMP_\w+|RATE_\w+|INITIAL_ALPHA\w+|`+
		`MIN_TIME_BETWEEN\w+|CNP_\w+)\s+(\S+)`,
		func(r *reader, m []string, at swconf.Place) { r.firmware(r.now(at), m[1], m[2], at) })
	add(`^IEEE 8021QAZ`, func(r *reader, _ []string, at swconf.Place) { r.now(at).Kind = "bnxt" })
	add(`^PRIO_MAP:\s*(.*)$`, each1("ets", "prio-tc"))
	add(`^TSA_MAP:\s*(.*)$`, each1("ets", "tc-tsa"))
	add(`^TC Bandwidth:\s*(.*)$`, func(r *reader, m []string, at swconf.Place) {
		for i, s := range strings.Fields(m[1]) {
			if i < 8 {
				r.dcbValue(r.now(at), "tc-bw", i, strings.TrimSuffix(s, "%"), at)
			}
		}
	})
	add(`^Willing:\s*(yes|no)$`, func(r *reader, m []string, at swconf.Place) {
		r.now(at).Willing = swconf.Say(m[1] == "yes", at)
	})
	add(`^Pause parameters for (\S+):`, func(r *reader, m []string, at swconf.Place) {
		r.out.nic = r.net(m[1], at)
		r.out.nic.Pause = swconf.Say(false, at)
	})
	add(`^[RT]X:\s*(on|off)$`, func(r *reader, m []string, at swconf.Place) {
		if n := r.now(at); m[1] == "on" || !n.Pause.Is() {
			n.Pause = swconf.Say(m[1] == "on", at)
		}
	})
	add(`^(\d)\s+(\d+)$`, func(r *reader, m []string, at swconf.Place) {
		n, i := r.now(at), m[1][0]-'0'
		switch v, ok := r.within(m[2], 1<<31, r.out.rows, at); {
		case !ok || i > 7:
		case r.out.rows == "buffer_size":
			n.Size[i] = swconf.Say(unit.Bytes(v), at)
		case r.out.rows == "prio2buffer" && v < 8:
			n.Buffer[i] = swconf.Say(uint8(v), at)
		}
	})
	add(`^PFC enabled:\s*(.*)$`, func(r *reader, m []string, at swconf.Place) { r.pfcList(r.now(at), m[1], at) })
	add(`^Priority:\s*(\d)$`, func(r *reader, m []string, _ swconf.Place) { r.out.prio, _ = strconv.Atoi(m[1]) })
	add(`^DSCP:\s*(\d+)$`, func(r *reader, m []string, at swconf.Place) {
		r.app(r.now(at), strconv.Itoa(r.out.prio)+",5,"+m[1], at, false)
	})
	add(`^Static hostname:\s*(\S+)`, func(r *reader, m []string,
		at swconf.Place) {
		r.h.Hostname = swconf.Say(m[1], at)
	})
}

// each1 takes a line of mappings as dcb shows them.
func each1(what, key string) func(*reader, []string, swconf.Place) {
	return func(r *reader, m []string, at swconf.Place) {
		for _, item := range strings.Fields(m[1]) {
			if strings.Contains(item, ":") {
				r.dcbItem(r.now(at), what, "add", key, item, at)
			}
		}
	}
}

// pair combines the two devices of a NIC.
func (r *reader) pair(rdma, dev string, at swconf.Place) {
	r.rdma(rdma, at)
	r.pairs[rdma] = dev
}

// gid notes an address of an RDMA device.
func (r *reader) gid(n *swconf.HostNIC, index, addr, version string, at swconf.Place) {
	i, err := strconv.Atoi(index)
	if err != nil || len(n.GIDs) > 255 {
		return
	}
	n.GIDs = append(n.GIDs, swconf.Say(swconf.HostGID{Index: i, V2: strings.Contains(version, "v2"),
		Local: strings.HasPrefix(strings.ToLower(addr), "fe80")}, at))
}

// mlnxLines are the lines of mlnx_qos (its pretty_print).
func mlnxLines(add func(string, func(*reader, []string, swconf.Place))) {
	add(`^DCBX mode: (OS|Firmware) controlled`, func(r *reader, m []string, at swconf.Place) {
		n := r.now(at)
		n.Kind, n.DCBX = "mlx5", swconf.Say(map[string]string{"OS": "os", "Firmware": "fw"}[m[1]], at)
	})
	add(`^Priority trust state: (\w+)`, func(r *reader, m []string, at swconf.Place) {
		n := r.now(at)
		n.Kind = "mlx5"
		if m[1] != "none" {
			r.trust(n, m[1], at)
		}
	})
	add(`^prio:(\d) dscp:([\d, ]+)$`, func(r *reader, m []string, at swconf.Place) {
		for _, s := range strings.FieldsFunc(m[2], func(c rune) bool { return c == ',' || c == ' ' }) {
			if d, err := strconv.Atoi(s); err == nil && d < 64 {
				r.now(at).DSCP[d] = swconf.Say(m[1][0]-'0', at)
			}
		}
	})
	add(`^Receive buffer size \(bytes\):\s*([\d,]+)`, func(r *reader, m []string, at swconf.Place) {
		for i, s := range strings.Split(strings.Trim(m[1], ","), ",") {
			if v, err := strconv.ParseInt(s, 10, 32); err == nil && i < 8 {
				r.now(at).Size[i] = swconf.Say(unit.Bytes(v), at)
			}
		}
	})
	add(`^Cable len:\s*(\d+)`, func(r *reader, m []string, at swconf.Place) {
		if v, ok := r.within(m[1], 0xffff, "Cable len", at); ok {
			r.now(at).Cable = swconf.Say(int(v), at)
		}
	})
	add(`^(?:dscp2prio mapping|PFC configuration):|^priority:?(?:\s+\d){8}`, func(*reader, []string,
		swconf.Place) {
	})
	add(`^enabled:?((?:\s+[01]){8})\s*$`, func(r *reader, m []string, at swconf.Place) {
		for i, s := range strings.Fields(m[1]) {
			r.now(at).PFC[i] = swconf.Say(s == "1", at)
		}
	})
	add(`^buffer((?:\s+[0-7]){8})\s*$`, func(r *reader, m []string, at swconf.Place) {
		for i, s := range strings.Fields(m[1]) {
			r.now(at).Buffer[i] = swconf.Say(s[0]-'0', at)
		}
	})
	add(`^tc: (\d) ratelimit: (unlimited|[\d.]+ Gbps), tsa: (\w+)(?:, bw: (\d+)%)?`,
		func(r *reader, m []string, at swconf.Place) {
			n, i := r.now(at), int(m[1][0]-'0')&7
			r.out.tc = i
			n.Sched[i] = swconf.Say(m[3], at)
			if m[4] != "" {
				v, _ := strconv.Atoi(m[4])
				n.Share[i] = swconf.Say(v, at)
			}
			if f, err := strconv.ParseFloat(strings.TrimSuffix(m[2], " Gbps"), 64); err == nil {
				n.Limit[i] = swconf.Say(int(f), at)
			}
		})
	add(`^priority:\s+(\d)$`, func(r *reader, m []string, at swconf.Place) {
		if p := m[1][0] - '0'; p < 8 {
			r.now(at).TC[p] = swconf.Say(uint8(r.out.tc), at)
		}
	})
}

// ionicLines are the lines of nicctl show qos, show dcqcn and show port.
func ionicLines(add func(string, func(*reader, []string, swconf.Place))) {
	add(`^NIC\s*: [0-9a-f]{6,}-`, func(r *reader, _ []string, at swconf.Place) { r.ionic(swconf.Every, at) })
	add(`^Classification type\s*: (\w+)`, func(r *reader, m []string, at swconf.Place) {
		n := r.now(at)
		n.Kind = "ionic"
		r.trust(n, m[1], at)
	})
	add(`^DSCP\s*: ([\d, -]+) ==> priority : (\d)`, func(r *reader, m []string, at swconf.Place) {
		set, err := swconf.DSCPs(m[1])
		for d, in := range set {
			if in && err == nil {
				r.now(at).DSCP[d] = swconf.Say(m[2][0]-'0', at)
			}
		}
	})
	add(`^DSCP bitmap|^DSCP-to-priority|^PFC :|^Scheduling :|^PFC priority bitmap`, func(*reader,
		[]string, swconf.Place) {
	})
	add(`^PFC no-drop priorities\s*:\s*(.*)$`, func(r *reader, m []string, at swconf.Place) {
		r.pfcList(r.now(at), m[1], at)
	})
	add(`^(\d)\s+(DWRR|strict)\s+(\d+|N/A)\s+(\d+|N/A)$`, func(r *reader, m []string, at swconf.Place) {
		n, p := r.now(at), (m[1][0]-'0')&7
		n.TC[p] = swconf.Say(p, at)
		n.Sched[p] = swconf.Say(map[string]string{"DWRR": "ets", "strict": "strict"}[m[2]], at)
		if v, err := strconv.Atoi(m[3]); err == nil {
			n.Share[p] = swconf.Say(v, at)
		}
		if v, err := strconv.Atoi(m[4]); err == nil {
			n.Limit[p] = swconf.Say(v, at)
		}
	})
	add(`^MTU\s*: (\d+)$`, func(r *reader, m []string, at swconf.Place) { r.mtu(r.now(at), m[1], at) })
	add(`^Pause type\s*: (\w+)$`, func(r *reader, m []string, at swconf.Place) {
		r.now(at).Pause = swconf.Say(strings.EqualFold(m[1], "link"), at)
	})
	add(`^ROCE device\s*: (\S+)`, func(r *reader, m []string, at swconf.Place) { r.ionic(m[1], at) })
	add(`^Status\s*: (Enabled|Disabled)`, func(r *reader, m []string, at swconf.Place) {
		r.now(at).CC = swconf.Say(m[1] == "Enabled", at)
	})
	add(`^DSCP value used for CNP\s*: (\d+)`, func(r *reader, m []string, at swconf.Place) {
		if v, ok := r.small(m[1], 63, "the DSCP of CNPs", at); ok {
			r.now(at).CNPDSCP = swconf.Say(v, at)
		}
	})
	for _, p := range ionicPrinted {
		add(`^`+p[0]+`\s*: (\d+)`, func(r *reader, m []string, at swconf.Place) {
			if v, ok := r.within(m[1], 1<<40, p[1], at); ok {
				r.now(at).SetParam(p[1], v, at)
			}
		})
	}
}

// ionicPrinted maps the printed names of DCQCN's parameters in nicctl to its accepted ones.
var ionicPrinted = [][2]string{{"Rate increase in AI phase", "ai-rate"},
	{"Rate increase byte count", "rate-increase-byte-count"}, {"Alpha update G value", "alpha-update-g"},
	{"Alpha update interval", "alpha-update-interval"}, {"Rate increase in HAI phase", "hai-rate"},
	{"Initial alpha value", "initial-alpha-value"}, {"Rate reduce monitor period",
		"rate-reduce-monitor-period"},
	{"Rate increase threshold", "rate-increase-threshold"}, {"Rate increase interval",
		"rate-increase-interval"},
	{"Token bucket size", "token-bucket-size"}}
