package diagnose

import "strings"

// foreign are systems whose outputs are recognised and not read, and texts that are no
// outputs, by phrases of which one is enough.
var foreign = []struct {
	name    string
	phrases []string
}{
	{"outputs of Juniper Junos", []string{"Physical interface: ", "Egress queues: ", "> show interfaces et-",
		"> show class-of-service"}},
	{"outputs of Cisco IOS XR", []string{"RP/0/RP0/CPU0:", "HundredGigE0/", "FourHundredGigE0/"}},
	{"outputs of NVIDIA Cumulus NVUE", []string{"$ nv show ", "# nv show "}},
	{"outputs of NVIDIA Onyx", []string{"show interfaces ethernet 1/1 counters pfc", "PFC 0 ", "Onyx"}},
	{"outputs of Huawei VRP or H3C Comware", []string{"current state : UP", ">display ", "]display ", "<H3C>"}},
	{"outputs of Nokia SR Linux", []string{"info from state interface", "--{ running }--"}},
	{"outputs of Dell OS10", []string{"show queuing statistics interface ethernet 1/1", "OS10# "}},
	{"a configuration of Cisco NX-OS", []string{"policy-map type queuing", "policy-map type network-qos"}},
	{"a configuration of Arista EOS", []string{"qos map dscp ", "priority-flow-control priority "}},
	{"SONiC's config_db.json", []string{`"PORT_QOS_MAP"`, `"BUFFER_PROFILE"`, `"DEVICE_METADATA"`}},
	{"a Railyard scenario", []string{"\nworkload:", "\nfabric:"}},
}

// Looks is what a text seems to be of which nothing was read, "" where nobody knows.
func Looks(text []byte) string {
	s := string(text[:min(len(text), 1<<20)])
	for _, f := range foreign {
		for _, p := range f.phrases {
			if strings.Contains(s, p) {
				return f.name
			}
		}
	}
	return ""
}
