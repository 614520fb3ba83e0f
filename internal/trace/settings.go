package trace

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/tally"
	"railyard/unit"
)

// hpccMode is a value of CC_MODE: our algorithm, and which keys are its parameters.
type hpccMode struct {
	name, algorithm, profile string
	params                   map[string]hpccParam
}

// hpccParam is the setting that a key's value sets, with the unit after it.
type hpccParam struct{ name, unit string }

var hpccModes = map[int]hpccMode{
	1: {"DCQCN", "dcqcn", "", map[string]hpccParam{"ALPHA_RESUME_INTERVAL": {"alpha_timer", "us"},
		"RATE_DECREASE_INTERVAL": {"cut_interval", "us"}, "RP_TIMER": {"rate_timer", "us"}, "EWMA_GAIN": {"g",
			""},
		"FAST_RECOVERY_TIMES": {"f", ""}, "RATE_AI": {"ai", "rate"}, "RATE_HAI": {"hai", "rate"},
		"MIN_RATE": {"min_rate", "rate"}, "CLAMP_TARGET_RATE": {"clamp_target", "flag"}}},
	3: {"HPCC", "hpcc", "artifact", map[string]hpccParam{"U_TARGET": {"eta", ""}, "MI_THRESH": {"max_stage",
		""},
		"RATE_AI": {"ai", "rate"}}},
	7: {"TIMELY", "timely", "", nil},
	8: {"DCTCP", "dctcp", "", map[string]hpccParam{"EWMA_GAIN": {"g", ""}}},
}

// hpccKeys has the number of values of each key that is not a map, and why it is ignored; "" if it is read.
var hpccKeys = map[string]string{"ENABLE_QCN": "", "PACKET_PAYLOAD_SIZE": "", "CC_MODE": "",
	"BUFFER_SIZE":     "",
	"L2_ACK_INTERVAL": "", "TOPOLOGY_FILE": "name", "FLOW_FILE": "name", "ALPHA_RESUME_INTERVAL": "cc",
	"RATE_DECREASE_INTERVAL": "cc", "RP_TIMER": "cc", "EWMA_GAIN": "cc", "FAST_RECOVERY_TIMES": "cc",
	"RATE_AI":  "cc",
	"RATE_HAI": "cc", "MIN_RATE": "cc", "CLAMP_TARGET_RATE": "cc", "U_TARGET": "cc", "MI_THRESH": "cc",
	"DCTCP_RATE_AI": "cc", "HAS_WIN": "cc", "GLOBAL_T": "cc", "VAR_WIN": "cc", "FAST_REACT": "cc",
	"INT_MULTI":  "cc",
	"MULTI_RATE": "cc", "SAMPLE_FEEDBACK": "cc", "PINT_LOG_BASE": "cc", "PINT_PROB": "cc", "RATE_BOUND": "cc",
	"TRACE_FILE": "output", "TRACE_OUTPUT_FILE": "output", "FCT_OUTPUT_FILE": "output",
	"PFC_OUTPUT_FILE": "output",
	"QLEN_MON_FILE":   "output", "QLEN_MON_START": "output", "QLEN_MON_END": "output",
	"ENABLE_TRACE":        "output",
	"SIMULATOR_STOP_TIME": "output"}

// IsSettings recognizes HPCC's config.txt by its keys.
func IsSettings(text []byte) bool {
	known := 0
	for line := range bytes.Lines(beginning(text)) {
		if words := strings.Fields(string(line)); len(words) > 1 {
			if _, is := hpccKeys[words[0]]; is {
				known++
			}
		}
	}
	return known > 2
}

// hpccSettings is a config.txt while it is read.
type hpccSettings struct {
	file   string
	at     map[string]int
	words  map[string][]string
	keys   []string
	report Report
}

