package trace

// Read reads files of one format, which is detected unless it is named.
func Read(format string, files ...File) (*Trace, error) {
	return Options{Format: format}.Read(files...)
}
