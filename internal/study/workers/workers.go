// Package workers runs the trials of a study where flags select: in this process, on workers of a NATS server
// (jetstream), in an array of Slurm or a Job of Kubernetes (batch). Placement holds the flags, Keep opens the
// directory of a command's simulations, and Distribute sets the engine of a study.
package workers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"railyard/internal/field"
	"railyard/internal/study"
	"railyard/internal/study/batch"
	"railyard/internal/study/jetstream"
	"railyard/internal/study/sweep"
)

// Placement is the flags that select where the trials of a study are simulated.
type Placement struct {
	Listen    string `help:"Start a NATS server for railyard worker on this address" placeholder:"HOST:PORT" group:"Workers"`
	NATS      string `help:"NATS server with JetStream that railyard worker uses as well" name:"nats" placeholder:"URL" without:"listen" group:"Workers"`
	TokenFile string `help:"File with the token of the server (RAILYARD_NATS_TOKEN)" placeholder:"FILE" group:"Workers"`
	TLSCert   string `help:"Certificate of --listen for TLS" name:"tls-cert" placeholder:"FILE" with:"listen" group:"Workers"`
	TLSKey    string `help:"Key of --tls-cert" name:"tls-key" placeholder:"FILE" with:"tls-cert" group:"Workers"`
	TLSCA     string `help:"Certificates of authorities that --nats or --tls-cert is checked against" name:"tls-ca" placeholder:"FILE" group:"Workers"`
	Engine    string `help:"Where trials are simulated: local, slurm, kubernetes" enum:"local,slurm,kubernetes" default:"local" without:"listen" group:"Workers"`
	Parts     int    `help:"Tasks of the array, pods of the Job" default:"16" range:"1,100000" with:"engine" group:"Workers"`
	Sbatch    string `help:"Further options of sbatch" placeholder:"OPTIONS" with:"engine" group:"Workers"`
	Image     string `help:"Container image with railyard, for pods" placeholder:"IMAGE" with:"engine" group:"Workers"`
	Volume    string `help:"Volume with the study's directory, at the same path in pods; or --nats" placeholder:"CLAIM:PATH" without:"nats" group:"Workers"`
	Apply     bool   `help:"Create the Job by kubectl" with:"image" group:"Workers"`
	Remote    bool   `help:"Leave all trials to workers: none on this computer" with:"listen,nats" group:"Workers"`
}

// Stored refuses an engine without a study directory, which stores the engine's results.
func (c *Placement) Stored() error {
	const without = "has no effect without --study"
	switch {
	case c.Listen != "":
		return field.New("--listen", "%s", without)
	case c.NATS != "":
		return field.New("--nats", "%s", without)
	case c.Engine != "local" && c.Engine != "":
		return field.New("--engine", "%s %s", c.Engine, without)
	}
	return nil
}

// Say prints a message with a label: "note: " or "warning: ".
type Say func(label, text string)

// Unstored warns that a server does not store records.
func (s Say) Unstored(err error) {
	s("warning: ", fmt.Sprintf("%v; its trial is assigned to a worker again", err))
}

// Keep makes a pool store the simulations of a command in a directory, and pass them to the engine that the flags
// select. finish ends that.
func (c *Placement) Keep(ctx context.Context, print Say, pool *study.Pool, command, dir string, scenarios []string,
	force bool) (finish func(), err error) {
	s, err := sweep.NewSimulations(command, dir, scenarios, force)
	if err != nil {
		return nil, err
	}
	s.Pool, pool.Trials = pool, s
	end, err := c.Distribute(ctx, print, s.Study, pool.Workers)
	if err != nil {
		s.Abandon()
		return nil, err
	}
	return func() { end(); s.Abandon() }, nil
}

// Distribute passes the trials of a study to workers if the flags select that. This process is one of them, with
// jobs simulations in parallel (0: one per processor). finish ends that.
func (c *Placement) Distribute(ctx context.Context, print Say, s *sweep.Study, jobs int) (finish func(), err error) {
	say := func(words string) { print("note: ", words) }
	switch {
	case c.Engine == "slurm" && c.NATS != "":
		return nil, field.New("--engine", "slurm has no effect with --nats; accepted: one of them, or kubernetes with --nats")
	case c.Engine == "kubernetes":
		if err := c.kubernetes(s, say); err != nil {
			return nil, err
		}
	case c.Engine == "slurm":
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		s.Engine = &batch.Slurm{Folder: batch.Folder{Dir: filepath.Join(s.Dir, c.Engine)}, Program: self,
			Parts: c.Parts, Options: strings.Fields(c.Sbatch), Say: say}
	}
	if c.Listen == "" && c.NATS == "" {
		return func() {}, nil
	}
	token, err := jetstream.Token(c.TokenFile)
	if err != nil {
		return nil, err
	}
	access := jetstream.Access{URL: c.NATS, Token: token, CA: c.TLSCA}
	d := &jetstream.Driver{}
	finish = func() {}
	if c.Listen != "" {
		server, err := jetstream.Serve(jetstream.Listen{Address: c.Listen, Token: token, Cert: c.TLSCert, Key: c.TLSKey,
			Dir: s.Dir})
		if err != nil {
			return nil, err
		}
		access.URL, finish, d.Server = server.URL, server.Close, server
		say(fmt.Sprintf("workers: railyard worker --nats %s", access.URL))
	}
	d.Access, s.Engine = access, d
	if c.Remote {
		return finish, nil
	}
	own, cancel := context.WithCancel(ctx)
	w := &jetstream.Worker{Access: access, Pool: &study.Pool{Workers: jobs, Memory: s.Pool.Memory}}
	if c.Listen == "" { // the driver reports the errors of its own server
		w.Warn = print.Unstored
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		// The driver reports a server that cannot be reached.
		if err := w.Run(own); errors.As(err, new(*sweep.ErrVersion)) {
			print("warning: ", fmt.Sprintf("no trial is simulated here: %v", err))
		}
	})
	end := finish
	return func() { cancel(); ended.Wait(); end() }, nil
}

// kubernetes writes the Job of a study: of parts on a volume, or of workers of a NATS server.
func (c *Placement) kubernetes(s *sweep.Study, say func(string)) error {
	pods := batch.Pods{Image: c.Image, Parts: c.Parts}
	switch {
	case c.Image == "":
		return field.New("--image", "the image of pods is missing; accepted: --image IMAGE, which has railyard in its PATH")
	case c.NATS == "" && c.Volume == "":
		return field.New("--volume", "the volume of records is missing; accepted: --volume CLAIM:PATH, or --nats URL")
	case c.NATS != "":
		path, err := pods.WriteWorkers(s, c.NATS)
		if err != nil {
			return err
		}
		if !c.Apply {
			say("workers: kubectl apply -f " + path)
			return nil
		}
		return batch.Apply(path)
	}
	var err error
	if pods.Claim, pods.Mount, err = batch.ParseVolume(c.Volume); err != nil {
		return field.Under("--volume", err)
	}
	s.Engine = &batch.Kubernetes{Folder: batch.Folder{Dir: filepath.Join(s.Dir, c.Engine)}, Pods: pods, Apply: c.Apply,
		Say: say}
	return nil
}
