package jetstream

import (
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"railyard/internal/field"
	"railyard/internal/input"

	"github.com/nats-io/nats-server/v2/server"
)

// Listen is a server's listening address.
type Listen struct {
	Address   string // HOST:PORT
	Token     string
	Cert, Key string // files for TLS
	Dir       string // directory of the study; the server's files are in its folder nats
}

// Server is a NATS server in this process.
type Server struct {
	Access
	own  *server.Server
	disk *disk
}

// Serve starts a server with JetStream. An address that others reach needs a token or TLS with a token.
func Serve(l Listen) (*Server, error) {
	host, text, err := net.SplitHostPort(l.Address)
	port, bad := strconv.Atoi(text)
	if err != nil || bad != nil || port < 0 || port > 65535 {
		return nil, field.New("--listen", "%s is not an address; accepted: HOST:PORT, as in 127.0.0.1:4222", field.Quote(l.Address))
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && l.Token == "" {
		return nil, field.New("--listen", "%s is open to other hosts: a token is needed; accepted: --token-file, or %s",
			field.Quote(l.Address), TokenName)
	}
	o := &server.Options{ServerName: "railyard", Host: host, Port: port, JetStream: true, NoSigs: true, NoLog: true,
		StoreDir: filepath.Join(l.Dir, "nats"), Authorization: l.Token, MaxPayload: 8 << 20,
		JetStreamMaxStore: 1 << 50} // the disk is the limit, not a share of the space that is free at the start
	if port == 0 {
		o.Port = server.RANDOM_PORT
	}
	scheme := "nats"
	if l.Cert != "" {
		if l.Key == "" {
			return nil, field.New("--tls-key", "the key of --tls-cert is missing; accepted: its file")
		}
		o.TLS, scheme = true, "tls"
		if o.TLSConfig, err = server.GenTLSConfig(&server.TLSConfigOpts{CertFile: l.Cert, KeyFile: l.Key}); err != nil {
			return nil, input.Fault(field.New("--tls-cert", "%v", err))
		}
	}
	own, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	files := newDisk(o.StoreDir)
	own.SetLogger(files, false, false)
	go own.Start()
	if !own.ReadyForConnections(10 * time.Second) {
		own.Shutdown()
		if err := files.fault(); err != nil {
			return nil, err
		}
		return nil, input.Fault(field.New("--listen", "%s cannot be listened on", l.Address))
	}
	addr, ok := own.Addr().(*net.TCPAddr)
	if !ok {
		own.Shutdown()
		return nil, errors.New("the NATS server has no address")
	}
	url := scheme + "://" + net.JoinHostPort(host, strconv.Itoa(addr.Port))
	return &Server{Access{URL: url, Token: l.Token}, own, files}, nil
}

// Close ends the server.
func (s *Server) Close() {
	s.own.Shutdown()
	s.own.WaitForShutdown()
}
