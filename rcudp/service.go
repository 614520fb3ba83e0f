package rcudp

import "railyard/unit"

// Service is the treatment of a connection's packets, the sockets' side of what host.Service is in the
// simulator: several connections share one, and those of an endpoint may differ.
type Service struct {
	DSCP    uint8     // of data and acknowledgements
	CNPDSCP uint8     // of congestion notifications
	CNPGap  unit.Time // at most one CNP per connection in so long; unit.Never: none
}

// tos is the type of service of data and acknowledgements.
func (s *Service) tos() uint8 { return s.DSCP<<2 | ect0 }

// service returns the service of connections that request none.
func (c *Config) service() Service {
	return Service{DSCP: *c.DataDSCP, CNPDSCP: *c.CNPDSCP, CNPGap: c.CNPGap}
}
