package planner

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	known "railyard/internal/site"
	"railyard/unit"
)

// SwitchModel is a switch by its ports, "128x400G".
type SwitchModel struct {
	Ports, Rate int // Gbit/s
	Radix       int // maximum number of ports when split; 0: limited by their rates only
	Split       int // maximum parts of a split port; 0: 8, its lanes
}

func (s SwitchModel) String() string { return fmt.Sprintf("%dx%dG", s.Ports, s.Rate) }

// broken returns the number of ports of a rate on a switch, with faster ports split.
func (s SwitchModel) broken(rate int) int {
	n := s.Ports * s.parts(rate)
	if s.Radix > 0 {
		n = min(n, s.Radix)
	}
	return n
}

// lanes is the number of serial lanes that the ports of today's switches have at most, and so parts.
const lanes = 8

// parts returns the number of links of a rate on a split port; 0 if the rate is above the port's.
func (s SwitchModel) parts(rate int) int {
	most := s.Split
	if most == 0 {
		most = lanes
	}
	return min(s.Rate/rate, most)
}

// beside returns the number of links of a rate that fit a switch in addition to others, with each kind on whole
// ports.
func (s SwitchModel) beside(others, count, rate int) int {
	n := (s.Ports - ceilInt(count, max(1, s.parts(others)))) * s.parts(rate)
	if s.Radix > 0 {
		n = min(n, s.Radix-count)
	}
	return n
}

// holds reports whether a switch has ports for links of a rate, with each kind on whole ports.
func (s SwitchModel) holds(rate int, kinds ...int) bool {
	ports, links := 0, 0
	for _, n := range kinds {
		ports, links = ports+ceilInt(n, max(1, s.parts(rate))), links+n
	}
	return ports <= s.Ports && (s.Radix == 0 || links <= s.Radix)
}

// yaml is the switch as a type of a described fabric, its ports broken out down to a rate.
func (s SwitchModel) yaml(least int) string {
	return fmt.Sprintf("ports: %dx%dGbps, split: %d", s.Ports, s.Rate, max(1, s.parts(least)))
}

// capacities are chips of switches by Tbit/s, with the fastest ports of their generation (switches.json). The first
// have 32 ports of eight lanes of 50 Gbit/s, then 64, and later lanes have 100 and 200 Gbit/s. Earlier chips had
// 100G in four lanes.
var capacities = map[float64]SwitchModel{3.2: {Ports: 32, Rate: 100}, 6.4: {Ports: 64, Rate: 100},
	12.8: {Ports: 32, Rate: 400}, 25.6: {Ports: 64, Rate: 400}, 51.2: {Ports: 64, Rate: 800},
	102.4: {Ports: 64, Rate: 1600}}

// ParseSwitch parses "128x400G", a capacity, "51.2T", or a known switch, "tomahawk5".
func ParseSwitch(s string) (SwitchModel, error) {
	lower := strings.ToLower(s)
	for _, m := range known.Models() {
		if m.Key != lower {
			continue
		}
		ports, rate, _ := strings.Cut(m.Ports, "x")
		n, err := strconv.Atoi(ports)
		r, err2 := unit.ParseRate(rate)
		if err != nil || err2 != nil {
			return SwitchModel{}, field.New("", "%q: its ports, %s, are not number of equal ones", s, m.Ports)
		}
		return SwitchModel{n, int(r / unit.Gbps), m.Radix, m.Split}, nil
	}
	if number, ok := strings.CutSuffix(strings.TrimSuffix(lower, "bps"), "t"); ok {
		tbps, err := strconv.ParseFloat(number, 64)
		if m, known := capacities[tbps]; err == nil && known {
			return m, nil
		}
	}
	ports, rate, ok := strings.Cut(lower, "x")
	n, err1 := strconv.Atoi(ports)
	r, err2 := strconv.Atoi(strings.TrimSuffix(rate, "g"))
	if !ok || err1 != nil || err2 != nil || n < 2 || n > 4096 || r < 10 || r > 6400 {
		err := field.Choice("", s, known.ModelNames(), "%q is not a switch: write ports x rate, as in 128x400G (2 to 4096 ports of 10 to 6400 Gbit/s), a capacity (3.2T, 6.4T, 12.8T, 25.6T, 51.2T, 102.4T) or a model (railyard models)", s).ListedBy("railyard models")
		return SwitchModel{}, err
	}
	if !slices.Contains(portRates, r) {
		return SwitchModel{}, field.New("", "%q: no port has %d Gbit/s; accepted: %s", s, r, listRates())
	}
	return SwitchModel{Ports: n, Rate: r}, nil
}

// portRates are the rates of Ethernet ports (IEEE 802.3, and 3.2 and 6.4 Tbit/s of planned ones) and of InfiniBand's
// FDR, in Gbit/s.
var portRates = []int{10, 25, 40, 50, 56, 100, 200, 400, 800, 1600, 3200, 6400}

// listRates lists portRates.
func listRates() string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(portRates)), ", "), "[]")
}

// ParseRatio reads "7:1".
func ParseRatio(s string) (float64, error) {
	a, b, ok := strings.Cut(s, ":")
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if !ok || err1 != nil || err2 != nil || !(x > 0) || !(y > 0) || x/y < 1 || x/y > 64 {
		return 0, field.New("", "%q is not an oversubscription: write 1:1 to 64:1", s)
	}
	return x / y, nil
}

// ShowRatio writes an oversubscription: 2:1, 1.5:1, 7:3.
func ShowRatio(ratio float64) string {
	if short := strconv.FormatFloat(ratio, 'f', -1, 64); len(short) <= 5 {
		return short + ":1"
	}
	for d := 2; d <= 64; d++ {
		if n := math.Round(ratio * float64(d)); math.Abs(n/float64(d)-ratio) < 1e-9 {
			return fmt.Sprintf("%g:%d", n, d)
		}
	}
	return fmt.Sprintf("%.3g:1", ratio)
}

// split divides a switch's ports into down and up by an oversubscription.
func split(ports int, ratio float64) (down, up int) {
	up = int(math.Ceil(float64(ports)/(1+ratio) - 1e-9))
	for up > 1 && ports-up+1 <= int(float64(up-1)*ratio+1e-9) {
		up--
	}
	return min(ports-up, int(float64(up)*ratio+1e-9)), up
}

// upwards returns the number of links of equal rate that carry the lower ones at an oversubscription, at least one.
func upwards(down int, ratio float64) int { return max(1, int(math.Ceil(float64(down)/ratio-1e-9))) }

// ParseAmount reads a count with K, M, B, T: 175B, 15.6T.
func ParseAmount(s string) (float64, error) {
	scale, digits := 1.0, s
	if s != "" {
		if i := strings.IndexByte("KMBT", strings.ToUpper(s)[len(s)-1]); i >= 0 {
			scale = [...]float64{1e3, 1e6, 1e9, 1e12}[i]
			digits = s[:len(s)-1]
		}
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(v*scale >= 1) || v*scale > 1e18 {
		return 0, field.New("", "%q: write a count from 1 to 1e18 such as 175B or 15.6T", s)
	}
	return v * scale, nil
}
