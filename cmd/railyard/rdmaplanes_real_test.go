package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An MRC sender whose window permits one packet at a time still uses its planes in turn.
func TestRealPlanesInTurn(t *testing.T) {
	t.Parallel()
	_, to, n := servingAt(t, func(n int) []string {
		return []string{"--planes", fmt.Sprintf("127.33.%d.1,127.34.%d.1", n, n)}
	})
	ours := []string{fmt.Sprintf("127.33.%d.2", n), fmt.Sprintf("127.34.%d.2", n)}
	taken := filepath.Join(t.TempDir(), "planes.pcapng")
	code, _, errs := call(t, "rdma", "perf", "write", "--to", to, "--transport", "mrc", "--planes",
		strings.Join(ours, ","), "--line-rate", "200Mbps", "--iters", "60", "--pcap",
		taken)
	if code != 0 {
		t.Fatal(errs)
	}
	code, out, errs := call(t, "pcap", taken, "--json")
	var read struct {
		Flows []struct {
			MRC struct {
				Paths []struct {
					Port    string
					Packets int
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &read); code != 0 || err != nil {
		t.Fatal(code, err, errs)
	}
	packets := map[string]int{}
	for _, f := range read.Flows {
		for _, p := range f.MRC.Paths {
			packets[p.Port] += p.Packets
		}
	}
	a, b := packets[ours[0]], packets[ours[1]]
	if a+b < 900 || min(a, b)*3 < max(a, b) {
		t.Errorf("the planes carried %d and %d packets", a, b)
	}
}

// Peers with incompatible features end with one line that lists the features of each.
func TestRealPeersDisagree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		server, client []string
		want           string
	}{
		{[]string{"--transport", "mrc"}, []string{"--transport", "rc"},
			"the server serves mrc, the client requests rc"},
		{[]string{"--transport", "rc"}, []string{"--transport", "mrc"},
			"the server serves rc, the client requests mrc"},
		{nil, []string{"--transport", "mrc", "--planes", "OURS"},
			"the peer has 2 planes, we have 1"},
		{nil, []string{"--addr", "::1"}, "family"},
	} {
		_, to := serving(t, c.server...)
		if i := slices.Index(c.client, "OURS"); i >= 0 {
			c.client[i] = clientPlanes(to)
		}
		code, _, errs := call(t, append([]string{"rdma", "perf", "write", "--to", to, "--iters", "1"},
			c.client...)...)
		if code != 2 && code != 1 || !strings.Contains(errs, c.want) ||
			strings.Count(strings.TrimSpace(errs), "\n") > 0 {
			t.Errorf("%q and %q: exit %d: %s", c.server, c.client, code, errs)
		}
	}
}
