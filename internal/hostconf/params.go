package hostconf

import (
	"fmt"
	"math"

	"railyard/cc"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// param is one parameter of a ConnectX NIC's DCQCN: its name below ecn/roce_rp or ecn/roce_np, the range of its
// register, its counterpart in the simulated NIC, and its factory value (docs/references.md, dcqcn-nic).
type param struct {
	name  string
	np    bool // whether the configuration sets the notification point
	most  int64
	ships int64
	of    string              // the parameter of cc's dcqcn; "": not simulated but as it ships
	get   func(int64) any     // conversion from the NIC's number
	put   func(v any) float64 // to it
}

// micros, megabits and shares are the units of the NIC's numbers.
var (
	micros = func(n int64) any { return unit.Time(n) * unit.Microsecond }
	unmic  = func(v any) float64 { return float64(v.(unit.Time)) / float64(unit.Microsecond) }
	mega   = func(n int64) any { return unit.Rate(n) * unit.Mbps }
	unmega = func(v any) float64 { return float64(v.(unit.Rate)) / float64(unit.Mbps) }
)

// fixed is the unit of fractions: 2^-10.
const fixed = 1024

var params = []param{
	{name: "clamp_tgt_rate", most: 1, ships: 0, of: "clamp_target", get: func(n int64) any { return n == 1 },
		put: func(v any) float64 {
			if v.(bool) {
				return 1
			}
			return 0
		}},
	{name: "clamp_tgt_rate_after_time_inc", most: 1, ships: 1},
	{name: "rpg_time_reset", most: 1<<17 - 1, ships: 300, of: "rate_timer", get: micros, put: unmic},
	{name: "rpg_byte_reset", most: 1<<15 - 1, ships: 1<<15 - 1, of: "byte_counter", get: bytesOf, put: bytesTo},
	{name: "rpg_threshold", most: 31, ships: 1, of: "f", get: func(n int64) any { return int(n) },
		put: func(v any) float64 { return float64(v.(int)) }},
	{name: "rpg_max_rate", most: 1<<17 - 1, ships: 0},
	{name: "rpg_ai_rate", most: 1<<17 - 1, ships: 5, of: "ai", get: mega, put: unmega},
	{name: "rpg_hai_rate", most: 1<<17 - 1, ships: 50, of: "hai", get: mega, put: unmega},
	{name: "rpg_gd", most: 15, ships: 11},
	{name: "rpg_min_dec_fac", most: 99, ships: 50, of: "max_cut",
		get: func(n int64) any { return 1 - float64(n)/100 },
		put: func(v any) float64 { return 100 * (1 - v.(float64)) }},
	{name: "rpg_min_rate", most: 1<<17 - 1, ships: 1, of: "min_rate", get: mega, put: unmega},
	{name: "rate_to_set_on_first_cnp", most: 1<<17 - 1, ships: 0},
	{name: "dce_tcp_g", most: fixed - 1, ships: 1019, of: "g",
		get: func(n int64) any { return float64(fixed-n) / fixed },
		put: func(v any) float64 { return fixed * (1 - v.(float64)) }},
	{name: "dce_tcp_rtt", most: 1<<17 - 1, ships: 1, of: "alpha_timer", get: micros, put: unmic},
	{name: "rate_reduce_monitor_period", most: 1<<17 - 1, ships: 4, of: "cut_interval", get: micros, put: unmic},
	{name: "initial_alpha_value", most: fixed - 1, ships: 1023, of: "alpha_init",
		get: func(n int64) any { return float64(n) / fixed },
		put: func(v any) float64 { return fixed * v.(float64) }},
	{name: "min_time_between_cnps", np: true, most: 1<<16 - 1, ships: 4, of: "cnp_interval", get: micros, put: unmic},
}

// bytesOf is a byte counter, in thousands of bytes. At its maximum it never expires, so it is off (package cc
// explains it).
func bytesOf(n int64) any {
	if n >= 1<<15-1 {
		return unit.Bytes(0)
	}
	return unit.Bytes(n) * unit.KB
}

func bytesTo(v any) float64 {
	if b := v.(unit.Bytes); b > 0 {
		return float64(b) / float64(unit.KB)
	}
	return 1<<15 - 1
}

// paramNamed is a parameter by its name below /sys.
func paramNamed(name string) *param {
	for i := range params {
		if params[i].name == name {
			return &params[i]
		}
	}
	return nil
}

// Values returns the parameters of the simulated NIC's DCQCN in a NIC's configuration. Unsupported ones are an error.
func Values(n *swconf.HostNIC) (cc.Values, error) {
	out := cc.Values{}
	for _, said := range n.Params {
		p := paramNamed(said.Name)
		switch {
		case p == nil:
			return nil, fault(said.At, "%s %d: the units of this NIC's parameters are not public, so that it cannot be simulated; ConnectX's (rpg_ai_rate and the others) can", said.Name, said.V)
		case p.of != "":
			out[p.of] = p.get(said.V)
		case said.V != p.ships:
			return nil, fault(said.At, "%s %d is not simulated, only %d is", said.Name, said.V, p.ships)
		}
	}
	return out, nil
}

// fault returns an error at a position of a host's configuration.
func fault(at swconf.Place, format string, args ...any) error {
	return &cli.SyntaxError{File: at.File, Line: at.Line, Col: at.Col, Msg: fmt.Sprintf(format, args...)}
}

// Rounded is a value of DCQCN as the NIC's register can hold it.
func Rounded(of string, v any) (any, error) {
	for i := range params {
		if p := &params[i]; p.of == of {
			n, err := p.number(v)
			if err != nil {
				return nil, err
			}
			return p.get(n), nil
		}
	}
	return v, nil
}

// number returns the NIC's value: the nearest value that its register holds. A positive value never becomes 0.
func (p *param) number(v any) (int64, error) {
	x := p.put(v)
	n := int64(math.Round(x))
	if n == 0 && x > 0 {
		n = 1
	}
	if n < 0 || n > p.most {
		return 0, fmt.Errorf("%s %v: %s would be %d, and holds at most %d", p.of, v, p.name, n, p.most)
	}
	return n, nil
}

// Numbers returns the parameters of a ConnectX NIC equivalent to the simulated NIC's.
func Numbers(v cc.Values) (out []swconf.HostParam, err error) {
	for i := range params {
		p := &params[i]
		if p.of == "" {
			continue
		}
		value, ok := v[p.of]
		if !ok {
			continue
		}
		n, err := p.number(value)
		if err != nil {
			return nil, err
		}
		out = append(out, swconf.HostParam{Name: p.name, V: n})
	}
	return out, nil
}
