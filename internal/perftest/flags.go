package perftest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"railyard/cc"
	"railyard/internal/capture"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/unit"
	"railyard/verbs"
)

// Device are the flags of every command that opens a device.
type Device struct {
	Addr      string `help:"Local address (the one that routes to the peer)" placeholder:"ADDRESS"`
	LineRate  string `help:"Line rate: the maximum rate of congestion control" placeholder:"RATE"`
	Transport string `help:"rc, or mrc (sprayed WRITEs); a server accepts both" placeholder:"NAME"`
	Planes    string `help:"Local addresses by plane, for mrc" placeholder:"ADDRESS,..."`
	CC        string `help:"Congestion control, NAME[:PROFILE][,PARAMETER=VALUE]: ${congestion} (dcqcn; mrc: nscc)" name:"cc"`
	NoOffload bool   `help:"Disable UDP segmentation and receive offload"`
	DSCP      uint8  `help:"DSCP of data and ACKs" default:"24" name:"dscp" range:"0,63"`
	CNPDSCP   uint8  `help:"DSCP of CNPs" default:"48" name:"cnp-dscp" range:"0,63"`
	InFlight  string `help:"Maximum bytes in flight per queue pair" default:"1MiB" placeholder:"BYTES"`
	Pcap      string `help:"Write sent and received packets as pcapng" placeholder:"FILE"`
	Force     bool   `help:"Replace an existing capture"`
}

// Config checks the flags and opens the capture, which contains the program's name. done completes the capture and
// prints it. others are the command's other output files.
func (d *Device) Config(program string, say io.Writer, others ...string) (cfg verbs.DeviceConfig, done func() error,
	err error) {
	done = func() error { return nil }
	if d.Force && d.Pcap+strings.Join(others, "") == "" {
		return cfg, done, field.New("--force", "has no effect without a file to write")
	}
	cfg.DataDSCP, cfg.CNPDSCP, cfg.NoOffload = &d.DSCP, &d.CNPDSCP, d.NoOffload
	if d.Addr != "" {
		if cfg.Addr, err = Lookup("--addr", d.Addr); err != nil {
			return cfg, done, err
		}
	}
	if err := d.carried(&cfg); err != nil {
		return cfg, done, err
	}
	if d.LineRate != "" {
		if cfg.Line, err = unit.ParseRate(d.LineRate); err != nil {
			return cfg, done, field.Under("--line-rate", err)
		}
		if cfg.Line < unit.Mbps || cfg.Line > 10_000*unit.Gbps {
			return cfg, done, field.Outside("--line-rate", "1Mbps", "10000Gbps", cfg.Line)
		}
		cfg.Paced = true
	}
	if d.CC != "" {
		choice, err := cc.Parse(d.CC)
		if err == nil {
			_, err = choice.Make(cmp.Or(cfg.Line, verbs.DefaultLine))
		}
		if err != nil {
			return cfg, done, field.Under("--cc", err)
		}
	}
	if cfg.InFlight, err = Size("--in-flight", d.InFlight, 4096, 1<<30); err != nil {
		return cfg, done, err
	}
	if d.Pcap == "" {
		return cfg, done, nil
	}
	f, err := capture.Create(d.Pcap, d.Force, program, "roce0")
	if err != nil {
		return cfg, done, input.Fault(err)
	}
	cfg.Tap = f.Datagram
	return cfg, func() error {
		n, err := f.Close()
		if err == nil {
			fmt.Fprintf(say, "%s in %s (railyard pcap, tshark and Wireshark read it)\n",
				unit.Plural(n, "packet"),
				d.Pcap)
		}
		return err
	}, nil
}

// carried reads what carries queue pairs, and by which planes.
func (d *Device) carried(cfg *verbs.DeviceConfig) error {
	if d.Transport != "" && !slices.Contains(verbs.Transports(), d.Transport) {
		return field.Choice("--transport", d.Transport, verbs.Transports(),
			"unknown transport %s on sockets", field.Quote(d.Transport))
	}
	cfg.Transport, cfg.CC = d.Transport, d.CC
	if d.Planes == "" {
		return nil
	}
	if d.Transport == verbs.RC {
		return field.New("--planes", "is for --transport mrc: RC has one way in")
	}
	for _, w := range strings.Split(d.Planes, ",") {
		a, err := Lookup("--planes", strings.TrimSpace(w))
		if err != nil {
			return err
		}
		cfg.Planes = append(cfg.Planes, a)
	}
	if cfg.Addr.IsValid() && cfg.Addr != cfg.Planes[0] {
		return field.New("--planes", "begins with %v, and --addr is %v", cfg.Planes[0], cfg.Addr)
	}
	cfg.Addr = cfg.Planes[0]
	return nil
}

// Size reads a flag's size and checks it against its bounds.
func Size(flag, s string, least, most unit.Bytes) (unit.Bytes, error) {
	b, err := unit.ParseBytes(s)
	if err != nil {
		return 0, field.Under(flag, err)
	}
	if b < least || b > most {
		return 0, field.Outside(flag, least, most, b)
	}
	return b, nil
}

// Sizes parses a flag's list of sizes up to a maximum.
func Sizes(flag, list string, most unit.Bytes) (sizes []int64, err error) {
	for w := range strings.SplitSeq(list, ",") {
		b, err := Size(flag, strings.TrimSpace(w), 1, most)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, int64(b))
	}
	return sizes, nil
}

// Lookup resolves a host name or address to one address, IPv4 first.
func Lookup(flag, host string) (netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap(), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(addrs) == 0 {
		return netip.Addr{}, field.New(flag, "no address for host %s", field.Quote(host))
	}
	for _, a := range addrs {
		if a.Unmap().Is4() {
			return a.Unmap(), nil
		}
	}
	return addrs[0], nil
}

// HostPort splits a flag's HOST or HOST:PORT.
func HostPort(flag, s string, port uint16) (netip.AddrPort, error) {
	host := s
	if h, p, err := net.SplitHostPort(s); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return netip.AddrPort{}, field.New(flag, "%s is out of range 1–65535",
				field.Quote(p))
		}
		host, port = h, uint16(n)
	}
	a, err := Lookup(flag, strings.Trim(host, "[]"))
	return netip.AddrPortFrom(a, port), err
}
