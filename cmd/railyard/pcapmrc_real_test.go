package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"railyard/internal/capture"
)

// Traffic that sockets send by MRC is captured completely, with every ICRC valid, and described by its paths.
func TestRealPcapOfMRCSockets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code, _, errs := call(t, "rdma", "allreduce", "--ranks", "2", "--bytes", "300000B", "--iters", "2",
		"--transport", "mrc", "--pcap", filepath.Join(dir, "a.pcapng"))
	if code != 0 {
		t.Fatalf("exit %d, %s", code, errs)
	}
	code, out, errs := call(t, "pcap", filepath.Join(dir, "a-rank0.pcapng"), "--json")
	var s capture.Story
	if code != 0 || json.Unmarshal([]byte(out), &s) != nil {
		t.Fatalf("exit %d, %s", code, errs)
	}
	var writes, sacks, messages int64
	most := 0
	for _, f := range s.Flows {
		if f.MRC == nil {
			t.Fatalf("%+v is not a flow of MRC", f)
		}
		writes, sacks, messages = writes+f.MRC.Writes, sacks+f.MRC.Sacks, messages+f.Messages
		most = max(most, len(f.MRC.Paths))
		if f.Missing+f.MRC.MorePaths > 0 || f.MRC.Writes > 0 && f.Unfinished > 1 {
			t.Errorf("%+v, %+v", f, f.MRC)
		}
	}
	if s.ICRCBad+s.Broken+s.Other > 0 || writes < 100 || sacks == 0 || messages < 8 || most < 2 {
		t.Errorf("%d WRITEs, %d SACKs, %d messages, %d paths: %+v", writes, sacks, messages, most, s)
	}
}
