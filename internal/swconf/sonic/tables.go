package sonic

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// known are the tables that are read; each table of names may also be referred to.
var known = []string{"DEVICE_METADATA", "PORT", "PORT_QOS_MAP", "DSCP_TO_TC_MAP", "DOT1P_TO_TC_MAP",
	"TC_TO_QUEUE_MAP",
	"TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE",
	"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "SCHEDULER", "QUEUE", "WRED_PROFILE", "BUFFER_POOL",
	"BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE", "BUFFER_PORT_INGRESS_PROFILE_LIST",
	"BUFFER_PORT_EGRESS_PROFILE_LIST", "CABLE_LENGTH", "PFC_WD",
	"INTERFACE", "BGP_NEIGHBOR", globalsTable, familyTable, groupTable, "BGP_GLOBALS_AF_NETWORK",
	"ROUTE_REDISTRIBUTE", "FEATURE", "VLAN", "VLAN_MEMBER", "VLAN_SUB_INTERFACE", "VRF",
	"PORTCHANNEL", "PORTCHANNEL_MEMBER", "PORTCHANNEL_INTERFACE",
	"SWITCH_TRIMMING", "SWITCH_HASH", parameters, locatorTable, sidTable, routeTable}

// named are the tables of profiles and maps that must be used and must exist.
var named = []string{"DSCP_TO_TC_MAP", "DOT1P_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP",
	"MAP_PFC_PRIORITY_TO_QUEUE", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
	"SCHEDULER", "WRED_PROFILE", "BUFFER_POOL", "BUFFER_PROFILE", locatorTable, groupTable}

// passed are tables irrelevant to queues and paths: tables of the published YANG models, and of earlier releases.
var passed = strings.Fields(`
	AAA ACL_RULE ACL_TABLE ACL_TABLE_TYPE ASIC_SENSORS AS_PATH_SET AUTO_TECHSUPPORT
	AUTO_TECHSUPPORT_FEATURE BANNER_MESSAGE BGP_ALLOWED_PREFIXES BGP_BBR BGP_DEVICE_GLOBAL
	BGP_AGGREGATE_ADDRESS
	BGP_GLOBALS_AF_AGGREGATE_ADDR BGP_GLOBALS_EVPN_RT BGP_GLOBALS_EVPN_VNI BGP_GLOBALS_LISTEN_PREFIX
	BGP_NEIGHBOR_AF BGP_PEER_GROUP_AF DASH_ACL_GROUP DASH_ACL_IN DASH_ACL_OUT DASH_ACL_RULE
	DASH_APPLIANCE DASH_ENI DASH_HA_GLOBAL_CONFIG DASH_METER DASH_QOS DASH_ROUTE_TABLE
	DASH_ROUTING_TYPE DASH_VNET DASH_VNET_MAPPING_TABLE DPU DPUS REMOTE_DPU VDPU SERVICE_MGMT
	SRV6_MY_SOURCE VNET VNET_ROUTE VNET_ROUTE_TUNNEL constants
	BGP_INTERNAL_NEIGHBOR BGP_MONITORS BGP_PEER_RANGE BGP_SENTINELS BGP_VOQ_CHASSIS_NEIGHBOR BMP
	BREAKOUT_CFG CHASSIS_MODULE COMMUNITY_SET CONSOLE_PORT CONSOLE_SWITCH COPP_GROUP COPP_TRAP CRM
	DEBUG_COUNTER DEBUG_COUNTER_DROP_REASON DEBUG_DROP_MONITOR
	DEVICE_NEIGHBOR DEVICE_NEIGHBOR_METADATA DHCPV4_RELAY DHCP_RELAY DHCP_SERVER DHCP_SERVER_IPV4
	DHCP_SERVER_IPV4_CUSTOMIZED_OPTIONS DHCP_SERVER_IPV4_PORT DHCP_SERVER_IPV4_RANGE DNS_NAMESERVER
	DNS_OPTIONS EVPN_ETHERNET_SEGMENT EVPN_MH_GLOBAL EXTENDED_COMMUNITY_SET FABRIC_MONITOR FABRIC_PORT
	FIPS FLEX_COUNTER_TABLE FLOW_COUNTER_ROUTE_PATTERN GNMI GNMI_CLIENT_CERT GRPCCLIENT HEARTBEAT
	HIGH_FREQUENCY_TELEMETRY_GROUP HIGH_FREQUENCY_TELEMETRY_PROFILE KDUMP KUBERNETES_MASTER LDAP
	LDAP_SERVER LEAK_CONTROL_POLICY LEAK_PROFILE LLDP LLDP_PORT LLR_PORT LLR_PROFILE LOGGER LOOPBACK
	LOOPBACK_INTERFACE LOSSLESS_TRAFFIC_PATTERN MACSEC_PROFILE MAC_MOVE_GUARD MCLAG_DOMAIN
	MCLAG_INTERFACE MCLAG_UNIQUE_IP MEMORY_STATISTICS MGMT_INTERFACE MGMT_PORT MGMT_VRF_CONFIG
	MID_PLANE_BRIDGE MIRROR_SESSION MUXLOGGER MUX_CABLE MUX_LINKMGR NAT_BINDINGS NAT_GLOBAL NAT_POOL
	NEIGH NTP NTP_KEY NTP_SERVER NVGRE_TUNNEL NVGRE_TUNNEL_MAP PASSW_HARDENING PBH_HASH PBH_HASH_FIELD
	PBH_RULE PBH_TABLE PEER_SWITCH PORT_STORM_CONTROL POLICER PREFIX PREFIX_LIST PREFIX_SET RADIUS
	RADIUS_SERVER RESTAPI ROUTE_MAP ROUTE_MAP_SET SAG SAG_GLOBAL SERIAL_CONSOLE SFLOW
	SFLOW_COLLECTOR SFLOW_SESSION SNMP SNMP_AGENT_ADDRESS_CONFIG SNMP_COMMUNITY SNMP_USER SSH_SERVER
	STATIC_NAPT STATIC_NAT STORMOND_CONFIG STP STP_MST STP_MST_INST STP_MST_PORT STP_PORT STP_VLAN
	STP_VLAN_PORT SUBNET_DECAP SUPPRESS_ASIC_SDK_HEALTH_EVENT SWITCH_FAST_LINKUP
	SYSLOG_CONFIG SYSLOG_CONFIG_FEATURE SYSLOG_SERVER SYSTEM_DEFAULTS SYSTEM_PORT TACPLUS TACPLUS_SERVER
	TC_TO_DSCP_MAP TELEMETRY TELEMETRY_CLIENT TUNNEL VERSIONS VLAN_INTERFACE VOQ_INBAND_INTERFACE
	VXLAN_EVPN_NVO VXLAN_TUNNEL VXLAN_TUNNEL_MAP WARM_RESTART XCVRD_LOG ZTP`)

