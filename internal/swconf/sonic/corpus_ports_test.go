package sonic_test

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"railyard/internal/published"
	"railyard/internal/swconf/sonic"
)

// portTexts are public texts of ports and buffers, without maps. The numbers of equal ports by speed, FEC, cable
// and headroom of priority group 3 were counted from the texts by another program.
var portTexts = map[string]string{
	"mellanox2410-dynamic-full.json": `
16 at 100Gbps, 300m, dynamic
16 at 100Gbps, 40m, dynamic
24 at 100Gbps, 5m, dynamic
`,
	"su-acs-msn3800-t0-version_3_0_3.json": `
1 at 10Gbps, FEC none, 5m, dynamic
1 at 25Gbps, FEC none, 5m, dynamic
1 at 40Gbps, FEC none, 5m, dynamic
4 at 50Gbps, FEC none, 40m, dynamic
80 at 50Gbps, FEC none, 5m, dynamic
1 at 100Gbps, FEC none, 5m, dynamic
8 at 100Gbps, FEC rs, 5m, dynamic
`,
	"su-acs-msn4700-t1-version_1_0_6.json": `
1 at 10Gbps, FEC rs, 300m, xON 19456, headroom 40960, alpha 1
1 at 10Gbps, FEC rs, 40m, xON 19456, headroom 33792, alpha 1
2 at 25Gbps
3 at 25Gbps, FEC none
1 at 25Gbps, FEC none, 40m, xON 19456, headroom 35840, alpha 1
1 at 25Gbps, FEC rs
1 at 25Gbps, FEC rs, 300m, xON 19456, headroom 54272, alpha 1
1 at 40Gbps, FEC none
1 at 40Gbps, FEC rs
1 at 40Gbps, FEC rs, 300m, xON 19456, headroom 66560, alpha 1
1 at 40Gbps, FEC rs, 40m, xON 19456, headroom 37888, alpha 1
46 at 50Gbps, FEC none
1 at 50Gbps, FEC none, 40m, xON 19456, headroom 38912, alpha 1
1 at 50Gbps, FEC rs, 300m, xON 19456, headroom 75776, alpha 1
4 at 100Gbps, FEC none, 300m, xON 19456, headroom 117760, alpha 1
1 at 100Gbps, FEC none, 40m, xON 19456, headroom 44032, alpha 1
11 at 100Gbps, FEC rs
7 at 100Gbps, FEC rs, 300m, xON 19456, headroom 117760, alpha 1
2 at 100Gbps, FEC rs, 40m, xON 19456, headroom 44032, alpha 1
1 at 200Gbps, FEC none, 40m, xON 19456, headroom 55296, alpha 1
1 at 200Gbps, FEC rs
1 at 200Gbps, FEC rs, 300m, xON 19456, headroom 203776, alpha 1
8 at 400Gbps, FEC none, 40m, xON 37888, headroom 77824, alpha 1
`,
	"su-mock_tables_config_db.json": `
1 at 10Mbps
1 at 100Mbps
2 at 1Gbps
26 at 40Gbps
1 at 40Gbps, FEC auto
1 at 40Gbps, dynamic
`,
	"su-non-default-xoff-expected.json": `
1 at 10Gbps, FEC none, 5m, xON 19456, headroom 34816, alpha 1
1 at 25Gbps, FEC none, 5m, xON 19456, headroom 38912, alpha 1
1 at 40Gbps, FEC none, 5m, xON 19456, headroom 41984, alpha 1
4 at 50Gbps, FEC none, 40m, xON 19456, headroom 50176, alpha 1
80 at 50Gbps, FEC none, 5m, xON 19456, headroom 45056, alpha 1
1 at 100Gbps, FEC none, 5m, xON 19456, headroom 56320, alpha 1
8 at 100Gbps, FEC rs, 5m, xON 19456, headroom 56320, alpha 1
`,
}

func TestPublicPorts(t *testing.T) {
	for name, want := range portTexts {
		c, err := sonic.Parse(name, published.Read(t, "configs", "sonic", name))
		if err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		for _, p := range c.Ports {
			s := p.Speed.V.String()
			if p.FEC.Is() {
				s += ", FEC " + p.FEC.V
			}
			if p.CableMM.Is() {
				s += fmt.Sprintf(", %dm", p.CableMM.V/1000)
			}
			if k := &p.QoS.Queues[3]; k.PG.Is() {
				s += fmt.Sprintf(", xON %d, headroom %d, alpha %g", k.PG.V.XOn, k.PG.V.Headroom, k.PG.V.Alpha)
			} else if strings.Contains(k.Sized.V, "dynamic buffer model") {
				s += ", dynamic"
			}
			if p.MTU.V != 9100 || !p.MTU.Is() {
				t.Errorf("%s: %s has an MTU of %d", name, p.Name, p.MTU.V)
			}
			count[s]++
		}
		var got []string
		for s, n := range count {
			got = append(got, fmt.Sprintf("%d at %s", n, s))
		}
		expected := strings.Split(strings.Trim(want, "\n"), "\n")
		sort.Strings(got)
		sort.Strings(expected)
		if g, w := strings.Join(got, "\n"), strings.Join(expected, "\n"); g != w {
			t.Errorf("%s:\n%s\nwant\n%s", name, g, w)
		}
	}
}
