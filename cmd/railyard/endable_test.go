package main

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lockedBuffer is a buffer that several goroutines may use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Ctrl-C is acknowledged once within a second, even if the running work ignores it, such as an explanation. It is
// not acknowledged if the command ends earlier.
func TestInterruptIsAcknowledged(t *testing.T) {
	for name, c := range map[string]struct {
		work func(say, release func())
		want int
	}{
		"busy":  {func(_, _ func()) { time.Sleep(time.Second) }, 1},
		"looks": {func(say, _ func()) { say(); say(); time.Sleep(time.Second) }, 1},
		"ends":  {func(_, release func()) { release(); time.Sleep(time.Second) }, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			out := &lockedBuffer{}
			e := &env{stdout: out, stderr: out}
			sig := make(chan os.Signal, 1)
			ctx, release := e.endedBy(sig)
			sig <- os.Interrupt
			<-ctx.Done()
			c.work(e.ending(ctx), release)
			release()
			if got := strings.Count(out.String(), "interrupted: "); got != c.want {
				t.Errorf("%s: said %d times, want %d", name, got, c.want)
			}
		})
	}
}