// fields are the valid fields of the tables that affect packets. Other fields have no effect on the switch, and fields
// that are not simulated do not count as recognized.
var fields = map[string]string{
	"PORT_QOS_MAP":   "dscp_to_tc_map dot1p_to_tc_map tc_to_queue_map tc_to_pg_map tc_to_dscp_map tc_to_dot1p_map pfc_to_queue_map pfc_to_pg_map pfc_enable pfcwd_sw_enable pfc_wd_sw_enable",
	"QUEUE":          "scheduler wred_profile",
	"SCHEDULER":      "type weight",
	"WRED_PROFILE":   "ecn wred_green_enable wred_yellow_enable wred_red_enable green_min_threshold green_max_threshold green_drop_probability yellow_min_threshold yellow_max_threshold yellow_drop_probability red_min_threshold red_max_threshold red_drop_probability",
	"BUFFER_POOL":    "type mode size xoff percentage",
	"BUFFER_PROFILE": "pool size mode static_th dynamic_th xon xon_offset xoff packet_discard_action headroom_type",
	"BUFFER_PG":      "profile", "BUFFER_QUEUE": "profile",
	"PFC_WD": "action detection_time restoration_time POLL_INTERVAL BIG_RED_SWITCH pfc_stat_history",
}

// left are fields that are recognized and not simulated.
var left = map[string]string{"pir": "rates", "pbs": "rates", "cir": "rates", "cbs": "rates",
	"meter_type": "rates", "scheduler": "schedulers of whole ports",
	"dscp_to_fc_map": "forwarding classes",
	"exp_to_fc_map":  "forwarding classes", "mpls_tc_to_tc_map": "MPLS", "pfc_asym": "PFC in one direction"}