// Settings reads HPCC's config.txt (documented in its config_doc.txt) and returns the corresponding scenario keys as
// YAML: congestion control, ECN and buffer of switches, packets.
func Settings(f File) (string, Report, error) {
	c := &hpccSettings{file: f.Name, at: map[string]int{}, words: map[string][]string{}}
	n := 0
	for line := range bytes.Lines(f.Text) {
		n++
		text, _, _ := strings.Cut(string(line), "{")
		words := strings.Fields(text)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if c.at[words[0]] > 0 {
			return "", c.report, at(f.Name, n, "%s is on line %d already", words[0], c.at[words[0]])
		}
		if len(words) < 2 {
			return "", c.report, at(f.Name, n, "%s has no value", field.Quote(words[0]))
		}
		c.at[words[0]], c.words[words[0]] = n, words[1:]
		c.keys = append(c.keys, words[0])
	}
	text, err := c.yaml()
	return text, c.report, err
}

// number reads a key's value; false: the file has no such key.
func (c *hpccSettings) number(key string) (x float64, has bool, err error) {
	words, has := c.words[key]
	if !has {
		return 0, false, nil
	}
	if x, err = strconv.ParseFloat(words[0], 64); err != nil || !(x >= 0 && x <= 1e18) {
		return 0, true, at(c.file, c.at[key], "%s is %s, expected a number from 0 on", key, field.Quote(words[0]))
	}
	return x, true, nil
}

// yaml writes the scenario's keys.
func (c *hpccSettings) yaml() (string, error) {
	var b strings.Builder
	taken := map[string]bool{}
	for _, part := range []func(*strings.Builder, map[string]bool) error{c.control, c.switches, c.transport} {
		if err := part(&b, taken); err != nil {
			return "", err
		}
	}
	for _, key := range c.keys {
		why, known := hpccKeys[key]
		n := c.at[key]
		switch {
		case taken[key]:
			note(&c.report.Mapped, "settings of HPCC's simulator", c.file, n)
		case why == "output":
			note(&c.report.Left, "output files and stop time of the simulator", c.file, n)
		case why == "name":
			note(&c.report.Left, fmt.Sprintf("%s %s, which is used where it is named here", key, c.words[key][0]),
				c.file, n)
		case why == "cc":
			note(&c.report.Left, "parameters of congestion control that do not exist here, or belong to another algorithm", c.file,
				n)
		case strings.Trim(strings.Join(c.words[key], ""), "0.") == "":
			note(&c.report.Left, "settings that are 0", c.file, n)
		case known:
			tally.Note(&c.report.Left, key, c.file, n)
		default:
			note(&c.report.Left, key+" "+strings.Join(c.words[key], " "), c.file, n)
		}
	}
	return b.String(), nil
}

// control writes the congestion control.
func (c *hpccSettings) control(b *strings.Builder, taken map[string]bool) error {
	x, has, err := c.number("CC_MODE")
	if err != nil || !has {
		return err
	}
	mode, known := hpccModes[int(x)]
	if !known {
		return at(c.file, c.at["CC_MODE"], "CC_MODE is %v; accepted: 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP)", x)
	}
	taken["CC_MODE"] = true
	fmt.Fprintf(b, "cc:\n  algorithm: %s\n", mode.algorithm)
	var lines []string
	if mode.profile != "" {
		lines = append(lines, "profile: "+mode.profile)
	}
	for _, key := range c.keys {
		p, is := mode.params[key]
		if !is {
			continue
		}
		v, err := c.value(key, p.unit)
		if err != nil {
			return err
		}
		if p.name == "max_stage" && v == "0" {
			continue // of the profile, which has none
		}
		lines = append(lines, p.name+": "+v)
		taken[key] = true
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "  %s: {%s}\n", mode.algorithm, strings.Join(lines, ", "))
	}
	return nil
}

// value writes a key's value as a scenario has it.
func (c *hpccSettings) value(key, in string) (string, error) {
	word := c.words[key][0]
	if in == "rate" {
		rate, err := unit.ParseRate(strings.Replace(word, "b/s", "bps", 1))
		if err != nil {
			return "", at(c.file, c.at[key], "%s is %s, expected a rate, as 50Mb/s", key, field.Quote(word))
		}
		return strings.ReplaceAll(rate.String(), " ", ""), nil
	}
	x, _, err := c.number(key)
	if err != nil {
		return "", err
	}
	if in == "flag" {
		return strconv.FormatBool(x != 0), nil
	}
	return strconv.FormatFloat(x, 'f', -1, 64) + in, nil
}

