package hostconf

import (
	"reflect"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/internal/swconf"
	"railyard/unit"

	"pgregory.net/rapid"
)

// bare is a host's values without places, counts and notes.
func bare(h *swconf.Host) any {
	type host struct {
		NICs []swconf.HostNIC
		Env  []swconf.HostVar
	}
	var out host
	for _, n := range h.NICs {
		c := *n
		unplace(reflect.ValueOf(&c).Elem())
		out.NICs = append(out.NICs, c)
	}
	for _, v := range h.Env {
		out.Env = append(out.Env, swconf.HostVar{Name: v.Name, Value: v.Value})
	}
	return out
}

// unplace sets all places to the same value, so that a given value stays marked as given.
func unplace(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if p, ok := v.Addr().Interface().(*swconf.Place); ok {
			if p.Line > 0 {
				*p = here
			}
			return
		}
		for i := range v.NumField() {
			unplace(v.Field(i))
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			unplace(v.Index(i))
		}
	}
}

// A written configuration reads back as the wanted values. Every line is understood and none is wrong. The
// parameters of DCQCN are those of the simulated NIC, rounded to what a NIC's registers hold.
func TestRoundTrip(t *testing.T) {
	nic := cc.Lookup("dcqcn").Profile("nic")
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
		w := Wanted{Host: "node-1", Kind: rapid.SampledFrom(Kinds).Draw(t, "kind"), NICs: number("nics",
			1, 9),
			DSCP: number("dscp", 0, 63), CNPDSCP: number("cnp", 0, 63), Prio: number("prio", 0, 7),
			CNPPrio: number("cnp prio", 0, 7), MTU: unit.Bytes(number("mtu", 1280, 9216)),
			QPs: number("qps", 1, 128), Timeout: number("timeout", 0, 31), Retries: number("retries", 0, 7),
			Split:  rapid.Bool().Draw(t, "split"),
			Params: nic.Of(unit.Rate(number("rate", 10, 800)) * unit.Gbps)}
		if w.DSCP == w.CNPDSCP || w.Prio == w.CNPPrio {
			return
		}
		w.Lossless = 1 << w.Prio
		h, _, err := Make(w)
		if err != nil {
			t.Fatal(err)
		}
		var files []File
		for _, f := range Write(h) {
			files = append(files, File{f.Path, []byte(f.Text)})
		}
		got, err := ParseFiles("node-1", files)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Unknown)+len(got.Faults) > 0 {
			t.Fatalf("%s\n%s", files[0].Text, said(got))
		}
		if a, b := bare(h), bare(got); !reflect.DeepEqual(a, b) {
			t.Fatalf("wanted\n%+v\nread\n%+v\nof\n%s%s", a, b, files[0].Text, files[1].Text)
		}
		values, err := Values(got.NICs[0])
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range w.Params {
			if w.Kind != "mlx5" || name == "cnp_delay" { // what the NIC takes, which nobody sets
				continue
			}
			rounded, err := Rounded(name, v)
			if err != nil || values[name] != rounded {
				t.Fatalf("%s %v is read as %v, rounded %v (%v)", name, v, values[name], rounded, err)
			}
		}
	})
}

// The factory values of ConnectX at 25 Gbit/s are the simulator's profile of it. No number is rounded, and each is
// in mlxconfig's list.
func TestShipped(t *testing.T) {
	v := cc.Lookup("dcqcn").Profile("nic").Of(25 * unit.Gbps)
	numbers, err := Numbers(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		if p := paramNamed(n.Name); n.V != p.ships {
			t.Errorf("%s is %d, and ships with %d", n.Name, n.V, p.ships)
		}
		if p := paramNamed(n.Name); p.get(n.V) != v[p.of] {
			t.Errorf("%s %d is %v, and the profile has %v", n.Name, n.V, p.get(n.V), v[p.of])
		}
	}
	if len(numbers) != len(v)-1 { // all but cnp_delay
		t.Errorf("%d of %d parameters have a register", len(numbers), len(v))
	}
}

// A value that the NIC cannot hold is refused, or rounded with a note.
func TestNotWritten(t *testing.T) {
	paper := cc.Lookup("dcqcn").Profile("paper").Of(100 * unit.Gbps)
	for want, w := range map[string]Wanted{
		"DCQCN as in its paper":       {Kind: "mlx5", NICs: 1, Params: paper},
		"protects one priority":       {Kind: "bnxt", NICs: 1, Lossless: 0x18},
		"accepted: mlx5, bnxt, ionic": {Kind: "efa"},
		"holds at most": {Kind: "mlx5", NICs: 1,
			Params: cc.Values{"cut_interval": unit.Second, "ai": unit.Rate(1)}},
	} {
		if _, _, err := Make(w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	_, notes, err := Make(Wanted{Kind: "mlx5", NICs: 1, Params: cc.Values{"ai": 1500 * unit.Kbps}})
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "rpg_ai_rate 2, which is 2Mbps") {
		t.Errorf("%q, %v", notes, err)
	}
	for _, bad := range []string{"echo 1 > /sys/class/net/eth0/ecn/roce_rp/rpg_max_rate",
		"echo 10 > /sys/class/net/eth0/ecn/roce_rp/rpg_gd", "nicctl update dcqcn -r ionic_0 --ai-rate 160"} {
		h, err := Parse("x.sh", []byte(bad))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Values(h.NICs[0]); err == nil || !strings.HasPrefix(err.Error(), "x.sh:1:") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
