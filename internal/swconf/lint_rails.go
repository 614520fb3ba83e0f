package swconf

import (
	"fmt"
	"regexp"
	"strings"
)

// Plugged is an actual link between a switch and a server.
type Plugged struct {
	Switch, Port   string
	Server, Socket string // nic3, nic3p1
	At             Place  // source line
}

// railEnd parses "rail-3 to host-1 nic3" in a description, as render writes it if a map assigns ports to rails.
var railEnd = regexp.MustCompile(`(?:^|\b)rail-(\d+) to (\S+) (\S+)$`)

// railPort compares the actual links with the rails and servers in the ports' descriptions.
func (l *linter) railPort() {
	type home struct {
		c    *Config
		port *Port
		rail string
	}
	homes := map[[2]string]home{} // by server and socket
	ports := map[[2]string]*home{}
	for _, c := range l.Configs {
		for _, p := range c.Ports {
			if m := railEnd.FindStringSubmatch(p.Desc.V); m != nil && len(l.Plugged) > 0 {
				h := home{c, p, m[1]}
				homes[[2]string{m[2], m[3]}], ports[[2]string{c.Name(), p.Name}] = h, &h
			}
		}
	}
	for _, x := range l.Plugged {
		at := ports[[2]string{x.Switch, x.Port}]
		if at == nil || strings.HasSuffix(at.port.Desc.V, " to "+x.Server+" "+x.Socket) {
			continue
		}
		where := ""
		if x.At.Line > 0 {
			where = fmt.Sprintf(" (%s:%d:%d)", x.At.File, x.At.Line, x.At.Col)
		}
		want, known := homes[[2]string{x.Server, x.Socket}]
		switch {
		case !known:
			l.say(at.port.Desc.At, "plug in what the description names, or correct it",
				"%s is rail %s's, and %s %s of no rail is cabled into it%s", at.port.Name, at.rail, x.Server,
				x.Socket, where)
		case want.rail != at.rail:
			l.say(at.port.Desc.At, "plug it into "+want.c.Name()+" "+want.port.Name,
				"%s is rail %s's, and %s %s of rail %s is cabled into it%s", at.port.Name, at.rail, x.Server,
				x.Socket, want.rail, where)
		default:
			l.say(at.port.Desc.At, "plug it into "+want.c.Name()+" "+want.port.Name,
				"%s is for another server of rail %s, and %s %s is cabled into it%s", at.port.Name, at.rail,
				x.Server, x.Socket, where)
		}
	}
}
