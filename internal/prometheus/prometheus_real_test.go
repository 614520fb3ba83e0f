package prometheus

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestRealPrometheus lets Debian's Prometheus scrape series that grow, and reads them at two times.
func TestRealPrometheus(t *testing.T) {
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("Prometheus is not installed (.ci/programs installs it)")
	}
	var scrapes atomic.Int64
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := scrapes.Add(1)
		fmt.Fprintf(w, "# TYPE node_ethtool_received_prio3_pause untyped\nnode_ethtool_received_prio3_pause{device=\"eth2\"} %d\n"+
			"node_infiniband_rp_cnp_packets_handled_total{device=\"mlx5_0\",port=\"1\"} %d\n", 100*n, n)
	}))
	defer exporter.Close()
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: node\n  static_configs:\n"+
		"  - targets: ['"+strings.TrimPrefix(exporter.URL, "http://")+"']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	free := httptest.NewServer(http.NotFoundHandler()) // a port that was free a moment ago
	addr := strings.TrimPrefix(free.URL, "http://")
	free.Close()
	var out strings.Builder
	cmd := exec.Command(program, "--config.file", config, "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", addr)
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	for start := time.Now(); scrapes.Load() < 6; time.Sleep(100 * time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatal("Prometheus does not scrape")
		}
	}
	o := Options{URL: "http://" + addr, At: time.Now(), Window: 3 * time.Second, Timeout: 20 * time.Second}
	before, after, notes, err := Snapshots(context.Background(), o)
	if err != nil || len(before) != 1 || len(after) != 1 || after[0].Device != "127.0.0.1" {
		t.Fatalf("%v %+v %v", err, after, notes)
	}
	was, is := before[0].Ports[0], after[0].Ports[0]
	if is.Name != "eth2" || is.RxPFC[3].V <= was.RxPFC[3].V || is.RoCE.CNPHandled.V <= was.RoCE.CNPHandled.V {
		t.Errorf("%+v\n%+v", was, is)
	}
	o.Match = `job="nobody"`
	if _, _, _, err := Snapshots(context.Background(), o); err == nil || !strings.Contains(err.Error(), "contains none of the series") {
		t.Error(err)
	}
	o.Match = "job="
	if _, _, _, err := Snapshots(context.Background(), o); err == nil || !strings.Contains(err.Error(), "refuses the query: ") {
		t.Error(err)
	}
}
