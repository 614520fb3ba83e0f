package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"railyard/internal/counters"
	"railyard/internal/gnmi/gnmitest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// stuckNIC is two snapshots of a leaf between which a NIC pauses it continuously.
func stuckNIC() (out []counters.Snapshot) {
	for i := range uint64(2) {
		p := counters.Port{Name: "Ethernet1/1", Peer: counters.Peer{Device: "host-1", Port: "eth0"}}
		p.RxPFC[3] = counters.Of(100 + 50_000*i)
		p.Queues[3].TxPackets = counters.Of(9_000_000)
		out = append(out, counters.Snapshot{Device: "leaf1", Ports: []counters.Port{p},
			At: counters.Moment{Seconds: int64(1_700_000_000 + 10*i), Is: true}})
	}
	return out
}

// TestRealDiagnoseLive queries a switch twice over TLS, as user, and names the NIC.
func TestRealDiagnoseLive(t *testing.T) {
	ca, cert := certificate(t)
	s := &gnmitest.Server{Snapshots: stuckNIC(), User: "admin", Password: "secret"}
	addr, stop, err := s.Listen(grpc.Creds(credentials.NewServerTLSFromCert(&cert)))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	t.Setenv("RAILYARD_GNMI_PASSWORD", "secret")
	code, out, stderr := call(t, "diagnose", "--gnmi", addr, "--gnmi-interval", "1ms", "--gnmi-user", "admin",
		"--gnmi-ca", ca)
	if code != exitFailed || !strings.Contains(out, "1 fault: storm at host-1 eth0 (proven)") ||
		!strings.Contains(out, "host-1 eth0") || !strings.Contains(out, "100 → 50100") {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
	for _, bad := range []struct{ args, says string }{
		{"--gnmi " + addr, "certificate"},
		{"--gnmi " + addr + " --gnmi-skip-verify --gnmi-user eve", "Unauthenticated"},
		{"--gnmi 127.0.0.1:1 --gnmi-plaintext --gnmi-timeout 1m", "does not answer"},
		{"--gnmi a --gnmi-plaintext --gnmi-skip-verify", "certificates have no effect without TLS"},
		{"--gnmi a --gnmi-interval 0s", "is out of range"},
		{"", "nothing to diagnose"},
	} {
		code, _, stderr := call(t, append([]string{"diagnose"}, strings.Fields(bad.args)...)...)
		if code != exitInput || !strings.Contains(stderr, bad.says) {
			t.Errorf("%s: exit %d, %s", bad.args, code, stderr)
		}
	}
}

// certificate creates a self-signed certificate for 127.0.0.1 and a file with it.
func certificate(t *testing.T) (file string, cert tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "leaf1"},
		NotAfter:    time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true,
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "ca.pem")
	b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return file, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
