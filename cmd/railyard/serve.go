package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"railyard/internal/input"
	"railyard/internal/report/web"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	shipped "railyard/scenarios"
)

type serveCmd struct {
	Runs    string `arg:"" optional:"" help:"Folder of run directories." default:"runs" placeholder:"RUNS"`
	Listen  string `help:"Address and port, for other machines too: 0.0.0.0:8080." placeholder:"ADDRESS"`
	Port    int    `help:"Port on this machine." default:"8080" range:"0,65535" without:"listen"`
	NoToken bool   `help:"Admit everybody on this machine: without the token that the printed address has." name:"no-token" without:"listen"`
}

func (c *serveCmd) Help() string {
	return `Opens a page on this machine that lists runs, starts them, and shows what happened: fabric,
time line, causes, packets. Works offline. The printed address has a token, without which nobody is
admitted: other users of the machine cannot start simulations in your name. Ctrl-C ends it; simulations
that the page started write what they have.

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
		Files: shipped.File, Schema: scenario.Schema()}
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
	l, err := net.Listen("tcp", address)
	if err != nil {
		return input.Fault(err)
	}
	suffix := ""
	if cfg.Token != "" {
		suffix = "?token=" + cfg.Token
	}
	fmt.Fprintf(e.stdout, "http://%s/%s\nruns in %s; Ctrl-C ends\n", l.Addr(), suffix, c.Runs)
	return serve(l, handler)
}

// serve answers until it is interrupted.
func serve(l net.Listener, handler *web.Server) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := handler.HTTP()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		handler.Close()
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err := s.Shutdown(end)
	handler.Close()
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
