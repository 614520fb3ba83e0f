package hostconf

import (
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/slurm"
	"railyard/internal/swconf"
)

// ionicParams are the parameters of DCQCN as nicctl calls them. Their units are not public.
var ionicParams = []string{"token-bucket-size", "ai-rate", "alpha-update-interval", "alpha-update-g",
	"initial-alpha-value", "rate-increase-byte-count", "hai-rate", "rate-reduce-monitor-period",
	"rate-increase-threshold", "rate-increase-interval", "min-rate"}

// nicctl takes a command line of AMD's tool for Pensando NICs: update qos, update dcqcn, update port.
func (r *reader) nicctl(w words) {
	if w.text(0) != "update" && w.text(0) != "show" || len(w.all) < 2 {
		return
	}
	verb, what := w.text(0), w.text(1)
	opts := options(w.from(2), "all json detail brief")
	dev := swconf.Every
	for _, o := range opts {
		if o.name == "r" || o.name == "roce-device" {
			dev = o.value
		}
	}
	if verb == "show" {
		return
	}
	n := r.ionic(dev, w.at)
	r.mark(w.at, read)
	switch what {
	case "qos":
		r.ionicQoS(n, opts, w)
	case "dcqcn":
		r.ionicCC(n, opts)
	case "port":
		r.ionicPort(n, opts)
	default:
		r.mark(w.at, passed)
	}
}

// ionic returns a NIC of Pensando's by its RDMA device; settings of ports by card numbers apply to all, because the
// mapping is unknown.
func (r *reader) ionic(dev string, at swconf.Place) *swconf.HostNIC {
	n := r.rdma(dev, at)
	n.Kind = "ionic"
	r.out.nic = n
	return n
}

func (r *reader) ionicQoS(n *swconf.HostNIC, opts []option, w words) {
	what, by := "", map[string]option{}
	for _, o := range opts {
		switch {
		case o.name == "" && what == "":
			what = o.text
		case o.name != "":
			by[o.name] = o
		}
		if vague(o.value) && !slices.Contains([]string{"p", "port", "b", "c", "card"}, o.name) {
			r.unknown(o.at, "nicctl update qos "+slurm.Open(o.text), "unknown value: %s",
				slurm.Open(o.value))
			return
		}
	}
	switch what {
	case "":
		if o, ok := by["classification-type"]; ok {
			r.trust(n, o.value, o.at)
		}
	case "dscp-to-priority":
		prio, d := by["priority"], by["dscp"]
		p, err := strconv.Atoi(prio.value)
		if prio.value == "strict" { // strict priorities as in AMD's script
			r.unknown(prio.at, "--priority strict", "no priority; they are 0 to 7")
			return
		}
		set, err2 := swconf.DSCPs(d.value)
		if err != nil || err2 != nil || p < 0 || p > 7 {
			r.wrong(w.at, "dscp-to-priority", "maps %s to %s; DSCPs are 0 to 63, priorities 0 to 7",
				field.Quote(d.value), field.Quote(prio.value))
			return
		}
		for i, in := range set {
			if in {
				n.DSCP[i] = swconf.Say(uint8(p), w.at)
			}
		}
	case "pfc":
		on, ok := yes(by["no-drop"].value)
		i, err := strconv.Atoi(by["priority"].value)
		if !ok || err != nil || i < 0 || i > 7 {
			r.wrong(w.at, "qos pfc", "takes --priority 0 to 7 and --no-drop enable or disable")
			return
		}
		n.PFC[i] = swconf.Say(on, w.at)
	case "scheduling":
		r.ionicShares(n, by, w)
	case "dscp-to-purpose":
		r.mark(w.at, passed)
	default:
		r.unknown(w.at, "nicctl update qos "+what, "unknown setting of nicctl")
	}
}

// ionicShares takes --priority 3,0,6 --dwrr 99,1,0 --rate-limit 0,0,10: a share of 0 is strict priority.
func (r *reader) ionicShares(n *swconf.HostNIC, by map[string]option, w words) {
	prios := strings.Split(by["priority"].value, ",")
	shares, limits := strings.Split(by["dwrr"].value, ","), strings.Split(by["rate-limit"].value, ",")
	if len(shares) != len(prios) || len(limits) != len(prios) {
		r.wrong(w.at, "qos scheduling", "has %d priorities, %d shares and %d limits", len(prios),
			len(shares),
			len(limits))
		return
	}
	for i := range prios {
		p, err1 := strconv.Atoi(prios[i])
		s, err2 := strconv.Atoi(shares[i])
		l, err3 := strconv.Atoi(limits[i])
		if err1 != nil || err2 != nil || err3 != nil || p < 0 || p > 7 || s < 0 || s > 100 || l < 0 {
			r.wrong(w.at, "qos scheduling", "has %s:%s:%s", prios[i], shares[i], limits[i])
			return
		}
		n.TC[p], n.Share[p], n.Limit[p] = swconf.Say(uint8(p), w.at), swconf.Say(s, w.at), swconf.Say(l, w.at)
		n.Sched[p] = swconf.Say(map[bool]string{true: "strict", false: "ets"}[s == 0], w.at)
	}
}

func (r *reader) ionicCC(n *swconf.HostNIC, opts []option) {
	for _, o := range opts {
		switch {
		case o.name == "r" || o.name == "roce-device" || o.name == "i" || o.name == "profile-id" || o.name == "":
		case vague(o.value):
			r.unknown(o.at, "nicctl update dcqcn "+slurm.Open(o.text), "unknown value")
		case o.name == "cnp-dscp":
			if v, ok := r.small(o.value, 63, "--cnp-dscp", o.at); ok {
				n.CNPDSCP = swconf.Say(v, o.at)
			}
		case o.name == "clamp-target-rate" || o.name == "status" || o.name == "enable":
			if v, ok := yes(o.value); ok && o.name != "clamp-target-rate" {
				n.CC = swconf.Say(v, o.at)
			}
		case slices.Contains(ionicParams, o.name):
			if v, ok := r.within(o.value, 1<<40, "--"+o.name, o.at); ok {
				n.SetParam(o.name, v, o.at)
			}
		default:
			r.unknown(o.at, "nicctl update dcqcn "+o.text, "unknown parameter of DCQCN")
		}
	}
}

func (r *reader) ionicPort(n *swconf.HostNIC, opts []option) {
	for _, o := range opts {
		switch o.name {
		case "mtu":
			if !vague(o.value) {
				r.mtu(n, o.value, o.at)
			}
		case "pause-type": // PFC, or pauses of the whole link
			if !vague(o.value) {
				n.Pause = swconf.Say(o.value == "link", o.at)
			}
		}
	}
}
