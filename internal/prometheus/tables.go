package prometheus

import (
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/counters"
	"railyard/unit"
)

// gpu is the kind of a family whose series are of GPUs.
const gpu = "gpu"

// family is the series of one exporter, or of one of its collectors.
type family struct {
	name   string // format of its snapshots
	about  string
	kind   string
	device counters.Kind
	port   func(labels map[string]string) string // name of the port; "": none
	counts map[string]store                      // by name of the series
	words  map[string]string                     // for GPUs: the meaning of each value
}

// store puts a value into a port.
type store func(p *counters.Port, labels map[string]string, v float64)

// xid ends the words of a GPU's last error, whose value is the number of the error.
const xid = "XID error"

// families are the supported series. Sources: node_exporter, collector/infiniband_linux.go and ethtool_linux.go;
// vinted/sonic-exporter, internal/collector; NVIDIA/dcgm-exporter, etc/default-counters.csv.
var families = []family{
	{name: "node_ethtool", about: "node_exporter (ethtool)", device: counters.Host, port: label("device"), counts: ethtool()},
	{name: "node_infiniband", about: "node_exporter (infiniband)", device: counters.Host, port: rdmaPort, counts: infiniband},
	{name: "sonic", about: "sonic-exporter", device: counters.Switch, port: label("device"), counts: sonic},
	{name: "dcgm", about: "dcgm-exporter", kind: gpu, port: label("gpu"), counts: dcgm, words: map[string]string{
		"DCGM_FI_DEV_XID_ERRORS": xid, "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": "PCIe replays:",
		"DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": "NVLink CRC errors:"}},
}

// exporters lists what families are of.
func exporters() (names []string) {
	for _, f := range families {
		names = append(names, f.about)
	}
	return names
}

// label returns a label as the name of a port.
func label(name string) func(map[string]string) string {
	return func(l map[string]string) string { return l[name] }
}

// rdmaPort returns mlx5_0/1.
func rdmaPort(l map[string]string) string {
	if l["device"] == "" || l["port"] == "" {
		return ""
	}
	return l["device"] + "/" + l["port"]
}

// count stores a counter.
func count(at func(p *counters.Port) *counters.Count) store {
	return func(p *counters.Port, _ map[string]string, v float64) { *at(p) = counters.Of(uint64(v)) }
}

// sum adds a series to a counter that several label values share.
func sum(at func(p *counters.Port) *counters.Count) store {
	return func(p *counters.Port, _ map[string]string, v float64) { *at(p) = counters.Of(at(p).V + uint64(v)) }
}

// The names that node_exporter makes of ethtool's: lower case, rx and tx as words, other characters as underscores.
var (
	notName     = regexp.MustCompile(`_*[^0-9A-Za-z_]+_*`)
	received    = regexp.MustCompile(`(^|_)rx(_|$)`)
	transmitted = regexp.MustCompile(`(^|_)tx(_|$)`)
)

// ethtoolSeries returns the name of the series of a counter of ethtool -S.
func ethtoolSeries(name string) string {
	s := strings.TrimLeft(strings.ToLower(notName.ReplaceAllString(name, "_")), "_")
	s = received.ReplaceAllString(s, "${1}received${2}")
	return "node_ethtool_" + transmitted.ReplaceAllString(s, "${1}transmitted${2}")
}

// ethtool returns the series of all known counters of ethtool -S.
func ethtool() map[string]store {
	out := map[string]store{}
	for _, name := range counters.EthtoolNames() {
		out[ethtoolSeries(name)] = func(p *counters.Port, _ map[string]string, v float64) {
			*counters.EthtoolCount(p, name) = counters.Of(uint64(v))
		}
	}
	return out
}

// infiniband are the series of an RDMA device's port.
var infiniband = map[string]store{
	"node_infiniband_port_data_received_bytes_total":    count(func(p *counters.Port) *counters.Count { return &p.RxBytes }),
	"node_infiniband_port_data_transmitted_bytes_total": count(func(p *counters.Port) *counters.Count { return &p.TxBytes }),
	"node_infiniband_port_packets_received_total":       count(func(p *counters.Port) *counters.Count { return &p.RxPackets }),
	"node_infiniband_port_packets_transmitted_total":    count(func(p *counters.Port) *counters.Count { return &p.TxPackets }),
	"node_infiniband_port_errors_received_total":        count(func(p *counters.Port) *counters.Count { return &p.InErrors }),
	"node_infiniband_port_discards_received_total":      count(func(p *counters.Port) *counters.Count { return &p.InDiscards }),
	"node_infiniband_port_discards_transmitted_total":   count(func(p *counters.Port) *counters.Count { return &p.OutDiscards }),
	"node_infiniband_link_downed_total":                 count(func(p *counters.Port) *counters.Count { return &p.Flaps }),

	"node_infiniband_np_ecn_marked_roce_packets_received_total": roce(func(r *counters.RoCE) *counters.Count { return &r.MarkedGot }),
	"node_infiniband_np_cnp_packets_sent_total":                 roce(func(r *counters.RoCE) *counters.Count { return &r.CNPSent }),
	"node_infiniband_rp_cnp_packets_handled_total":              roce(func(r *counters.RoCE) *counters.Count { return &r.CNPHandled }),
	"node_infiniband_rp_cnp_ignored_packets_received_total":     roce(func(r *counters.RoCE) *counters.Count { return &r.CNPIgnored }),
	"node_infiniband_out_of_sequence_packets_received_total":    wrapping(func(r *counters.RoCE) *counters.Count { return &r.OutOfSequence }),
	"node_infiniband_packet_sequence_errors_total":              wrapping(func(r *counters.RoCE) *counters.Count { return &r.SeqErr }),
	"node_infiniband_local_ack_timeout_errors_total":            wrapping(func(r *counters.RoCE) *counters.Count { return &r.Timeouts }),
	"node_infiniband_rnr_nak_retry_packets_received_total":      wrapping(func(r *counters.RoCE) *counters.Count { return &r.RNR }),
	"node_infiniband_duplicate_requests_packets_total":          wrapping(func(r *counters.RoCE) *counters.Count { return &r.Duplicates }),
	"node_infiniband_implied_nak_seq_errors_total":              wrapping(func(r *counters.RoCE) *counters.Count { return &r.ImpliedNAK }),
	"node_infiniband_out_of_buffer_drops_total":                 wrapping(func(r *counters.RoCE) *counters.Count { return &r.OutOfBuffer }),

	"node_infiniband_state_id": func(p *counters.Port, _ map[string]string, v float64) { p.Up = counters.Say(v == 4) },
	"node_infiniband_rate_bytes_per_second": func(p *counters.Port, _ map[string]string, v float64) {
		p.Speed = counters.Say(unit.Rate(8 * v))
	},
}

