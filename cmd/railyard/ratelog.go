package main

import (
	"bufio"
	"fmt"
	"os"
	"sync"

	"railyard/unit"
)

// rateLog writes each change of a queue pair's rate as a line of CSV.
type rateLog struct {
	mu sync.Mutex
	f  *os.File
	w  *bufio.Writer
	n  int
}

// maxRateLines bounds the file: 55 us apart they last for minutes.
const maxRateLines = 10_000_000

func newRateLog(path string) (*rateLog, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("--rate-log: %w", err)
	}
	l := &rateLog{f: f, w: bufio.NewWriter(f)}
	fmt.Fprintln(l.w, "seconds,qp,gbps")
	return l, nil
}

func (l *rateLog) change(qpn uint32, now unit.Time, r unit.Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n++; l.n <= maxRateLines {
		fmt.Fprintf(l.w, "%.6f,%#x,%.4f\n", now.Seconds(), qpn, float64(r)/1e9)
	}
}

func (l *rateLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w.Flush()
	l.f.Close()
}
