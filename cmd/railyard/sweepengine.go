package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"railyard/internal/field"
	"railyard/internal/report"
	"railyard/internal/runner"
	"railyard/internal/study"
	"railyard/internal/study/batch"
	"railyard/internal/study/jetstream"
	"railyard/internal/study/sweep"
)

// distribute leaves the trials of a study to workers, of which this process is one, where flags say so. finish ends
// that.
func (c *sweepRunCmd) distribute(ctx context.Context, e *env, s *sweep.Study) (finish func(), err error) {
	say := func(words string) { report.Labelled(e.stderr, "note: ", words) }
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
	finish = func() {}
	if c.Listen != "" {
		server, err := jetstream.Serve(jetstream.Listen{Address: c.Listen, Token: token, Cert: c.TLSCert, Key: c.TLSKey,
			Dir: s.Dir})
		if err != nil {
			return nil, err
		}
		access.URL, finish = server.URL, server.Close
		say(fmt.Sprintf("workers: railyard worker --nats %s", access.URL))
	}
	s.Engine = &jetstream.Driver{Access: access}
	if c.Remote {
		return finish, nil
	}
	own, cancel := context.WithCancel(ctx)
	w := &jetstream.Worker{Access: access, Pool: &study.Pool{Workers: c.Jobs, Memory: s.Pool.Memory}}
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := w.Run(own); err != nil && !errors.Is(err, runner.ErrInterrupted) {
			report.Labelled(e.stderr, "warning: ", fmt.Sprintf("no trial is simulated here: %v", err))
		}
	})
	end := finish
	return func() { cancel(); ended.Wait(); end() }, nil
}

// kubernetes writes the Job of a study: of parts on a volume, or of workers of a NATS server.
func (c *sweepRunCmd) kubernetes(s *sweep.Study, say func(string)) error {
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