// switches writes buffer and ECN of the switches. Thresholds are given per rate: the thresholds of the highest rate
// are used.
func (c *hpccSettings) switches(b *strings.Builder, taken map[string]bool) error {
	var lines []string
	if x, has, err := c.number("BUFFER_SIZE"); err != nil {
		return err
	} else if has && x > 0 {
		lines = append(lines, fmt.Sprintf("buffer: %gMiB", x))
		taken["BUFFER_SIZE"] = true
	}
	qcn, has, err := c.number("ENABLE_QCN")
	if err != nil {
		return err
	}
	taken["ENABLE_QCN"] = has
	limits := [3]float64{}
	all := true
	for i, key := range []string{"KMIN_MAP", "KMAX_MAP", "PMAX_MAP"} {
		x, is, err := c.highest(key)
		if err != nil {
			return err
		}
		limits[i], all = x, all && is
	}
	switch {
	case has && qcn == 0:
		lines = append(lines, `queues: {"3": {ecn: false}}`)
	case all:
		lines = append(lines,
			fmt.Sprintf(`queues: {"3": {ecn: true, wred_min: %gKB, wred_max: %gKB, probability: %g}}`,
				limits[0], limits[1], math.Round(limits[2]*1e6)/1e4))
		for _, key := range []string{"KMIN_MAP", "KMAX_MAP", "PMAX_MAP"} {
			taken[key] = true
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "switch:\n  %s\n", strings.Join(lines, "\n  "))
	}
	return nil
}

// highest is a map's value for the highest rate: how many pairs, and then rates and values.
func (c *hpccSettings) highest(key string) (value float64, has bool, err error) {
	words, has := c.words[key]
	if !has {
		return 0, false, nil
	}
	n, e := strconv.Atoi(words[0])
	if e != nil || n < 1 || len(words) != 1+2*n {
		return 0, true, at(c.file, c.at[key], "%s is %s, expected how many pairs of rate and value follow, and those",
			key, field.Quote(strings.Join(words, " ")))
	}
	top := 0.0
	for k := range n {
		rate, e1 := strconv.ParseFloat(words[1+2*k], 64)
		x, e2 := strconv.ParseFloat(words[2+2*k], 64)
		if e1 != nil || e2 != nil || !(rate > 0) || !(x >= 0 && x < 1e9) {
			return 0, true, at(c.file, c.at[key], "%s has %s %s, expected a rate in bit/s and a value", key,
				field.Quote(words[1+2*k]), field.Quote(words[2+2*k]))
		}
		if rate > top {
			top, value = rate, x
		}
	}
	if n > 1 {
		note(&c.report.Guessed, "ECN thresholds by rate; the thresholds of the highest rate are used for all ports",
			c.file,
			c.at[key])
	}
	return value, true, nil
}

// transport writes the packets.
func (c *hpccSettings) transport(b *strings.Builder, taken map[string]bool) error {
	var lines []string
	x, has, err := c.number("PACKET_PAYLOAD_SIZE")
	if err != nil {
		return err
	}
	if has {
		sizes := []float64{256, 512, 1024, 2048, 4096}
		i := slices.IndexFunc(sizes, func(s float64) bool { return x <= s })
		if i < 0 || x < 1 {
			return at(c.file, c.at["PACKET_PAYLOAD_SIZE"], "PACKET_PAYLOAD_SIZE is %v, expected 1 to 4096", x)
		}
		if sizes[i] != x {
			note(&c.report.Guessed, fmt.Sprintf("packets of %v bytes, which become %v", x, sizes[i]), c.file,
				c.at["PACKET_PAYLOAD_SIZE"])
		}
		lines, taken["PACKET_PAYLOAD_SIZE"] = append(lines, fmt.Sprintf("mtu: %v", sizes[i])), true
	}
	if x, has, err = c.number("L2_ACK_INTERVAL"); err != nil {
		return err
	} else if has && x >= 1 && x <= 256 {
		lines, taken["L2_ACK_INTERVAL"] = append(lines, fmt.Sprintf("ack_every: %.0f", x)), true
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "transport: {%s}\n", strings.Join(lines, ", "))
	}
	return nil
}
