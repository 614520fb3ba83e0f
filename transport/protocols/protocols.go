package protocols

import (
	"railyard/falcon"
	"railyard/mrc"
	"railyard/srd"
	"railyard/tcp"
	"railyard/transport"
)

// All are they, in the order in which programs list them. A new one is a package and a line here.
var All = transport.List{&mrc.Protocol, &srd.Protocol, &falcon.Protocol, &tcp.Protocol}
