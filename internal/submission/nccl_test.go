package submission

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/coll"
	"railyard/internal/result"
	"railyard/internal/study"
)

const fourSite = "name: site\nfabric: {kind: rail, hosts: 2, segments: 1, spines: 2}\n" +
	"server: {gpus: 4, nics: 4}\nseed: 7\nworkload: {traffic: {alltoall: {bytes: 1MB}}}\n"

// benched is a simulated benchmark: its scenario and its notes.
type benched struct {
	*result.Summary
	text, notes string
}

// bench returns the job of an all-reduce on servers of four GPUs, with variables of NCCL's.
func bench(nodes int, env, size string) string {
	return fmt.Sprintf("#!/bin/bash\n#SBATCH -N%d --ntasks-per-node=4 --gpus-per-node=4\nexport A=1 %s\n"+
		"srun all_reduce_perf -b %s -e %s\n", nodes, env, size, size)
}

// benchScript submits an all-reduce with variables of NCCL's, and simulates it.
func benchScript(t *testing.T, nodes int, env, size string) (b benched) {
	t.Helper()
	s, notes := follow(t, fourSite, bench(nodes, env, size), func(r *Request) { r.DryRun = false })
	sum, _, err := new(study.Pool).Whole(t.Context(), "", s.Plan)
	if err != nil {
		t.Fatalf("%s: %v", env, err)
	}
	return benched{sum, s.text, notes}
}

// NCCL's variables change a run as its guide says they change NCCL: rings and where they go, which NICs there
// are, pieces, and what the tuning model may take.
func TestNCCLChangesRuns(t *testing.T) {
	base := benchScript(t, 2, "NCCL_ALGO=Ring", "16M")
	if h := float64(base.DataPacketHops) / float64(base.DataPackets); h != 2 {
		t.Fatalf("rings leave their rails: %.2f hops a packet", h)
	}
	for _, c := range []struct {
		env, key    string
		least, most float64 // times the time of the base
		hops        float64
	}{
		{"NCCL_CROSS_NIC=0", "algorithm: ring", 1, 1, 2},
		{"NCCL_CROSS_NIC=1", "channels: 4, cross_nic: true", 1.5, 4.5, 4},
		// over two spines, which are narrow
		{"NCCL_IB_HCA=mlx5_0:1,mlx5_1:1", "nics_used: [nic-1, nic-2]", 1.8, 2.1, 2},
		{"NCCL_IB_HCA==mlx5_0", "nics_used: [nic-1]", 3.6, 4.1, 2},
		{"NCCL_IB_HCA=^mlx5_2,mlx5_3", "nics_used: [nic-1, nic-2]", 1.8, 2.1, 2},
		{"NCCL_IB_HCA=mlx5", "nics: 4", 1, 1, 2},
		{"NCCL_IB_HCA=^mlx5_0", "nics_used: [nic-2, nic-3, nic-4]", 1.8, 2.1, 2}, // two GPUs share one
		{"NCCL_MAX_NCHANNELS=1", "channels: 1", 3, 6, 4},                         // one ring, in the order of ranks
		{"NCCL_MAX_NCHANNELS=2", "channels: 2", 1.5, 3, 2},
		{"NCCL_MIN_NCHANNELS=8", "channels: 8", 0.9, 1.1, 2},
		{"NCCL_MIN_NCHANNELS=2", "algorithm: ring", 1, 1, 2}, // there are four
		{"NCCL_BUFFSIZE=32768", "chunk: 4096B", 1.02, 4, 2},
	} {
		got := benchScript(t, 2, "NCCL_ALGO=Ring "+c.env, "16M")
		x, hops := float64(got.StepTime)/float64(base.StepTime), float64(got.DataPacketHops)/float64(got.DataPackets)
		if !strings.Contains(got.text, c.key) || x < c.least || x > c.most || hops != c.hops {
			t.Errorf("%s: %.3f times as long, %.2f hops a packet, in\n%s", c.env, x, hops, got.text)
		}
	}
	// Simple alone: kernels copy small pieces of LL128 while others are on their way, which gains as much as they cost.
	simple := benchScript(t, 2, "NCCL_ALGO=Ring NCCL_PROTO=Simple", "16M")
	got := benchScript(t, 2, "NCCL_ALGO=Ring NCCL_PROTO=Simple NCCL_BUFFSIZE=131072", "16M")
	if x := float64(got.StepTime) / float64(simple.StepTime); !strings.Contains(got.text, "chunk: 16384B") || x < 1.002 ||
		x > 4 {
		t.Errorf("NCCL_BUFFSIZE=131072: %.3f times as long, in\n%s", x, got.text)
	}
	for _, c := range []struct {
		nodes               int
		env, key, algorithm string
	}{
		{2, "", "algorithm: auto", "tree"},
		{2, "NCCL_ALGO=^Tree", "without: [tree]", "nvls-tree"},
		{2, "NCCL_ALGO=Ring,NVLS", "without: [tree, nvls-tree]", "ring"},
		{2, "NCCL_PROTO=^LL128", "without: [ll128]", "nvls-tree"},
		{2, "NCCL_MAX_NCHANNELS=2", "channels: 2", "ring"},
		{1, "", "algorithm: auto", "nvls"},
		{1, "NCCL_NVLS_ENABLE=0", "without: [nvls, nvls-tree]", "ring"},
	} {
		size := map[int]string{1: "256M", 2: "16M"}[c.nodes]
		got := benchScript(t, c.nodes, c.env, size)
		if !strings.Contains(got.text, c.key) || got.Collectives[0].Algorithm != c.algorithm {
			t.Errorf("%s on %d: %v in\n%s", c.env, c.nodes, got.Collectives, got.text)
		}
	}
}

