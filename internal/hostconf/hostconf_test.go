package hostconf

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/story"
	"railyard/internal/swconf"

	"pgregory.net/rapid"
)

// said is a host in words: what show prints of it.
func said(h *swconf.Host) string {
	var b strings.Builder
	for _, v := range h.Views() {
		fmt.Fprintf(&b, "  %s: %s\n", v.Title, strings.Join(v.Lines, "; "))
		for _, r := range v.Rows {
			fmt.Fprintf(&b, "    %d: DSCP %s, class %s, PFC %s, ECN %s %s\n", r.Priority, r.DSCP,
				r.Class, r.PFC,
				r.ECN, r.For)
		}
	}
	for _, v := range h.Variables() {
		fmt.Fprintf(&b, "  %s=%s\n", v.Name, v.Value)
	}
	for _, n := range h.Notes {
		fmt.Fprintf(&b, "  note: %s\n", n)
	}
	for _, u := range h.Unknown {
		fmt.Fprintf(&b, "  %d: %s: %s\n", u.At.Line, u.Text, u.Why)
	}
	for _, f := range h.Faults {
		fmt.Fprintf(&b, "  %d: %s\n", f.Line, f.Message)
	}
	fmt.Fprintf(&b, "  %d read, %d passed over, %d unknown of %d\n", h.Read, h.Passed,
		h.Total-h.Read-h.Passed, h.Total)
	return b.String()
}

// What people write and what tools print, each with what is understood of it.
func TestTexts(t *testing.T) {
	for _, name := range []string{"scripts", "printed", "amd-broadcom", "wrapped", "tables"} {
		story.Cases(t, name, func(text string) string {
			h, err := Parse("host.sh", []byte(text))
			if err != nil {
				return err.Error()
			}
			return said(h)
		})
	}
}

