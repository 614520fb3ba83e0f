package scenario

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/inside"
	"railyard/internal/model"
)

// boarded is a scenario with an event inside a server.
func boarded(server, event string) error {
	d, err := Parse("s.yaml", fmt.Appendf(nil, `
fabric: {kind: rail, hosts: 2, spines: 1, uplinks: 1}
server: {%s}
workload: {traffic: {permutation: {bytes: 1MB}}}
events: [%s]
`, server, event), nil)
	if err == nil {
		_, err = d.Resolve(nil)
	}
	return err
}

// Elements inside servers that do not exist, or that an event does not support, are rejected with what is accepted.
func TestInsideRefused(t *testing.T) {
	for _, c := range []struct{ server, event, want string }{
		{"gpu: h100", "{nvswitch: host-1/nvswitch-4, at: 1us, up: false}", ""},
		{"gpu: h100", "{nvswitch: host-1/nvswitch-1, at: 1us, flap: {period: 10us, count: 3}}", ""},
		{"gpu: h100", "{nvswitch: host-1/nvswitch-5, at: 1us, up: false}", "host-1 has host-1/nvswitch-1 to host-1/nvswitch-4"},
		{"gpu: h100", "{nvswitch: host-9/nvswitch-1, at: 1us, up: false}", "names are like host-1/nvswitch-1"},
		{"gpu: h100", "{nvswitch: host-1, at: 1us, up: false}", "names are like host-1/nvswitch-1"},
		{"gpu: h100", "{nvswitch: host-1/nvswitch-01, at: 1us, up: false}", "names are like"},
		{"gpu: mi300x", "{nvswitch: host-1/nvswitch-1, at: 1us, up: false}", "server.baseboard with model or links"},
		{"gpu: h100, gpus: 4, nics: 4", "{nvswitch: host-1/nvswitch-1, at: 1us, up: false}", "server.baseboard with model or links"},
		{"gpu: h100", "{nvswitch: host-1/nvswitch-1, at: 1us, rate_share: 0.5}", "accepted: up, flap"},
		{"gpu: h100", "{nvswitch: host-1/nvswitch-1, at: 1us, up: false, converge: 1us}", "routes do not use NVLinks"},
		{"gpu: h100", "{nvswitch: host-1/nvswitch-1, at: 1us, up: true}", "is up already"},
		{"gpu: b200", "{nvswitch: host-1/nvswitch-1, at: 1us, up: false}, {nvswitch: host-1/nvswitch-2, at: 2us, up: false}",
			"no NVSwitch of host-1 is left"},
		{"gpu: h100", "{nvswitch: host-1/nvswitch-1, nic: host-1/nic-1, at: 1us, up: false}", "names nic and nvswitch"},
		{"gpu: h100", "{pcie_switch: host-1/pcie-1, at: 1us, up: false}", "server.baseboard.pcie_switches sets their number"},
		{"gpu: h100, baseboard: {pcie_switches: 4}", "{pcie_switch: host-1/pcie-4, at: 1us, up: false}", ""},
		{"gpu: h100, baseboard: {pcie_switches: 4}", "{pcie_switch: host-1/pcie-5, at: 1us, up: false}", "host-1/pcie-1 to host-1/pcie-4"},
		{"gpu: h100, baseboard: {pcie_switches: 4}", "{pcie_switch: host-1/pcie-1, at: 1us, up: true}", "can only go down"},
		{"gpu: h100, baseboard: {pcie_switches: 3}", "", "8 GPUs of host-1 are not divisible by 3"},
		{"gpu: h100, baseboard: {model: hgx-h100}", "", ""},
		{"gpu: h100, baseboard: {model: hgx-h10}", "", `did you mean "hgx-h100"`},
		{"gpu: h100, baseboard: {model: hgx-a100}", "", "12 NVLinks of a GPU; h100 has 18"},
		{"gpu: h100, baseboard: {model: nvl72}", "", "nvl72 has 72 GPUs, and here 8"},
		{"gpu: h100, baseboard: {links: [9, 8]}", "", "9 + 8 are 17 NVLinks"},
		{"gpu: h100, baseboard: {links: [5, 4, 4, 5], baseboards: 2}", "", "trunk: is missing"},
		{"gpu: h100, baseboard: {links: [5, 4, 4, 5], baseboards: 3, trunk: 4}", "", "not divisible by 3 baseboards"},
		{"gpu: h100, baseboard: {trunk: 4}", "", "has no effect without links"},
		{"gpu: mi300x, baseboard: {model: hgx-h100}", "", "connected in pairs"},
	} {
		err := boarded(c.server, c.event)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.server, c.event, err, c.want)
		}
	}
}

// Sold baseboards have as many NVLinks as their GPUs.
func TestBoardsOfGPUs(t *testing.T) {
	for name, g := range model.GPUs {
		for _, gpus := range []int{8, 72} {
			if b := inside.BoardOf(name, gpus); b != nil && b.PerGPU() != g.Links {
				t.Errorf("%s: %d NVLinks, and %d on its baseboard", name, g.Links, b.PerGPU())
			}
		}
	}
}
