package cabling

import (
	"fmt"
	"strings"
	"testing"
)

// Headers name the ends of cables in many ways; of two ends that a column of one name could be, each has its own.
func TestHeaders(t *testing.T) {
	for _, header := range []string{"server,server_port,switch,switch_port,speed", "Server Name,NIC,Switch Name,Switch Port,speed",
		"host,host_port,tor,tor_port,rate", "node,node_interface,leaf,leaf_interface,speed", "leaf,leaf_port,spine,spine_port,speed",
		"server,server_nic,leaf_switch,leaf_switch_port,speed", "tor,tor_if,spine,spine_if,speed",
		"from,from_port,to,to_port,rate"} {
		text := header + "\nn1,eth0,n2,Eth1,400G\n"
		if !looksCSV("x", text) {
			t.Errorf("%s: not recognized", header)
			continue
		}
		c, err := Read([]File{{"x.csv", []byte(text)}}, "")
		if err != nil {
			t.Errorf("%s: %v", header, err)
			continue
		}
		if s := fmt.Sprintf("%+v", c.Cables); len(c.Cables) != 1 || !strings.Contains(s, "eth0") || !strings.Contains(s, "Eth1") {
			t.Errorf("%s: %s", header, s)
		}
	}
	for _, header := range []string{"leaf,ports", "server,rack", "switch,os", "hostname,model,serial"} {
		if looksCSV("x", header+"\na,b\n") {
			t.Errorf("%s: taken for a list of cables", header)
		}
	}
}
