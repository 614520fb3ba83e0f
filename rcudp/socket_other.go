//go:build !linux

package rcudp

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"golang.org/x/net/ipv4"
)

// PortInUseError exists for callers; see the Linux side.
type PortInUseError struct{ Addr netip.AddrPort }

func (e *PortInUseError) Error() string { return "port in use" }

var errLinux = errors.New("real RoCEv2 sockets need Linux: elsewhere the IPv4 identification, which the ICRC covers, is not predictable")

type socket struct {
	conn  *net.UDPConn
	port  uint16
	size  int
	users int
}

func listen(netip.AddrPort, Options, bool) (*socket, error)   { return nil, errLinux }
func (s *socket) readBatch([]ipv4.Message, bool) (int, error) { return 0, net.ErrClosed }
func (s *socket) writeBatch([]ipv4.Message) (int, error)      { return 0, net.ErrClosed }
func parseControl([]byte) (r received)                        { return r }
func controlOf([]byte, uint8, uint16, int, int, bool) []byte  { return nil }
func labelled(netip.Addr) bool                                { return false }
func offloadRefused(error) bool                               { return false }
func wouldBlock(error) bool                                   { return false }
func yield()                                                  {}
func (s *socket) pending() bool                               { return false }
func (s *socket) stampArrivals()                              {}
func nap(d time.Duration)                                     { time.Sleep(d) }

type links struct{}

func watch([]netip.Addr) *links { return nil }
func (l *links) next() bool     { return false }
func (l *links) up(int) bool    { return true }
func (l *links) close()         {}

type received struct {
	tos     uint8
	segment int
	label   uint32
	drops   uint32
	ttl     uint8
	stamp   time.Time
}
