package jetstream

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"railyard/internal/study"
	"railyard/unit"
)

// TestRealTLS: a study runs over TLS with a certificate of a private authority, which a worker must be given.
func TestRealTLS(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, own, own, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, kind string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	l := Listen{Address: "127.0.0.1:0", Token: "secret", Dir: dir, Cert: file("cert.pem", "CERTIFICATE", cert),
		Key: file("key.pem", "PRIVATE KEY", secret)}
	server, err := Serve(l)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if !strings.HasPrefix(server.URL, "tls://") {
		t.Errorf("the address is %s", server.URL)
	}
	for want, a := range map[string]Access{
		"unknown authority":  {URL: server.URL, Token: "secret"},
		"refuses the token":  {URL: server.URL, Token: "wrong", CA: l.Cert},
		"no such file":       {URL: server.URL, Token: "secret", CA: filepath.Join(dir, "none.pem")},
		"cannot be reached:": {URL: "tls://127.0.0.1:1", CA: l.Cert},
	} {
		if _, err := a.dial("test"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", a, err, want)
		}
	}
	path := filepath.Join(dir, "tiny.yaml")
	if err := os.WriteFile(path, []byte(tiny), 0o600); err != nil {
		t.Fatal(err)
	}
	access := Access{URL: server.URL, Token: "secret", CA: l.Cert}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s := begun(t, path, filepath.Join(dir, "s"))
	defer s.Close()
	s.Engine = &Driver{Access: access}
	w := &Worker{Access: access, Pool: &study.Pool{Workers: 2, Memory: unit.GB}}
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	if err := s.Run(ctx); err != nil || s.Simulated != 52 {
		t.Errorf("%v, %d simulated", err, s.Simulated)
	}
	cancel()
	<-done
}
