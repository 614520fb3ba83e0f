package rc

import (
	"testing"

	"railyard/unit"
)

// TestConfigBounds accepts both ends of every range of attributes and rejects the values beyond (ibv_modify_qp:
// retry_cnt and rnr_retry have 3 bits, min_rnr_timer 5; max_rd_atomic of NICs reaches 128).
func TestConfigBounds(t *testing.T) {
	good := Config{MTU: 1024, AckEvery: 16, Retries: 7, Window: 1024, NakAfter: 3, Reads: 16, ReadsIn: 16,
		RNRRetries: 7, RNRTimer: 12, Recovery: Selective}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		set        func(c *Config, v int)
		good, poor []int
	}{
		{"mtu", func(c *Config, v int) { c.MTU = v }, []int{256, 512, 1024, 2048, 4096},
			[]int{0, 128, 1023, 1025, 8192}},
		{"ack_every", func(c *Config, v int) { c.AckEvery = v }, []int{1, 65536}, []int{-1, 0, 65537}},
		{"retries", func(c *Config, v int) { c.Retries = v }, []int{0, 7}, []int{-1, 8}},
		{"window", func(c *Config, v int) { c.Window = v }, []int{64, 128, 65536}, []int{0, 32, 63, 65, 96, 131072}},
		{"window of go-back-N", func(c *Config, v int) { c.Recovery, c.Window = GoBackN, v }, []int{0, 65}, nil},
		{"nak_after", func(c *Config, v int) { c.NakAfter = v }, []int{0, 1023}, []int{-1, 1024, 1025}},
		{"nak_after of go-back-N", func(c *Config, v int) { c.Recovery, c.NakAfter = GoBackN, v },
			[]int{0, 1024}, []int{-1}},
		{"reads", func(c *Config, v int) { c.Reads = v }, []int{0, 128}, []int{-1, 129}},
		{"reads in", func(c *Config, v int) { c.ReadsIn = v }, []int{0, 128}, []int{-1, 129}},
		{"rnr_retry", func(c *Config, v int) { c.RNRRetries = v }, []int{0, 7}, []int{-1, 8}},
		{"min_rnr_timer", func(c *Config, v int) { c.RNRTimer = uint8(v) }, []int{0, 31}, []int{32, 255}},
		{"named window", func(c *Config, v int) { c.Named, c.Window = true, v }, []int{64, 1 << 15}, []int{1 << 16}},
	} {
		for fits, values := range map[bool][]int{true: c.good, false: c.poor} {
			for _, v := range values {
				cfg := good
				c.set(&cfg, v)
				if err := cfg.Validate(); (err == nil) != fits {
					t.Errorf("%s of %d: accepted should be %v, got %v", c.name, v, fits, err)
				}
			}
		}
	}
	named := good
	named.Named, named.Recovery = true, GoBackN
	if named.Validate() == nil {
		t.Error("go-back-N with acknowledgements that name packets is accepted")
	}
}

// TestLocalAckTimeout doubles 4.096 us with each code; code 0 never fires (IBTA 9.7.6.1.3).
func TestLocalAckTimeout(t *testing.T) {
	for code, want := range map[int]unit.Time{-1: 0, 0: 0, 1: 8192 * unit.Nanosecond, 2: 16384 * unit.Nanosecond,
		14: 67_108_864 * unit.Nanosecond, 31: 8_796_093_022_208 * unit.Nanosecond} {
		if got := LocalAckTimeout(code); got != want {
			t.Errorf("code %d is %v, want %v", code, got, want)
		}
	}
}
