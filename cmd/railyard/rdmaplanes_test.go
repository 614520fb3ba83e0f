package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// A sender of MRC whose window lets it send one packet at a time still takes its planes in turn.
func TestPlanesInTurn(t *testing.T) {
	server, line, err := child(t.Context(), "rdma", "serve", "--planes", "127.67.0.1,127.67.1.1", "--port",
		"0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop(server)
	taken := filepath.Join(t.TempDir(), "planes.pcapng")
	code, _, errs := call(t, "rdma", "write", "--to", line[strings.LastIndexByte(line, ' ')+1:],
		"--transport",
		"mrc", "--planes", "127.67.0.2,127.67.1.2", "--line-rate", "200Mbps", "--iters", "60", "--pcap",
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
	a, b := packets["127.67.0.2"], packets["127.67.1.2"]
	if a+b < 900 || min(a, b)*3 < max(a, b) {
		t.Errorf("the planes carried %d and %d packets", a, b)
	}
}

// Peers that disagree on what they can do end with one line that says who has what.
func TestPeersDisagree(t *testing.T) {
	for _, c := range []struct {
		server, client []string
		want           string
	}{
		{[]string{"--transport", "mrc"}, []string{"--transport", "rc"},
			"the server serves mrc, the client asks for rc"},
		{[]string{"--transport", "rc"}, []string{"--transport", "mrc"},
			"the server serves rc, the client asks for mrc"},
		{nil, []string{"--transport", "mrc", "--planes", "127.0.0.1,127.0.0.2"},
			"the peer has 2 planes, we have 1"},
		{nil, []string{"--addr", "::1"}, "family"},
	} {
		_, to := serving(t, c.server...)
		code, _, errs := call(t, append([]string{"rdma", "write", "--to", to, "--iters", "1"},
			c.client...)...)
		if code != 2 && code != 1 || !strings.Contains(errs, c.want) ||
			strings.Count(strings.TrimSpace(errs), "\n") > 0 {
			t.Errorf("%q and %q: exit %d: %s", c.server, c.client, code, errs)
		}
	}
}
