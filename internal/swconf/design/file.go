package design

// File is one file of a rendered fabric, its path relative to the output.
type File struct {
	Path string
	Text string
}
