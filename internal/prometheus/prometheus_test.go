package prometheus

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"railyard/internal/counters"
	"railyard/unit"
)

// now is the time of the later snapshot of tests.
var now = time.Unix(1_700_000_000, 0)

// early and late are series as exporters serve them, at the two times.
const early = `node_ethtool_received_prio3_pause{device="eth2",instance="host-1:9100",job="node"} 10
node_ethtool_transmitted_prio3_bytes{device="eth2",instance="host-1:9100",job="node"} 1.8014398509481984e+16
node_ethtool_received_crc_errors_phy{device="eth2",instance="host-1:9100",job="node"} 0
node_infiniband_out_of_sequence_packets_received_total{device="mlx5_0",instance="host-1:9100",port="1"} 4294967290
node_infiniband_rp_cnp_packets_handled_total{device="mlx5_0",instance="host-1:9100",port="1"} 7
node_infiniband_state_id{device="mlx5_0",instance="host-1:9100",port="1"} 4
node_infiniband_rate_bytes_per_second{device="mlx5_0",instance="host-1:9100",port="1"} 5e+10
sonic_interface_receive_packets{device="Ethernet0",instance="leaf-1:9101",method="ucast"} 5
sonic_interface_receive_packets{device="Ethernet0",instance="leaf-1:9101",method="multicast"} 2
sonic_interface_receive_errs{device="Ethernet0",instance="leaf-1:9101",type="discard"} 1
sonic_interface_info{alias="Eth1/1",device="Ethernet0",instance="leaf-1:9101"} 1
sonic_queue_dropped_packets_total{device="Ethernet0",instance="leaf-1:9101",queue="3"} 9
sonic_queue_dropped_packets_total{device="Ethernet0",instance="leaf-1:9101",queue="11"} 9
DCGM_FI_DEV_PCIE_REPLAY_COUNTER{gpu="2",instance="host-1:9400"} 40
DCGM_FI_DEV_XID_ERRORS{gpu="3",instance="host-1:9400"} 0
up{instance="host-1:9100"} 1
`

// late returns the series of the later time.
func late() string {
	s := early
	for _, c := range [][2]string{{"pause{device=\"eth2\",instance=\"host-1:9100\",job=\"node\"} 10", "pause{device=\"eth2\",instance=\"host-1:9100\",job=\"node\"} 25"},
		{"} 4294967290", "} 4"}, {"} 7\n", "} 9\n"}, {"} 40\n", "} 43\n"}, {"gpu=\"3\",instance=\"host-1:9400\"} 0", "gpu=\"3\",instance=\"host-1:9400\"} 79"}} {
		s = strings.Replace(s, c[0], c[1], 1)
	}
	return s + "node_ethtool_received_prio3_pause{device=\"eth2\",instance=\"host-9:9100\"} 3\n" +
		"node_ethtool_received_prio3_pause{device=\"eth2\"} 3\n"
}

var (
	seriesLine = regexp.MustCompile(`^(\w+)\{(.*)\} (\S+)$`)
	labelPair  = regexp.MustCompile(`(\w+)="([^"]*)"`)
)

