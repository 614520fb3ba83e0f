package importing

import (
	"os"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/trace"
)

// takeSettings extracts a file of settings, HPCC's config.txt, from the imported ones: its scenario keys follow the
// keys of the other files, its report becomes notes.
func (c *reader) takeSettings() error {
	var rest []string
	for _, path := range c.Files {
		if st, err := os.Stat(path); err != nil || st.IsDir() || c.Format != "" {
			rest = append(rest, path)
			continue
		}
		text, err := beginning(path)
		if err != nil {
			return input.Fault(err)
		}
		if !trace.IsSettings(text) {
			rest = append(rest, path)
			continue
		}
		if c.settings != "" {
			return field.New("FILE", "%s is a second file of settings; pass one", path)
		}
		if text, err = input.Text(path, 1<<20); err != nil {
			return input.Fault(err)
		}
		said, what, err := trace.Settings(trace.File{Name: path, Text: text})
		if err != nil {
			return input.Fault(err)
		}
		c.settings = said
		for _, part := range []struct {
			name string
			all  []trace.Count
		}{{"mapped", what.Mapped}, {"assumed", what.Guessed}, {"left out", what.Left}} {
			for _, x := range part.all {
				c.notes = append(c.notes, part.name+": "+x.Words())
			}
		}
	}
	if c.settings != "" && len(rest) == 0 {
		return field.New("FILE", "%s contains settings of a network; pass cabling and traffic too, such as topology.txt and flow.txt", c.Files[0])
	}
	c.Files = rest
	return nil
}
