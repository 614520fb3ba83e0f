package counters

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// mlx5Names are the names of counters in ethtool -S with NVIDIA's NICs (mlx5 driver: the
// kernel's ethernet/mellanox/mlx5/counters.rst), %d a priority.
var mlx5Names = []named{
	{"rx_packets_phy", func(p *Port, _ int) *Count { return &p.RxPackets }},
	{"tx_packets_phy", func(p *Port, _ int) *Count { return &p.TxPackets }},
	{"rx_bytes_phy", func(p *Port, _ int) *Count { return &p.RxBytes }},
	{"tx_bytes_phy", func(p *Port, _ int) *Count { return &p.TxBytes }},
	{"rx_crc_errors_phy", func(p *Port, _ int) *Count { return &p.CRC }},
	{"rx_symbol_err_phy", func(p *Port, _ int) *Count { return &p.Symbol }},
	{"rx_pcs_symbol_err_phy", func(p *Port, _ int) *Count { return &p.Uncorrected }},
	{"rx_oversize_pkts_phy", func(p *Port, _ int) *Count { return &p.Giants }},
	{"rx_discards_phy", func(p *Port, _ int) *Count { return &p.InDiscards }},
	{"tx_discards_phy", func(p *Port, _ int) *Count { return &p.OutDiscards }},
	{"tx_errors_phy", func(p *Port, _ int) *Count { return &p.OutErrors }},
	{"link_down_events_phy", func(p *Port, _ int) *Count { return &p.Flaps }},
	{"rx_pause_ctrl_phy", func(p *Port, _ int) *Count { return &p.RxPause }},
	{"tx_pause_ctrl_phy", func(p *Port, _ int) *Count { return &p.TxPause }},
	{"outbound_pci_stalled_wr", func(p *Port, _ int) *Count { return &p.PCI.StalledWr }},
	{"outbound_pci_stalled_rd", func(p *Port, _ int) *Count { return &p.PCI.StalledRd }},
	{"outbound_pci_stalled_wr_events", func(p *Port, _ int) *Count { return &p.PCI.StalledWrSeconds }},
	{"outbound_pci_stalled_rd_events", func(p *Port, _ int) *Count { return &p.PCI.StalledRdSeconds }},
	{"outbound_pci_buffer_overflow", func(p *Port, _ int) *Count { return &p.PCI.Overflow }},
	{"rx_prio%d_bytes", func(p *Port, i int) *Count { return &p.Groups[i].RxBytes }},
	{"rx_prio%d_packets", func(p *Port, i int) *Count { return &p.Groups[i].RxPackets }},
	{"rx_prio%d_discards", func(p *Port, i int) *Count { return &p.Groups[i].DropPackets }},
	{"tx_prio%d_bytes", func(p *Port, i int) *Count { return &p.Queues[i].TxBytes }},
	{"tx_prio%d_packets", func(p *Port, i int) *Count { return &p.Queues[i].TxPackets }},
	{"rx_prio%d_pause", func(p *Port, i int) *Count { return &p.RxPFC[i] }},
	{"rx_prio%d_pause_duration", func(p *Port, i int) *Count { return &p.RxDur[i] }},
	{"tx_prio%d_pause", func(p *Port, i int) *Count { return &p.TxPFC[i] }},
	{"tx_prio%d_pause_duration", func(p *Port, i int) *Count { return &p.TxDur[i] }},
}