// A host of several texts: readings of /sys as files, a script, variables; what comes later counts, and what
// is said of every NIC is said of each.
func TestFolder(t *testing.T) {
	h, err := ParseFiles("node7", []File{
		{"node7/a.sh", []byte("mlnx_qos -i eth0 --trust pcp\nfor d in $(ls /sys/class/net); do\n" +
			"mlnx_qos -i $d --pfc 0,0,0,1,0,0,0,0\ndone\n")},
		{"node7/b.sh", []byte("mlnx_qos -i eth0 --trust dscp\n")},
		{"node7/nccl.conf", []byte("NCCL_IB_TC=96\nNCCL_IB_TC=104\n")},
		{"node7/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", []byte("eth0\n")},
		{"node7/sys/class/net/eth0/ecn/roce_np/cnp_dscp", []byte("48\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	n := h.NICs[0]
	mask, at, _ := n.Paused()
	if v, _ := h.Var("NCCL_IB_TC"); len(h.NICs) != 1 || n.Title() != "eth0 (mlx5_0)" ||
		n.Trust.V != "dscp" ||
		n.Trust.At.File != "node7/b.sh" || mask != 8 || at.Line != 3 || n.CNPDSCP.V != 48 ||
		v.Value != "104" ||
		h.Name() != "node7" {
		t.Errorf("%+v\n%s", n, said(h))
	}
}

// A text in UTF-16, or of a byte a letter, is one: what it says is read.
func TestEncodings(t *testing.T) {
	const text = "#!/bin/bash\n# Schl\xfcssel\nmlnx_qos -i eth0 --trust dscp\n"
	wide := []byte{0xff, 0xfe}
	for _, b := range []byte(text) {
		wide = append(wide, b, 0)
	}
	for _, x := range [][]byte{[]byte(text), wide} {
		h, err := Parse("x.sh", x)
		if err != nil || len(h.NICs) != 1 || h.NICs[0].Trust.V != "dscp" || !Is(x) {
			t.Errorf("%q: %v", x, err)
		}
	}
}

// A tool that refuses a value changes nothing.
func TestRefusedAltogether(t *testing.T) {
	h, err := Parse("x.sh", []byte("bnxt_setupcc.sh -i eth0 -m 3 -r 3 -s 26\n"+
		"bnxt_setupcc.sh -i eth0 -m 3 -r 9 -s 64\nmlnx_qos -i eth1 --pfc 0,0,0,1,0,0,0,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	mask, _, _ := h.NICs[0].Paused()
	if _, _, said := h.NICs[1].Paused(); mask != 8 || h.NICs[0].Data.V != 26 || said || len(h.Faults) != 3 {
		t.Errorf("mask %d, %+v\n%v", mask, h.NICs[0].Data, h.Faults)
	}
}

// What is no host's text is refused with what would be accepted, and where.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "is empty",
		"\x00":                           "binary",
		"hello":                          "contains no supported setting of a host's NICs",
		"#!/usr/bin/perl\nmlnx_qos ":     "is run by",
		"mlnx_qos -i 'eth0":              "host.sh",
		strings.Repeat("x", MaxSize+100): "at most",
		"mlnx_qos -i $(( ":               "host.sh:1",
		strings.Repeat("for i in $(seq 999); do ip link set eth$i mtu 9000; done\n",
			1): "more NICs than a server has",
	} {
		if _, err := Parse("host.sh", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// Whatever stands in a text, it is read or refused, and every line is accounted for.
func TestAnyText(t *testing.T) {
	words := []string{"mlnx_qos", "-i", "eth0", "--pfc", "0,0,0,1,0,0,0,0", "--trust", "dscp", "=",
		"dcb", "pfc",
		"set", "dev", "prio-pfc", "3:on", "9:", "app", "add", "dscp-prio", "64:1", "nicctl", "update", "qos",
		"scheduling", "--priority", "1,2", "--dwrr", "echo", "1", ">",
		"/sys/class/net/eth0/ecn/roce_np/enable/3",
		"/sys/class/net/", "|", "tee", "\n", "\n", "bnxt_setupcc.sh", "-r", "3", "niccli", "--enable",
		"lldptool",
		"-T", "-V", "APP", "app=1,5,70", "$X", "NCCL_IB_TC=", "999999999999999999999", "mlxconfig",
		"RPG_GD_P1=x",
		"hca_id:", "active_mtu:", "GID[", "prio:9 dscp:99,", "tc: 9", "enabled 1 1",
		"Priority trust state: dscp"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 40).Draw(t, "words"), " ")
		h, err := Parse("x", []byte(text))
		if err != nil {
			return
		}
		if h.Read+h.Passed > h.Total {
			t.Fatalf("%d read and %d passed over of %d lines", h.Read, h.Passed, h.Total)
		}
		said(h)
	})
}

// FEC and autonegotiation of a NIC, as ethtool is told and as it prints them; a code that it does not know is
// refused with those that it does.
func TestCodes(t *testing.T) {
	for text, want := range map[string]string{
		"ethtool --set-fec eth0 encoding rs\n":       "FEC rs",
		"ethtool --set-fec eth0 encoding RS BaseR\n": "FEC auto",
		"ethtool --set-fec eth0 encoding off\n":      "FEC off",
		"ethtool -s eth0 speed 100000 autoneg off\n": "autonegotiation off",
		"ethtool -s eth0 autoneg on duplex full\n":   "autonegotiation on",
		"$ ethtool --show-fec eth0\nFEC parameters for eth0:\n" +
			"Configured FEC encodings: Auto\nActive FEC encoding: RS\n$ ": "FEC rs",
		"ethtool --set-fec eth0 encoding reed\n": "auto, off, rs, baser or llrs are accepted",
		"ethtool --set-fec eth0 rs\n":            "it takes encoding with auto, off, rs, baser or llrs",
		"ethtool --set-fec eth0\n":               "it takes encoding with",
	} {
		h, err := Parse("host.sh", []byte(text+"mlnx_qos -i eth0 --trust dscp\n"))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := said(h); !strings.Contains(got, want) {
			t.Errorf("%q: %s", text, got)
		}
	}
}
