package main

import (
	"os"
	"strings"
	"testing"
)

// HPCC's three files (topology, flows, and the supported settings) make a scenario that runs.
func TestImportSettings(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"topology.txt": "4 1 3\n0\n0 1 100Gbps 0.001ms 0\n0 2 100Gbps 0.001ms 0\n0 3 100Gbps 0.001ms 0\n",
		"flow.txt":     "2\n2 1 3 100 200000 2\n3 1 3 100 200000 2\n",
		"config.txt": "ENABLE_QCN 1 {0: disable, 1: enable}\nUSE_DYNAMIC_PFC_THRESHOLD " +
			"1\n\nPACKET_PAYLOAD_SIZE 1000\n" +
			"TOPOLOGY_FILE mix/topology.txt\nFCT_OUTPUT_FILE mix/fct.txt\nSIMULATOR_STOP_TIME " +
			"4.00\nCC_MODE 1\n" +
			"ALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\nCLAMP_TARGET_RATE 0\nRP_TIMER 900 \n" +
			"EWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1\nRATE_AI 50Mb/s\nRATE_HAI 100Mb/s\nMIN_RATE " +
			"100Mb/s\n" +
			"ERROR_RATE_PER_LINK 0.0000\nL2_ACK_INTERVAL 1\nU_TARGET 0.95\nLINK_DOWN 0 0 0\n" +
			"KMAX_MAP 2 25000000000 400 100000000000 1600\nKMIN_MAP 2 25000000000 100 100000000000 400\n" +
			"PMAX_MAP 2 25000000000 0.2 100000000000 0.2\nBUFFER_SIZE 32\n",
		"bad.txt":  "ENABLE_QCN 1\nCC_MODE 10\nBUFFER_SIZE 32\nHAS_WIN 1\n",
		"bad2.txt": "ENABLE_QCN 1\nCC_MODE 1\nRP_TIMER -5\nHAS_WIN 1\n",
		"bad3.txt": "ENABLE_QCN 1\nCC_MODE 1\nHAS_WIN 1\nHAS_WIN 1\n",
		"bad4.txt": "ENABLE_QCN 1\nCC_MODE 1\nHAS_WIN 1\nKMIN_MAP 3 25 1\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := call(t, "import", "config.txt", "topology.txt", "flow.txt", "--out", "h.yaml")
	if code != 0 {
		t.Fatal(errs)
	}
	words := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{"mapped: settings of HPCC's simulator: 17 (first config.txt:1)",
		"assumed: packets of 1000 bytes, which become 1024: 1 (first config.txt:4)",
		"left out: USE_DYNAMIC_PFC_THRESHOLD 1: 1 (first config.txt:2)",
		"left out: settings that are 0: 2 (first config.txt:18)",
		"left out: TOPOLOGY_FILE mix/topology.txt, which is used where it is named here: 1 (first " +
			"config.txt:5)"} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	text, err := os.ReadFile("h.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  algorithm: dcqcn\n  dcqcn: {alpha_timer: 1us, cut_interval: 4us, " +
		"clamp_target: false, " +
		"rate_timer: 900us, g: 0.00390625, f: 1, ai: 50Mbps, hai: 100Mbps, min_rate: 100Mbps}\n",
		"switch:\n  buffer: 32MiB\n  queues: {\"3\": {ecn: true, wred_min: 400KB, wred_max: 1600KB, " +
			"probability: 20}}\n",
		"transport: {mtu: 1024, ack_every: 1}\n", "nodes: host-{n}\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if code, _, errs := call(t, "run", "h.yaml", "--out", "run"); code != 0 {
		t.Error(errs)
	}
	for file, want := range map[string]string{
		"config.txt": "contains settings of a network; pass cabling and traffic too",
		"bad.txt":    "bad.txt:2:1: CC_MODE is 10; accepted: 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP)",
		"bad2.txt":   `bad2.txt:3:1: RP_TIMER is "-5", expected a number from 0 on`,
		"bad3.txt":   "bad3.txt:4:1: HAS_WIN is on line 3 already",
		"bad4.txt":   `bad4.txt:4:1: KMIN_MAP is "3 25 1", expected how many pairs of rate and value follow`,
	} {
		if code, _, errs := call(t, "import", file); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s\nwant %s", file, code, errs, want)
		}
	}
}
