package sonic

import (
	"fmt"

	"railyard/internal/swconf/design"
)

// peerVLAN is the VLAN of the peer link in which the two switches talk; designs give out VLANs below it.
const peerVLAN = 4094

// pair writes what holds two switches together (SONiC's MCLAG design): the service that images have turned
// off, the peer link, and an interface on it with the address that the session comes from, which each of
// the two has for itself.
func pair(s *design.Switch, put putter) {
	name := fmt.Sprintf("PortChannel%d", design.PeerChannel)
	put("PORTCHANNEL", name, row{"admin_status": "up", "mtu": fmt.Sprint(int64(s.Spec.MTU)), "min_links": "1"})
	for _, v := range s.VLANs {
		put("VLAN_MEMBER", fmt.Sprintf("Vlan%d|%s", v.ID, name), row{"tagging_mode": "tagged"})
	}
	own, peer := "169.254.0.0", "169.254.0.1"
	if !s.First {
		own, peer = peer, own
	}
	vlan := fmt.Sprintf("Vlan%d", peerVLAN)
	put("FEATURE", "iccpd", row{"state": "enabled", "auto_restart": "enabled"})
	put("VLAN", vlan, row{"vlanid": fmt.Sprint(peerVLAN), "description": "peer link to " + s.Peer.Name})
	put("VLAN_MEMBER", vlan+"|"+name, row{"tagging_mode": "tagged"})
	put("VLAN_INTERFACE", vlan, row{})
	put("VLAN_INTERFACE", vlan+"|"+own+"/31", row{})
	put("MCLAG_DOMAIN", fmt.Sprint(s.PairID), row{"source_ip": own, "peer_ip": peer, "peer_link": name})
	put("MCLAG_UNIQUE_IP", vlan, row{"unique_ip": "enable"})
}
