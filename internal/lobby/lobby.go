package lobby

import (
	"bufio"
	"errors"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"railyard/verbs"
)

// Most is the number of connections that may wait: well below the files that a process may have open where that is
// 256. The one that has waited longest makes room.
const Most = 64

// Guest is a connection that has introduced itself. Further input is read from In, which may already contain some
// of it.
type Guest[T any] struct {
	net.Conn
	In  *bufio.Reader
	Say T
}

// lobby holds the connections that have not sent their first message, oldest first.
type lobby struct {
	mu      sync.Mutex
	waiting []net.Conn
}

// Serve accepts connections until the listener closes, and passes each that has sent its first message within the
// patience to a handler, in a goroutine of its own. It returns the reason for its end, after all waiting
// connections are closed.
func Serve[T any](l net.Listener, patience time.Duration, welcome func(*Guest[T])) error {
	var b lobby
	var wg sync.WaitGroup
	defer wg.Wait()
	defer b.empty()
	for {
		c, err := l.Accept()
		if err != nil {
			switch {
			case among(err, full):
				b.shed(0)
			case !among(err, passing):
				return err
			}
			time.Sleep(10 * time.Millisecond)
			continue
		}
		b.enter(c)
		wg.Go(func() {
			g := &Guest[T]{Conn: c, In: bufio.NewReader(c)}
			err := c.SetDeadline(time.Now().Add(patience))
			if err == nil {
				err = verbs.ReadLine(g.In, &g.Say)
			}
			if !b.leave(c) || err != nil {
				c.Close() // a connection of another program
				return
			}
			if c.SetDeadline(time.Time{}) == nil {
				welcome(g)
			}
		})
	}
}

// Errors of Accept that do not end the service: full where a connection that waits can make room by
// its file or memory, passing where others cause them.
var (
	full    = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM}
	passing = []error{syscall.ECONNABORTED}
)

func among(err error, of []error) bool {
	return slices.ContainsFunc(of, func(e error) bool { return errors.Is(err, e) })
}

func (b *lobby) enter(c net.Conn) {
	b.shed(Most - 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, c)
}

// shed closes the connections that have waited longest until at most a number of them are left, or one of them if
// the limit is reached.
func (b *lobby) shed(most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := 0; len(b.waiting) > most && (most > 0 || i == 0); i++ {
		b.waiting[0].Close()
		b.waiting = append(b.waiting[:0], b.waiting[1:]...)
	}
}

// leave reports whether the connection was still waiting.
func (b *lobby) leave(c net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, w := range b.waiting {
		if w == c {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			return true
		}
	}
	return false
}

func (b *lobby) empty() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.waiting {
		c.Close()
	}
	b.waiting = nil
}
