//go:build !linux

package lab

// Tap needs Linux's rtnetlink, as a lab does.
type Tap struct{}

// Tap refuses.
func (*State) Tap(...string) (*Tap, error) { return nil, ready() }

// Read does nothing.
func (*Tap) Read(_, _ []int64) error { return nil }

// Cut does nothing.
func (*Tap) Cut(int) error { return nil }

// Close does nothing.
func (*Tap) Close() {}
