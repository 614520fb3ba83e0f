package jetstream

import (
	"context"
	"fmt"
	"strings"
	"syscall"
)

// disk is the log of a server in this process. A server that cannot write to its files answers no request, and reports
// it only in its log.
type disk struct {
	dir    string
	failed context.Context // ends with the first such message
	fail   context.CancelCauseFunc
}

func newDisk(dir string) *disk {
	d := &disk{dir: dir}
	d.failed, d.fail = context.WithCancelCause(context.Background())
	return d
}

// fault returns why the server cannot write; nil: it can.
func (d *disk) fault() error { return context.Cause(d.failed) }

// Errorf implements server.Logger. Most messages have their error as text.
func (d *disk) Errorf(format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO} {
		if strings.Contains(text, e.Error()) {
			d.fail(fmt.Errorf("%s: %w", d.dir, e))
		}
	}
}

func (d *disk) Warnf(format string, values ...any)  { d.Errorf(format, values...) }
func (d *disk) Fatalf(format string, values ...any) { d.Errorf(format, values...) }
func (d *disk) Noticef(string, ...any)              {}
func (d *disk) Debugf(string, ...any)               {}
func (d *disk) Tracef(string, ...any)               {}