// otherNames are the counter names of Broadcom's bnxt_en, AMD's ionic and Intel's ice (their drivers in the
// kernel). Intel counts the frames that resume (xon) separately; they are ignored.
var otherNames = []named{
	{"rx_pfc_ena_frames_pri%d", func(p *Port, i int) *Count { return &p.RxPFC[i] }},
	{"tx_pfc_ena_frames_pri%d", func(p *Port, i int) *Count { return &p.TxPFC[i] }},
	{"pfc_pri%d_rx_duration_us", func(p *Port, i int) *Count { return &p.RxDur[i] }},
	{"pfc_pri%d_tx_duration_us", func(p *Port, i int) *Count { return &p.TxDur[i] }},
	{"rx_bytes_pri%d", func(p *Port, i int) *Count { return &p.Groups[i].RxBytes }},
	{"rx_packets_pri%d", func(p *Port, i int) *Count { return &p.Groups[i].RxPackets }},
	{"tx_bytes_pri%d", func(p *Port, i int) *Count { return &p.Queues[i].TxBytes }},
	{"tx_packets_pri%d", func(p *Port, i int) *Count { return &p.Queues[i].TxPackets }},
	{"rx_fcs_err_frames", func(p *Port, _ int) *Count { return &p.CRC }},
	{"rx_pcs_symbol_err", func(p *Port, _ int) *Count { return &p.Uncorrected }},
	{"rx_ovrsz_frames", func(p *Port, _ int) *Count { return &p.Giants }},
	{"rx_total_discard_pkts", func(p *Port, _ int) *Count { return &p.InDiscards }},
	{"tx_total_discard_pkts", func(p *Port, _ int) *Count { return &p.OutDiscards }},
	{"link_down_events", func(p *Port, _ int) *Count { return &p.Flaps }},
	{"rx_total_frames", func(p *Port, _ int) *Count { return &p.RxPackets }},
	{"frames_rx_pripause", func(p *Port, _ int) *Count { return &p.RxPFCAll }},
	{"frames_tx_pripause", func(p *Port, _ int) *Count { return &p.TxPFCAll }},
	{"rx_pripause_%d_1us_count", func(p *Port, i int) *Count { return &p.RxDur[i] }},
	{"tx_pripause_%d_1us_count", func(p *Port, i int) *Count { return &p.TxDur[i] }},
	{"frames_rx_pri_%d", func(p *Port, i int) *Count { return &p.Groups[i].RxPackets }},
	{"frames_tx_pri_%d", func(p *Port, i int) *Count { return &p.Queues[i].TxPackets }},
	{"frames_rx_bad_fcs", func(p *Port, _ int) *Count { return &p.CRC }},
	{"frames_rx_oversized", func(p *Port, _ int) *Count { return &p.Giants }},
	{"frames_rx_dropped", func(p *Port, _ int) *Count { return &p.InDiscards }},
	{"frames_rx_all", func(p *Port, _ int) *Count { return &p.RxPackets }},
	{"frames_tx_all", func(p *Port, _ int) *Count { return &p.TxPackets }},
	{"tx_priority_%d_xoff.nic", func(p *Port, i int) *Count { return &p.TxPFC[i] }},
	{"rx_priority_%d_xoff.nic", func(p *Port, i int) *Count { return &p.RxPFC[i] }},
	{"rx_crc_errors.nic", func(p *Port, _ int) *Count { return &p.CRC }},
	{"rx_oversize.nic", func(p *Port, _ int) *Count { return &p.Giants }},
	{"rx_dropped.nic", func(p *Port, _ int) *Count { return &p.InDiscards }},
	{"rx_bytes.nic", func(p *Port, _ int) *Count { return &p.RxBytes }},
	{"tx_bytes.nic", func(p *Port, _ int) *Count { return &p.TxBytes }},
	{"link_xoff_rx.nic", func(p *Port, _ int) *Count { return &p.RxPause }},
	{"link_xoff_tx.nic", func(p *Port, _ int) *Count { return &p.TxPause }},
	{"octets_rx_all", func(p *Port, _ int) *Count { return &p.RxBytes }},
}

// ethtoolNames finds a counter by ethtool's name.
var ethtoolNames = expand(mlx5Names, otherNames)

type place struct {
	at func(p *Port, i int) *Count
	i  int
}

func expand(lists ...[]named) map[string]place {
	out := map[string]place{}
	for _, list := range lists {
		for _, n := range list {
			if !strings.Contains(n.name, "%d") {
				out[n.name] = place{n.at, 0}
				continue
			}
			for i := range Priorities {
				out[fmt.Sprintf(n.name, i)] = place{n.at, i}
			}
		}
	}
	return out
}

var ethtoolLine = regexp.MustCompile(`^\s*(\S.*?):\s+(\S+)\s*$`)

// readEthtool reads name: value. Hundreds of names are documented only in drivers; irrelevant ones are ignored. The
// output has no interface name. The command has it, or the interface is the file's only one.
func readEthtool(r *reading) {
	name := r.section.port
	if name == "" {
		name = "nic"
	}
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if s == "" || strings.HasSuffix(s, ":") || rule(s) {
			continue
		}
		m := ethtoolLine.FindStringSubmatch(s)
		if m == nil {
			r.not(l, "is not a name with a value")
			continue
		}
		c, ok := number(m[2], l)
		if !ok || !c.Is {
			if _, known := ethtoolNames[m[1]]; known {
				r.not(l, "has %s where a counter is expected", quote(m[2]))
			}
			continue
		}
		p := r.port(name, l)
		if at, known := ethtoolNames[m[1]]; known {
			*at.at(p, at.i) = c
		} else if unread.MatchString(m[1]) {
			r.skip(m[1], m[2], l)
		}
	}
}

// unread are names of drivers' counters of lost packets and of link errors, of the whole interface.
// rx_out_of_range_len_phy is excluded, and so are bits corrected by FEC, which every link of 100G lanes counts;
// rx3_xdp_drop belongs to a ring.
var unread = regexp.MustCompile(`^[a-z_]*(?:drop|discard|symbol_err|uncorrect)[a-z_]*$`)

func writeEthtool(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		p := &s.Ports[i]
		var lines []string
		for _, n := range mlx5Names {
			for k := range Priorities {
				name := n.name
				if strings.Contains(name, "%d") {
					name = fmt.Sprintf(name, k)
				} else if k > 0 {
					break
				}
				if c := n.at(p, k); c.Is {
					lines = append(lines, fmt.Sprintf("     %s: %s\n", name, c))
				}
			}
		}
		if len(lines) > 0 {
			w.WriteString("NIC statistics:\n" + strings.Join(lines, ""))
		}
	}
}

// EthtoolNames lists the names of ethtool -S that have a counter, sorted.
func EthtoolNames() []string { return slices.Sorted(maps.Keys(ethtoolNames)) }

// EthtoolCount returns a port's counter of a name of ethtool -S, which EthtoolNames lists.
func EthtoolCount(p *Port, name string) *Count {
	at := ethtoolNames[name]
	return at.at(p, at.i)
}
