package input

import "errors"

// fault marks an error as the input's fault.
type fault struct{ error }

func (f *fault) Unwrap() error { return f.error }

// Fault marks an error as the fault of what the user gave: a file, a flag, a scenario. It returns nil for nil.
func Fault(err error) error {
	if err == nil {
		return nil
	}
	return &fault{err}
}

// IsFault reports whether an error is marked by Fault.
func IsFault(err error) bool {
	var f *fault
	return errors.As(err, &f)
}
