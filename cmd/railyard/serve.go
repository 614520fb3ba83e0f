package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"time"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/model"
	"railyard/internal/report/web"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/site"
	"railyard/internal/swconf/sonic"
	shipped "railyard/scenarios"
)

type serveCmd struct {
	Runs    string `arg:"" optional:"" help:"Directory of runs" default:"runs" placeholder:"RUNS"`
	Listen  string `help:"Listen address for other hosts too: 0.0.0.0:8080" placeholder:"ADDRESS"`
	Port    int    `help:"Local port" default:"8080" range:"0,65535" without:"listen"`
	NoToken bool   `help:"Disable the token: any local user may connect" name:"no-token" without:"listen"`
}

func (c *serveCmd) Help() string {
	return `Serves a web page that lists and starts runs and shows fabric, time line, causes and packets. It
works offline. The printed address contains a token, so that other users of this host cannot start
simulations. Ctrl-C stops the server; simulations that it started write their results.

Examples:
  railyard serve
  railyard serve runs --port 9000
  railyard serve runs --listen 0.0.0.0:8080`
}

// Run is the serve command.
func (c *serveCmd) Run(e *env) error {
	if st, err := os.Stat(c.Runs); err == nil && !st.IsDir() {
		return input.Fault(fmt.Errorf("%s is a file, expected a folder of run directories", c.Runs))
	}
	texts := shipped.Texts()
	maps.Copy(texts, shipped.Clusters())
	cfg := web.Config{Root: c.Runs, Version: runner.Version(), Scenarios: texts,
		Files: shipped.File, Schema: scenario.Schema(), Names: map[string][]string{
			"training.model": model.Names(), "gpu": model.GPUNames(), "hwsku": sonic.HwSKUs(),
			"types.model": append(site.ModelNames(), site.ServerNames()...)}}
	address := fmt.Sprintf("127.0.0.1:%d", c.Port)
	if c.Listen != "" {
		address = c.Listen
	}
	if !c.NoToken {
		secret := make([]byte, 24)
		if _, err := rand.Read(secret); err != nil {
			return err
		}
		cfg.Token = base64.RawURLEncoding.EncodeToString(secret)
	}
	handler, err := web.New(cfg)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return input.Fault(field.New("--listen", "%s is not an address; accepted: HOST:PORT, as in 0.0.0.0:8080",
			field.Quote(c.Listen)))
	}
	network, ip := "tcp", net.ParseIP(host)
	if ip.To4() != nil {
		network = "tcp4" // 0.0.0.0 would listen on IPv6 too
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return input.Fault(err)
	}
	shown := l.Addr().String()
	if name, err := os.Hostname(); err == nil && (host == "" || ip.IsUnspecified()) {
		shown = net.JoinHostPort(name, fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
	}
	suffix := ""
	if cfg.Token != "" {
		suffix = "?token=" + cfg.Token
	}
	fmt.Fprintf(e.stdout, "http://%s/%s\nServes the runs in %s; Ctrl-C stops the server\n", shown, suffix, c.Runs)
	return serve(l, handler.HTTP(), handler.Close)
}

// serve answers until it is interrupted, and then closes the server.
func serve(l net.Listener, s *http.Server, closed func()) error {
	ctx, stop := interruptible()
	defer stop()
	defer closed()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err := s.Shutdown(end)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