// Looks reports whether text looks like a config_db.json.
func Looks(text string) int {
	switch text := strings.TrimSpace(text); {
	case strings.HasPrefix(text, "[") && strings.Contains(text, `"path"`) && strings.Contains(text, `"op"`):
		return 2 // a patch, which Parse reports
	case strings.HasPrefix(text, "[") && strings.HasPrefix(strings.TrimSpace(text[1:]), "{"):
		// or a configlet, which Parse also reports
	case !strings.HasPrefix(text, "{"):
		return 0
	}
	for _, table := range []string{"DEVICE_METADATA", "BUFFER_PROFILE", "DSCP_TO_TC_MAP", "PORT",
		"PORT_QOS_MAP", "WRED_PROFILE", "QUEUE", "PFC_WD", "SCHEDULER", "VERSIONS"} {
		if strings.Contains(text, `"`+table+`"`) || strings.Contains(text, `"`+table+`|`) {
			return 4 // one section suffices, so texts of megabytes are not searched further
		}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		return 0
	}
	return 1
}

// tables checks the shape of every table and notes names and unknown ones.
func (p *parser) tables() error {
	isKnown, isPassed, isNamed := set(known), set(passed), set(named)
	for i, t := range p.root.keys {
		table := p.root.kids[i]
		n := 1 + len(table.keys)
		p.c.Total += n
		switch {
		case isKnown[t]:
			p.c.Read += n
		case isPassed[t]:
			p.c.Passed += n
			continue
		default:
			p.c.Unknown = append(p.c.Unknown, swconf.Unknown{At: table.at, Text: t, Why: "unknown table" +
				experimental(t)})
			continue
		}
		if !table.object() {
			return &cli.SyntaxError{File: p.c.File, Line: table.at.Line, Col: table.at.Col,
				Msg: fmt.Sprintf("%s is not a table: expected an object", t)}
		}
		if t == "PORT" && len(table.keys) > swconf.MaxPorts {
			at := table.kids[swconf.MaxPorts].at
			return &cli.SyntaxError{File: p.c.File, Line: at.Line, Col: at.Col,
				Msg: fmt.Sprintf("names more interfaces than a switch has (%d)", swconf.MaxPorts)}
		}
		for i, k := range table.keys {
			if !table.kids[i].object() {
				at := table.kids[i].at
				return &cli.SyntaxError{File: p.c.File, Line: at.Line, Col: at.Col,
					Msg: fmt.Sprintf("%s|%s is not a row: expected an object", t, k)}
			}
			if isNamed[t] {
				// the tunnel between the switches of a pair, in TUNNEL, uses objects of this name
				quiet := strings.HasSuffix(k, "_TUNNEL") && p.table("TUNNEL") == nil
				p.c.Define(t, k, table.kids[i].at, quiet)
			}
		}
		p.odd(t, table)
	}
	return nil
}

// odd records invalid fields of a table's rows, and fields that are not simulated.
func (p *parser) odd(name string, table *node) {
	if fields[name] == "" {
		return
	}
	may := strings.Fields(fields[name])
	told := map[string]bool{}
	for _, row := range table.kids {
		for i, f := range row.keys {
			if k := row.kids[i].kind; k == '[' || k == '{' {
				p.bad(row.kids[i], "%s of %s is not a string: what is read of it is nothing", f, name)
				continue
			}
			if slices.Contains(may, f) || told[f] || f == "NULL" {
				continue
			}
			told[f] = true // once for all ports
			why := "no field of " + name
			if left[f] != "" {
				why = left[f] + " are understood and neither shown nor simulated"
			}
			p.c.Unknown = append(p.c.Unknown, swconf.Unknown{At: row.kids[i].at, Text: f, Why: why})
		}
	}
}

func set(list []string) map[string]bool {
	m := map[string]bool{}
	for _, s := range list {
		m[s] = true
	}
	return m
}

func experimental(table string) string {
	if strings.HasPrefix(table, "FG_NHG") {
		return " (fine-grained ECMP is understood and neither shown nor simulated)"
	}
	if strings.HasSuffix(table, "_TO_FC_MAP") || table == "MPLS_TC_TO_TC_MAP" || table == "TC_TO_DOT1P_MAP" {
		return " (forwarding classes, MPLS and 802.1p remarks are understood and neither shown nor simulated)"
	}
	if strings.HasPrefix(table, "ARS_") || strings.HasPrefix(table, "ADAPTIVE_ROUTING") {
		return " (adaptive routing exists in a high-level design only; experimental)"
	}
	return ""
}
