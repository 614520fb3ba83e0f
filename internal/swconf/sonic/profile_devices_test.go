package sonic

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"railyard/internal/swconf/cli"
)

// folder finds a device's profile in sonic-buildimage's layout: platform.json next to hwsku's folder, or the list
// in it.
func folder(t *testing.T, dir string) (list, full *Profile, errs []error) {
	t.Helper()
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			t.Fatal(err)
		}
		return b
	}
	var err error
	if b := read(filepath.Join(dir, "port_config.ini")); b != nil {
		if list, err = PortConfig(filepath.Join(dir, "port_config.ini"), b); err != nil {
			errs = append(errs, err)
		}
	}
	sku, all := read(filepath.Join(dir, "hwsku.json")), read(filepath.Join(dir, "..", "platform.json"))
	if sku != nil && all != nil && strings.Contains(string(all), `"interfaces": {`) {
		file := filepath.Join(dir, "..", "platform.json")
		if full, err = Platform(file, all, filepath.Join(dir, "hwsku.json"), sku); err != nil {
			errs = append(errs, err)
		}
	}
	return list, full, errs
}

// same compares two profiles: the device's ports, and all their breakouts.
func same(a, b *Profile, modes bool) error {
	if len(a.Cages) != len(b.Cages) {
		return fmt.Errorf("%d jacks and %d", len(a.Cages), len(b.Cages))
	}
	for i := range a.Cages {
		x, y := &a.Cages[i], &b.Cages[i]
		if modes && (x.Name != y.Name || x.Index != y.Index || len(x.Modes) != len(y.Modes)) {
			return fmt.Errorf("jack %d: %s, %d, %d modes, and %s, %d, %d", i+1, x.Name, x.Index, len(x.Modes),
				y.Name, y.Index, len(y.Modes))
		}
		for k := range x.Modes {
			if k > 0 && !modes {
				break
			}
			m, n := &x.Modes[k], &y.Modes[k]
			if modes && m.Text != n.Text || len(m.Ports) != len(n.Ports) {
				return fmt.Errorf("jack %d: mode %s and %s", i+1, m.Text, n.Text)
			}
			for j := range m.Ports {
				p, q := m.Ports[j], n.Ports[j]
				if p.Name != q.Name || p.Alias != q.Alias || numbers(p.Lanes) != numbers(q.Lanes) ||
					p.Index != q.Index || modes && (p.Speed != q.Speed || p.FEC != q.FEC) {
					return fmt.Errorf("%s: %+v and %+v", m.Text, p, q)
				}
			}
		}
	}
	return nil
}

// Every list of ports of sonic-buildimage, if RAILYARD_SONIC_DEVICE names its folder device, is parsed or rejected
// with a position. The built-in devices equal those of the files, lane by lane.
func TestSonicBuildimage(t *testing.T) {
	root := os.Getenv("RAILYARD_SONIC_DEVICE")
	if root == "" {
		t.Skip("RAILYARD_SONIC_DEVICE names no folder with the devices of sonic-buildimage")
	}
	dirs, _ := filepath.Glob(filepath.Join(root, "*", "*", "*"))
	lists, platforms, refused, compared, differ := 0, 0, 0, 0, 0
	for _, dir := range dirs {
		list, full, errs := folder(t, dir)
		for _, err := range errs {
			refused++
			if e := new(cli.SyntaxError); !errors.As(err, &e) || e.Line == 0 {
				t.Errorf("no place: %v", err)
			}
			t.Logf("refused: %s", strings.TrimPrefix(err.Error(), root))
		}
		if list != nil {
			lists++
		}
		if full != nil {
			platforms++
		}
		if list != nil && full != nil {
			compared++
			if err := same(list, full, false); err != nil {
				differ++
				t.Logf("%s: port_config.ini and platform.json: %v", strings.TrimPrefix(dir, root), err)
			}
		}
		mine := Known(filepath.Base(dir))
		if mine == nil || mine.Platform != filepath.Base(filepath.Dir(dir)) {
			continue
		}
		real, modes := full, true
		if real == nil {
			real, modes = list, false
		}
		if err := same(real, mine, modes); err != nil {
			t.Errorf("%s: the file and what is built in: %v", filepath.Base(dir), err)
		} else {
			t.Logf("%s: built in as in the files, %d ports", mine.HwSKU, len(mine.now()))
		}
	}
	t.Logf("%d port_config.ini and %d platform.json with hwsku.json read, %d refused; of %d that have both "+
		"%d differ",
		lists, platforms, refused, compared, differ)
	if lists < 20 || platforms < 20 {
		t.Errorf("%d lists and %d platforms are too few", lists, platforms)
	}
}