// wrapping stores a counter of queue pairs of 32 bits, as mlx5 has them.
func wrapping(at func(r *counters.RoCE) *counters.Count) store {
	return func(p *counters.Port, _ map[string]string, v float64) {
		*at(&p.RoCE) = counters.Count{V: uint64(v), Is: true, Bits: 32}
	}
}

// roce stores a counter of queue pairs.
func roce(at func(r *counters.RoCE) *counters.Count) store {
	return count(func(p *counters.Port) *counters.Count { return at(&p.RoCE) })
}

// sonic are the series of a SONiC switch's interfaces and queues.
var sonic = map[string]store{
	"sonic_interface_receive_bytes":    count(func(p *counters.Port) *counters.Count { return &p.RxBytes }),
	"sonic_interface_transmit_bytes":   count(func(p *counters.Port) *counters.Count { return &p.TxBytes }),
	"sonic_interface_receive_packets":  sum(func(p *counters.Port) *counters.Count { return &p.RxPackets }),
	"sonic_interface_transmit_packets": sum(func(p *counters.Port) *counters.Count { return &p.TxPackets }),
	"sonic_interface_receive_errs": byType(map[string]func(*counters.Port) *counters.Count{
		"error":   func(p *counters.Port) *counters.Count { return &p.InErrors },
		"discard": func(p *counters.Port) *counters.Count { return &p.InDiscards },
		"pause":   func(p *counters.Port) *counters.Count { return &p.RxPause }}),
	"sonic_interface_transmit_errs": byType(map[string]func(*counters.Port) *counters.Count{
		"error":   func(p *counters.Port) *counters.Count { return &p.OutErrors },
		"discard": func(p *counters.Port) *counters.Count { return &p.OutDiscards },
		"pause":   func(p *counters.Port) *counters.Count { return &p.TxPause }}),
	"sonic_interface_mtu_bytes": func(p *counters.Port, _ map[string]string, v float64) {
		p.MTU = counters.Say(unit.Bytes(min(v, 1<<20)))
	},
	"sonic_interface_speed_bytes": func(p *counters.Port, _ map[string]string, v float64) {
		p.Speed = counters.Say(unit.Rate(8 * min(v, 1e15)))
	},
	"sonic_interface_info": func(p *counters.Port, l map[string]string, _ float64) { p.Alias = l["alias"] },

	"sonic_queue_packets_total":                ofQueue(func(q *counters.Queue) *counters.Count { return &q.TxPackets }),
	"sonic_queue_bytes_total":                  ofQueue(func(q *counters.Queue) *counters.Count { return &q.TxBytes }),
	"sonic_queue_dropped_packets_total":        ofQueue(func(q *counters.Queue) *counters.Count { return &q.DropPackets }),
	"sonic_queue_dropped_bytes_total":          ofQueue(func(q *counters.Queue) *counters.Count { return &q.DropBytes }),
	"sonic_queue_shared_watermark_bytes_total": ofQueue(func(q *counters.Queue) *counters.Count { return &q.Peak }),
}

// byType stores a counter that the label type chooses.
func byType(at map[string]func(*counters.Port) *counters.Count) store {
	return func(p *counters.Port, l map[string]string, v float64) {
		if of := at[l["type"]]; of != nil {
			*of(p) = counters.Of(uint64(v))
		}
	}
}

// ofQueue stores a counter of the queue that the label names; queues above the eighth are not kept.
func ofQueue(at func(q *counters.Queue) *counters.Count) store {
	return func(p *counters.Port, l map[string]string, v float64) {
		if n, err := strconv.Atoi(l["queue"]); err == nil && n >= 0 && n < counters.Priorities {
			*at(&p.Queues[n]) = counters.Of(uint64(v))
		}
	}
}

// dcgm are the series of GPUs, whose errors explain a late or lost rank.
var dcgm = map[string]store{"DCGM_FI_DEV_XID_ERRORS": nil, "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": nil,
	"DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": nil}
