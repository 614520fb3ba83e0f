package hostconf

import (
	"strings"

	"railyard/internal/field"
	"railyard/internal/swconf"
)

// ip takes ip link set dev eth0 mtu 9000, in any of its orders.
func (r *reader) ip(w words) {
	for len(w.text(0)) > 1 && w.text(0)[0] == '-' {
		w = w.from(1)
	}
	if w.text(0) != "link" && w.text(0) != "l" || w.text(1) != "set" {
		return
	}
	dev, mtu := "", option{}
	for i := 2; i < len(w.all); i++ {
		switch w.text(i) {
		case "dev":
			i++
			dev = w.text(i)
		case "mtu":
			i++
			mtu = option{value: w.text(i), at: w.at}
		case "up", "down", "promisc", "arp", "multicast":
		case "txqueuelen", "address", "alias", "master", "netns", "name", "vf", "mac":
			i++
		case "on", "off":
		default:
			if dev == "" {
				dev = w.text(i)
			}
		}
	}
	r.setMTU(dev, mtu)
}

func (r *reader) setMTU(dev string, mtu option) {
	switch {
	case mtu.value == "":
	case vague(mtu.value):
		r.unknown(mtu.at, "mtu", "unknown value")
	default:
		r.mark(mtu.at, read)
		r.mtu(r.net(dev, mtu.at), mtu.value, mtu.at)
	}
}

// ifconfig takes ifconfig eth0 mtu 9000.
func (r *reader) ifconfig(w words) {
	for i := 1; i < len(w.all); i++ {
		if w.text(i) == "mtu" {
			r.setMTU(w.text(0), option{value: w.text(i + 1), at: w.at})
		}
	}
}

// ethtool processes ethtool -A eth0 rx off tx off, pauses of the whole link, its FEC and its negotiation.
func (r *reader) ethtool(w words) {
	switch what := w.text(0); {
	case w.text(1) == "":
		return
	case what == "--set-fec":
		r.setFEC(w)
		return
	case what == "-s" || what == "--change":
		for i := 2; i+1 < len(w.all); i++ {
			if on, ok := yes(w.text(i + 1)); w.text(i) == "autoneg" && ok {
				r.mark(w.at, read)
				r.net(w.text(1), w.at).Nego = swconf.Say(on, w.at)
			}
		}
		return
	case what != "-A" && what != "--pause":
		return
	}
	r.mark(w.at, read)
	n := r.net(w.text(1), w.at)
	on := false
	for i := 2; i+1 < len(w.all); i += 2 {
		v, ok := yes(w.text(i + 1))
		if !ok || w.text(i) != "rx" && w.text(i) != "tx" && w.text(i) != "autoneg" {
			r.wrong(w.at, "ethtool -A", "has %s; it takes rx, tx and autoneg with on or off",
				field.Quote(w.text(i)+" "+w.text(i+1)))
			return
		}
		on = on || v && w.text(i) != "autoneg"
	}
	n.Pause = swconf.Say(on, w.at)
}

// setFEC processes ethtool --set-fec eth0 encoding rs; of several codes the NIC selects one.
func (r *reader) setFEC(w words) {
	if w.text(2) != "encoding" || w.text(3) == "" {
		r.wrong(w.at, "ethtool --set-fec", "has %s; it takes encoding with %s",
			field.Quote(w.text(2)), "auto, off, rs, baser or llrs")
		return
	}
	code := ""
	for i := 3; i < len(w.all); i++ {
		c := strings.ToLower(w.text(i))
		switch c {
		case "auto", "off", "rs", "baser", "llrs":
		default:
			if vague(c) {
				r.unknown(w.at, "ethtool --set-fec", "unknown value")
			} else {
				r.wrong(w.at, "ethtool --set-fec",
					"has encoding %s; auto, off, rs, baser or llrs are accepted", field.Quote(w.text(i)))
			}
			return
		}
		if code != "" && code != c {
			c = "auto"
		}
		code = c
	}
	r.mark(w.at, read)
	r.net(w.text(1), w.at).FEC = swconf.Say(code, w.at)
}

// hostname processes a command that sets the name.
func (r *reader) hostname(w words) {
	if w.text(0) == "set-hostname" || w.text(0) == "hostname" {
		w = w.from(1)
	}
	if s := w.text(0); len(w.all) == 1 && s != "" && s[0] != '-' && !vague(s) {
		r.h.Hostname = swconf.Say(s, w.at)
		r.mark(w.at, read)
	}
}
