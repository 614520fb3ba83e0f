package cabling

import (
	"fmt"
	"strings"
	"testing"
)

// Headers name the ends of cables in many ways. If a column name fits both ends, each end gets one column.
func TestHeaders(t *testing.T) {
	for _, header := range []string{"server,server_port,switch,switch_port,speed", "Server Name,NIC,Switch Name,Switch Port,speed",
		"host,host_port,tor,tor_port,rate", "node,node_interface,leaf,leaf_interface,speed", "leaf,leaf_port,spine,spine_port,speed",
		"server,server_nic,leaf_switch,leaf_switch_port,speed", "tor,tor_if,spine,spine_if,speed",
		"from,from_port,to,to_port,rate", "ServerName,ServerPort,SwitchName,SwitchPort,LinkSpeed",
		"ToR,TorPort,Spine,SpinePort,Rate"} {
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

// An ignored column that describes cables is a note with its position; other columns are not.
func TestUnreadColumns(t *testing.T) {
	for header, want := range map[string]string{
		"server,port,switch,Switch Port (breakout)": "columns that are not read: port, switch_port_breakout",
		"from,to,id,tenant,status":                  "", "from,from_port,to,to_port,rate": "",
	} {
		c, err := Read([]File{{"x.csv", []byte(header + "\nn1,1,n2,1,400G\n")}}, "")
		if err != nil {
			t.Errorf("%s: %v", header, err)
			continue
		}
		if s := fmt.Sprint(c.Notes); !strings.Contains(s, want) || want == "" && strings.Contains(s, "not read") {
			t.Errorf("%s: %s, want %q", header, s, want)
		}
	}
}

// A header that names the kind of its column's devices decides it, but not for a device in both columns.
func TestHeadersOfKinds(t *testing.T) {
	for header, want := range map[string][2]Kind{"server,switch": {Server, Switch}, "from,to": {Unknown, Unknown},
		"server_name,leaf": {Server, Switch}, "leaf,spine": {Switch, Switch}} {
		c, err := Read([]File{{"x.csv", []byte(header + "\nx1,y1\nx2,y1\ny1,x3\nx4,y2\n")}}, "")
		if err != nil {
			t.Fatal(header, err)
		}
		kinds := map[string]Kind{}
		for _, n := range c.Nodes {
			kinds[n.Name] = n.Kind
		}
		if kinds["x1"] != want[0] || kinds["y2"] != want[1] || kinds["y1"] != Unknown {
			t.Errorf("%s: %v", header, kinds)
		}
	}
}
