package cabling

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"railyard/unit"
)

var rateText = regexp.MustCompile(`^(\d+(?:\.\d+)?)\s*([kKmMgGtT]?)` +
	`(bps|bit/s|b/s|bit|bE|be|b|base.*|BASE.*|ps|E|e)?$`)

// parseRate reads 400Gbps, 400G, 400GbE, 400gbase-x-qsfpdd, 1000base-t, 100000 (Mb/s) and 400 (Gb/s).
func parseRate(s string) (unit.Rate, error) {
	s = strings.TrimSpace(s)
	m := rateText.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%q is not a rate; accepted: 400Gbps, 400G, 400000 in Mb/s", s)
	}
	f, err := strconv.ParseFloat(m[1], 64)
	scale := map[string]float64{"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}[strings.ToLower(m[2])]
	if m[2] == "" {
		switch word := strings.ToLower(m[3]); {
		case strings.HasPrefix(word, "base"):
			scale = 1e6 // Ethernet types without a unit letter
		case f >= 1e8 || word == "bps" || word == "bit/s" || word == "b/s":
			scale = 1 // bits per second
		case f >= 5000:
			scale = 1e6 // speeds as switches write them
		default:
			scale = 1e9
		}
	}
	return bounded(s, f*scale, err)
}

func bounded(s string, bps float64, err error) (unit.Rate, error) {
	if err != nil || !(bps >= 1e6 && bps <= 100e12) {
		return 0, fmt.Errorf("%q is not a rate of a cable: 1Mbps to 100Tbps", s)
	}
	return unit.Rate(math.Round(bps)), nil
}

// millimetres of the units in which lengths are written.
var millimetres = map[string]float64{"": 1000, "m": 1000, "mm": 1, "cm": 10, "km": 1e6,
	"ft": 304.8, "in": 25.4, "feet": 304.8, "mi": 1_609_344, "meter": 1000, "metre": 1000,
	"meters": 1000, "metres": 1000}

var lengthText = regexp.MustCompile(`^(\d+(?:\.\d+)?)\s*(mm|cm|m|km|ft|in|mi|meters?|metres?)?$`)

// parseLength reads 5m, 2.5 m, 10ft, and numbers in the given unit, as millimetres.
func parseLength(s, unitName string) (int64, error) {
	m := lengthText.FindStringSubmatch(strings.ToLower(strings.TrimSpace(s)))
	if m == nil {
		return 0, fmt.Errorf("%q is not a length; accepted: 5, 5m, 300cm, 2km, 10ft", s)
	}
	if m[2] != "" {
		unitName = m[2]
	}
	mm := millimetres[unitName]
	if mm == 0 {
		return 0, fmt.Errorf("%q is not a unit of length; accepted: mm, cm, m, km, in, ft, mi", unitName)
	}
	f, err := strconv.ParseFloat(m[1], 64)
	if f *= mm; err != nil || f > mostMM {
		return 0, fmt.Errorf("%q is not a length of a cable: at most 1000km", s)
	}
	return int64(math.Round(f)), nil
}

// mostMM is the maximum length of a cable, 1000 km.
const mostMM = 1_000_000_000

// lengthOf returns the cable length for a light delay in picoseconds (1.98e8 m/s, docs/references.md, headroom), to
// the millimetre, which is 5 ps, because other simulators contain delays.
func lengthOf(text string, ps float64) (int64, error) {
	mm := math.Round(ps * 0.198)
	if !(ps >= 0 && mm <= mostMM) {
		return 0, fmt.Errorf("%q is not a delay of a cable: at most 5.05ms, which light takes for 1000km", text)
	}
	return int64(mm), nil
}

// serverWords and switchWords begin common names.
var (
	serverWords = regexp.MustCompile(`(?i)^(host|gpu|dgx|hgx|server|srv|node|compute|cn|worker|` +
		`h|npu|client|storage|login|fs)[-_.]?\d*([-_.]|$)`)
	roleWords = []struct {
		role string
		word *regexp.Regexp
	}{
		{"super-spine", regexp.MustCompile(`(?i)(^|[-_.\d])(super-?spine|ss|sspine)([-_.\d]|$)`)},
		{"spine", regexp.MustCompile(`(?i)(^|[-_.\d])(spine|sp|spinesw)([-_.\d]|$)`)},
		{"rail", regexp.MustCompile(`(?i)(^|[-_.\d])(rail)([-_.\d]|$)`)},
		{"leaf", regexp.MustCompile(`(?i)(^|[-_.\d])(leaf|tor|edge|lf|leafsw|asw)([-_.\d]|$)`)},
		{"aggregation", regexp.MustCompile(`(?i)(^|[-_.\d])(agg|aggr|aggregation|psw|dist)([-_.\d]|$)`)},
		{"core", regexp.MustCompile(`(?i)(^|[-_.\d])(core|csw|cs)([-_.\d]|$)`)},
	}
	switchWords = regexp.MustCompile(`(?i)(^|[-_.\d])(sw|switch|nsw|n9k|fabric)([-_.\d]|$)`)
)

// roleOf returns a switch's role from its name, "" if unknown.
func roleOf(name string) string {
	for _, w := range roleWords {
		if w.word.MatchString(name) {
			return w.role
		}
	}
	return ""
}

// kindOf returns the kind of a node by its name.
func kindOf(name string) (Kind, string) {
	if role := roleOf(name); role != "" {
		return Switch, role
	}
	if switchWords.MatchString(name) {
		return Switch, ""
	}
	if serverWords.MatchString(name) {
		return Server, ""
	}
	return Unknown, ""
}

// roleSynonym returns the kind of node for a role's name in inventories.
func roleSynonym(word string) (Kind, string) {
	switch w := strings.ToLower(strings.TrimSpace(word)); w {
	case "rail", "leaf", "aggregation", "spine", "super-spine", "core":
		return Switch, w
	case "superspine", "super spine":
		return Switch, "super-spine"
	case "tor", "top-of-rack", "access", "edge", "leaf-switch", "leaf switch":
		return Switch, "leaf"
	case "agg", "distribution", "aggregation-switch":
		return Switch, "aggregation"
	case "spine-switch", "spine switch":
		return Switch, "spine"
	case "switch", "network", "router":
		return Switch, ""
	case "server", "host", "compute", "gpu", "gpu-server", "gpu server", "gpu-node", "node", "storage", "worker":
		return Server, ""
	}
	return Unknown, ""
}