// server answers instant queries as Prometheus does: names by a regular expression, cluster by a matcher.
func server(t *testing.T, change func(w http.ResponseWriter, r *http.Request) bool) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if change != nil && change(w, r) {
			return
		}
		if r.URL.Path != "/prom/api/v1/query" || r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		query := r.FormValue("query")
		m := regexp.MustCompile(`^\{__name__=~"([^"]+)"(?:,cluster="(\w+)")?\}$`).FindStringSubmatch(query)
		at, err := strconv.ParseFloat(r.FormValue("time"), 64)
		if m == nil || err != nil {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"status":"error","errorType":"bad_data","error":"1:3: parse error: unexpected character"}`)
			return
		}
		names, text := regexp.MustCompile(`^(?:`+m[1]+`)$`), early
		if at >= float64(now.Unix()) {
			text = late()
		}
		if m[2] == "none" {
			text = ""
		}
		a := answer{Status: "success"}
		a.Data.Type, a.Data.Result = "vector", []sample{}
		for line := range strings.Lines(text) {
			part := seriesLine.FindStringSubmatch(strings.TrimSpace(line))
			if !names.MatchString(part[1]) {
				continue
			}
			metric := map[string]string{"__name__": part[1]}
			for _, l := range labelPair.FindAllStringSubmatch(part[2], -1) {
				metric[l[1]] = l[2]
			}
			a.Data.Result = append(a.Data.Result, sample{metric, [2]any{at, part[3]}})
		}
		_ = json.NewEncoder(w).Encode(a)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/prom/"
}

func options(url string) Options {
	return Options{URL: url, At: now, Window: time.Minute, Timeout: 10 * time.Second}
}

// TestSnapshots reads each exporter's series at two times: values, joined RDMA device, sums, notes, left out devices.
func TestSnapshots(t *testing.T) {
	before, after, notes, err := Snapshots(context.Background(), options(server(t, nil)))
	if err != nil || len(before) != 2 || len(after) != 2 || after[0].Device != "host-1" || after[1].Device != "leaf-1" {
		t.Fatalf("%v\n%+v\n%v", err, after, notes)
	}
	host := after[0]
	if len(host.Ports) != 1 || host.Ports[0].Name != "eth2" || host.Kind != counters.Host || !host.At.Is {
		t.Fatalf("%+v", host)
	}
	p := host.Ports[0]
	if p.RxPFC[3].V != 25 || p.Queues[3].TxBytes.V != 18014398509481984 || !p.CRC.Is || p.CRC.V != 0 ||
		p.RoCE.CNPHandled.V != 9 || p.Speed.V != 400*unit.Gbps || !p.Up.V {
		t.Errorf("%+v", p)
	}
	d, err := counters.Delta(before[0], after[0])
	if err != nil || d.Ports[0].RxPFC[3].V != 15 || d.Ports[0].RoCE.OutOfSequence.V != 10 { // which wrapped
		t.Errorf("%v %+v", err, d.Ports)
	}
	q := after[1].Ports[0]
	if q.Name != "Ethernet0" || q.Alias != "Eth1/1" || q.RxPackets.V != 7 || q.InDiscards.V != 1 || q.Queues[3].DropPackets.V != 9 {
		t.Errorf("%+v", q)
	}
	for _, want := range []string{"host-1 GPU 2: PCIe replays: 3", "host-1 GPU 3: XID error 79",
		"1 series without the label instance are left out", "host-9: has series at the later time only"} {
		if !strings.Contains(strings.Join(notes, "\n"), want) {
			t.Errorf("no %q in %q", want, notes)
		}
	}
}

// TestRefused checks that a server that is none, refuses, is slow, answers too much or has no such series is one error.
func TestRefused(t *testing.T) {
	write := func(status int, text string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(status)
			fmt.Fprint(w, text)
			return true
		}
	}
	slow := func(_ http.ResponseWriter, r *http.Request) bool {
		_ = r.ParseForm()
		<-r.Context().Done()
		return true
	}
	for _, c := range []struct {
		want   string
		change func(http.ResponseWriter, *http.Request) bool
		set    func(*Options)
	}{
		{"contains none of the series that diagnose reads at 2023-11-14T22:13:20Z with cluster=\"none\"; exporters: node_exporter",
			nil, func(o *Options) { o.Match = `cluster="none"` }},
		{"refuses the query: 1:3: parse error", nil, func(o *Options) { o.Match = `cluster=` }},
		{"HTTP status 502", write(502, "<html>bad gateway</html>"), nil},
		{"does not answer as Prometheus does: not JSON", write(200, "<html>Grafana</html>"), nil},
		{`"matrix" where a vector is expected`, write(200, `{"status":"success","data":{"resultType":"matrix","result":[]}}`), nil},
		{"no answer in 50ms", slow, func(o *Options) { o.Timeout = 50 * time.Millisecond }},
		{"has more than 3 series", nil, func(o *Options) { o.Series = 3 }},
		{"the answer is larger than 0 MB", nil, func(o *Options) { o.Bytes = 100 }},
		{"connection refused", nil, func(o *Options) { o.URL = "http://u:secret@127.0.0.1:1" }},
		{"is not an address such as http://prometheus:9090", nil, func(o *Options) { o.URL = "prometheus:9090" }},
	} {
		o := options(server(t, c.change))
		if c.set != nil {
			c.set(&o)
		}
		_, _, _, err := Snapshots(context.Background(), o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestSeriesNames compares names of ethtool's counters with those that node_exporter gives the series.
func TestSeriesNames(t *testing.T) {
	for name, want := range map[string]string{
		"rx_prio3_pause":          "node_ethtool_received_prio3_pause",
		"tx_prio0_pause_duration": "node_ethtool_transmitted_prio0_pause_duration",
		"frames_rx_pripause":      "node_ethtool_frames_received_pripause",
		"tx_priority_3_xoff.nic":  "node_ethtool_transmitted_priority_3_xoff_nic",
		"pfc_pri3_rx_duration_us": "node_ethtool_pfc_pri3_received_duration_us",
	} {
		if got := ethtoolSeries(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestWrongValues reads series whose values are no counters: they are left out, and nothing panics.
func TestWrongValues(t *testing.T) {
	r := newReading(now, "instance")
	for _, v := range []any{"NaN", "+Inf", "-1", "1e300", "", 5.0, nil} {
		r.take(families[0], sample{map[string]string{"__name__": "node_ethtool_received_prio3_pause", "instance": "h",
			"device": "eth0"}, [2]any{1.0, v}})
	}
	if len(r.all) != 0 {
		t.Errorf("%+v", r.all)
	}
}
