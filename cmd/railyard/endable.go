package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// announced is the time after which Ctrl-C is acknowledged if the running work has not ended.
const announced = 500 * time.Millisecond

// ending prints once, when ctx has ended, that the work in progress is ending.
func (e *env) ending(ctx context.Context) (say func()) {
	return func() {
		if ctx.Err() != nil && e.acknowledge != nil {
			e.acknowledge()
		}
	}
}

// endable returns a context that Ctrl-C ends, until it is released. The second Ctrl-C ends the process. Work that
// does not check the context, such as explaining a large run, continues. After half a second a message reports it.
func (e *env) endable() (ctx context.Context, release func()) {
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ctx, end := e.endedBy(sig)
	return ctx, func() { signal.Stop(sig); end() }
}

// endedBy is endable by signals of a channel.
func (e *env) endedBy(sig chan os.Signal) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(context.Background())
	released := make(chan struct{})
	say := sync.OnceFunc(func() {
		fmt.Fprintln(e.stderr, "interrupted: explaining and writing what is finished; Ctrl-C again ends immediately")
	})
	e.acknowledge = say
	go func() {
		select {
		case <-sig:
			signal.Stop(sig)
			cancel()
			select {
			case <-time.After(announced):
				say()
			case <-released:
			}
		case <-released:
		}
	}()
	return ctx, sync.OnceFunc(func() { cancel(); close(released) })
}