// A variable that is not applied is a note with its reason.
func TestNCCLLeftOut(t *testing.T) {
	for env, want := range map[string]string{
		"NCCL_IB_HCA=,":          "is not a list of names as mlx5_0,mlx5_1:1: left out",
		"NCCL_CROSS_NIC=3":       "is not 0, 1 or 2: left out",
		"NCCL_BUFFSIZE=x":        "is not a number of bytes from 8192 to 1073741824: left out",
		"NCCL_BUFFSIZE=4194304":  "without NCCL_ALGO=Ring it is left out",
		"NCCL_MIN_NCHANNELS=900": "is not a number of channels from 1 to 64: left out",
		"NCCL_ALGO=^PAT":         "is left to NCCL's tuning model",
	} {
		if _, notes := follow(t, fourSite, bench(2, env, "64K"), nil); !strings.Contains(notes, want) {
			t.Errorf("%s: no %q in %s", env, want, notes)
		}
	}
}

// A list that matches no NIC is an error with its value and the NICs.
func TestNoNIC(t *testing.T) {
	folder(t, map[string]string{"site.yaml": fourSite, "job": bench(2, "NCCL_IB_HCA=mlx5_9,mlx_1", "64K")})
	s, err := Follow(&Request{Script: "job", Cluster: "site.yaml", DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	const want = `"mlx5_9,mlx_1" matches none of a host's 4 NICs; accepted: mlx5_0 to mlx5_3`
	if s.Nothing == nil || !strings.Contains(s.Nothing.Error(), want) {
		t.Errorf("%v, want %s", s.Nothing, want)
	}
}

// A training's tensor and data parallel groups follow NCCL_ALGO and NCCL_NVLS_ENABLE.
func TestNCCLTrains(t *testing.T) {
	for env, want := range map[string]string{
		"NCCL_NVLS_ENABLE=0": "tp_algorithm: ring", "NCCL_ALGO=Tree": "dp_algorithm: tree",
		"NCCL_ALGO=^NVLS,NVLSTree": "tp_algorithm: ring",
	} {
		s, _ := follow(t, tinySite, strings.Replace(tinyJob, "export NCCL", "export "+env+" NCCL", 1), nil)
		if !strings.Contains(s.text, want) {
			t.Errorf("%s: no %s in %s", env, want, s.text)
		}
	}
	if s, _ := follow(t, tinySite, tinyJob, nil); strings.Contains(s.text, "_algorithm") {
		t.Errorf("without variables: %s", s.text)
	}
}

// Variables of NCCL that are not read are named, those that do not affect the traffic are not.
func TestUnreadNCCL(t *testing.T) {
	_, notes := follow(t, tinySite, strings.Replace(tinyJob, "export NCCL",
		"export NCCL_DEBUG=INFO NCCL_NTHREADS=256 NCCL_NET_GDR_LEVEL=3 NCCL", 1), nil)
	const want = "of NCCL's variables not read, though they may change its behaviour: NCCL_NET_GDR_LEVEL, NCCL_NTHREADS"
	if !slices.Contains(strings.Split(notes, "\n"), "job:4: "+want) {
		t.Error(notes)
	}
}

// Variables of NCCL that a scenario has keys for are set: the transport's, and the number of rings of a benchmark.
func TestNCCLActs(t *testing.T) {
	for channels, want := range map[string]string{"1": "channels: 1", "8": "protocol: simple}", "0": "left out"} {
		s, notes := follow(t, tinySite, "#!/bin/bash\n#SBATCH -N2 --ntasks-per-node=2 --gpus-per-node=2\n"+
			"export NCCL_ALGO=Ring NCCL_PROTO=Simple NCCL_IB_TIMEOUT=17 NCCL_IB_RETRY_CNT=5 "+
			"NCCL_IB_QPS_PER_CONNECTION=2 NCCL_IB_SPLIT_DATA_ON_QPS=0 NCCL_MAX_NCHANNELS="+channels+
			"\nsrun all_reduce_perf -b 8M -e 8M\n", nil)
		for _, w := range []string{"timeout: 17", "retries: 5", "qps: 2", want, "each message over one queue pair"} {
			if !strings.Contains(s.text+notes, w) {
				t.Errorf("%s channels: no %s in %s\n%s", channels, w, s.text, notes)
			}
		}
	}
}

// NCCL_IB_HCA lists prefixes of names, whole names behind =, and NICs that are not used behind ^ (NCCL's user guide,
// environment variables). A server here has mlx5_0 to mlx5_11.
func TestUsedNICs(t *testing.T) {
	const all = "1 2 3 4 5 6 7 8 9 10 11 12"
	for list, want := range map[string]string{"mlx5": all, "mlx5_1": "2 11 12", "=mlx5_1": "2",
		"^mlx5_1": "1 3 4 5 6 7 8 9 10", "^=mlx5_1": "1 3 4 5 6 7 8 9 10 11 12", "mlx5_9,mlx5_2": "3 10",
		"mlx5_5:1, mlx5_2:1": "3 6", "=mlx5_3,mlx5_3:1": "4", "=mlx5_4,mlx5_4": "5", "^mlx9": all,
		// other drivers number their devices alike; names by bus and slot count
		"ib4,ib5,ib5:1": "5 6", "^ib0": "2 3 4 5 6 7 8 9 10 11 12", "bnxt_re": all, "=bnxt_re1": "2", "mlx5_bond_2": "3",
		"rocep1s0,rocep2s0,x": "1 2", "^rdmap16s27": all,
		// of another network than that of GPUs, whose names begin otherwise
		"^mlx5_bond_0": all, "^mlx5_bond": all, "^=mlx5_bond_0,mlx5_2": "1 2 4 5 6 7 8 9 10 11 12", "^ibp0": all,
		"^mlx5_3,ibp0": "1 2 3 5 6 7 8 9 10 11 12", "^rxe0,siw0": all,
		// of servers with more NICs than the fabric connects, by the order of names
		"mlx5_3,mlx5_77": "1 2", "=mlx5_0,mlx5_9,mlx5_12,mlx5_13": "1 2 3 4", "^mlx5_2,mlx5_77": "1 2 4 5 6 7 8 9 10 11 12",
	} {
		var names []string
		for _, n := range strings.Fields(want) {
			names = append(names, "nic-"+n)
		}
		if got, _, err := usedNICs(list, 12, 1, false); err != nil || !slices.Equal(got, names) {
			t.Errorf("%s: %v, %v, want %v", list, got, err, names)
		}
	}
	for _, list := range []string{"", ",", "mlx5_0,", strings.Repeat("x", 65)} {
		if n, _, err := usedNICs(list, 12, 1, false); err == nil || errors.Is(err, errNoNIC) {
			t.Errorf("%q: %v", list, n)
		}
	}
	for _, list := range []string{"=mlx5", "mlx5_12", "mlx6_0", "mlx_0,mlx_1", "^mlx5", "eth0", "=mlx5_1x:1", "foo", "^ib"} {
		if n, _, err := usedNICs(list, 12, 1, false); !errors.Is(err, errNoNIC) {
			t.Errorf("%q: %v, %v", list, n, err)
		}
	}
	for _, list := range []string{"mlx5_0:2", "^mlx5_0:2", "mlx5_0:x", "mlx5_0:256", "mlx5_0:", "mlx5_0:0"} {
		if n, _, err := usedNICs(list, 12, 1, false); !errors.As(err, new(errPort)) {
			t.Errorf("%q: %v, %v", list, n, err)
		}
	}
	for list, want := range map[string]string{"mlx5_1": "nic-2", "mlx5_1:2": "nic-2p2", "mlx5_0:1,mlx5_0:2": "nic-1",
		"^mlx5_0:2": "nic-1p1 nic-2", "^mlx5_1": "nic-1", "ib": "nic-1 nic-2"} {
		if got, _, err := usedNICs(list, 2, 2, false); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s of two ports each: %v, %v, want %s", list, got, err, want)
		}
	}
}

// ^ excludes names of bonds where NICs are bonds, and the note names what excludes nothing.
func TestExcludedBonds(t *testing.T) {
	for _, c := range []struct {
		list   string
		bonded bool
		want   string
	}{
		{"^mlx5_bond_0", false, "nic-1 nic-2; no NIC is mlx5_bond_0"}, {"^ibp0", false, "nic-1 nic-2; no NIC is ibp0"},
		{"^mlx5_bond_0", true, "nic-2"}, {"^mlx5_0", true, "nic-1 nic-2; no NIC is mlx5_0"},
	} {
		got, how, err := usedNICs(c.list, 2, 1, c.bonded)
		if s := strings.Join(got, " ") + how; err != nil || s != c.want {
			t.Errorf("%s, bonded %v: %s, %v, want %s", c.list, c.bonded, s, err, c.want)
		}
	}
}

// A job uses the NICs that NCCL_IB_HCA names, and the table of ranks names them, on every kind of fabric.
func TestJobOnItsNICs(t *testing.T) {
	for _, c := range []struct{ server, list, want string }{
		{"{gpus: 4, nics: 4}", "mlx5_2", "nic-3 nic-3 nic-3 nic-3"},
		{"{gpus: 4, nics: 4}", "^mlx5_0", "nic-2 nic-2 nic-3 nic-4"},
		{"{gpus: 4, nics: 4}", "mlx5_1,mlx5_3", "nic-2 nic-2 nic-4 nic-4"},
		{"{gpus: 4, nics: 2}", "mlx5_1", "nic-2 nic-2 nic-2 nic-2"},
		{"{gpus: 4, nics: 8}", "^mlx5_0,mlx5_2,mlx5_3", "nic-2 nic-2 nic-5 nic-7"},
		{"{gpus: 4, nics: 4, nic_ports: 2, bond: apart}", "mlx5_2:2", "nic-3 nic-3 nic-3 nic-3"},
	} {
		site := strings.Replace(fourSite, "{gpus: 4, nics: 4}", c.server, 1)
		if strings.Contains(c.server, "nic_ports") {
			site = strings.Replace(site, "kind: rail", "kind: pod", 1)
		}
		s, notes := follow(t, site, bench(2, "NCCL_IB_HCA="+c.list, "64K"), nil)
		var got []string
		for _, r := range s.Report().Ranks[:4] {
			got = append(got, r.NIC)
		}
		if strings.Join(got, " ") != c.want || !strings.Contains(notes, "GPUs send by nic-") {
			t.Errorf("%s %s: %v, want %s\n%s", c.server, c.list, got, c.want, notes)
		}
	}
}

// A port that NICs do not have is an error with those that they have.
func TestNoPort(t *testing.T) {
	folder(t, map[string]string{"site.yaml": fourSite, "job": bench(2, "NCCL_IB_HCA=mlx5_0:2", "64K")})
	s, err := Follow(&Request{Script: "job", Cluster: "site.yaml", DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	const want = `NCCL_IB_HCA: "mlx5_0" has no port "2"; accepted: 1, because a NIC has one port`
	if s.Nothing == nil || !strings.Contains(s.Nothing.Error(), want) {
		t.Errorf("%v, want %s", s.Nothing, want)
	}
}

// NCCL_ALGO and NCCL_PROTO list names, or behind ^ those that are not taken.
func TestPicked(t *testing.T) {
	for list, want := range map[string][]string{"Ring": {coll.ByRing}, " ring , TREE": {coll.ByRing, coll.ByTree},
		"^Ring": {coll.ByTree, coll.ByNVLS, coll.ByNVLSTree}, "NVLSTree": {coll.ByNVLSTree},
		"PAT,Tree": {coll.ByTree}, "^PAT,NVLSTree,NVLS": {coll.ByRing, coll.ByTree}, "PAT": nil, "^PAT": nil, "": nil,
		"^ring,tree,nvls,nvlstree": nil} {
		if got := picked(list, algorithms, ncclNames); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", list, got, want)
		}
	}
}
