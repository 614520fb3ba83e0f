package scenario

import (
	"reflect"

	"railyard/internal/field"
)

// Read fills a struct from YAML that is not a scenario, by the same rules: unknown keys, duplicate keys and values
// of a wrong kind are errors with their positions. placed adds the positions to errors that are found later.
func Read(name string, text []byte, to any) (placed func(error) error, err error) {
	d := &Document{b: binder{file: name, where: map[string]place{}}}
	root, err := d.tree(name, text)
	if err != nil {
		return nil, err
	}
	d.b.bind(root, reflect.ValueOf(to).Elem(), "", "")
	return d.locateAll, d.b.faults.Err()
}

// locateAll is placed without a scenario's names.
func (d *Document) locateAll(err error) error {
	for _, e := range field.All(err) {
		if e.File == "" {
			d.locate(e)
		}
	}
	return err
}
