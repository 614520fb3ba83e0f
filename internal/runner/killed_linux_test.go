package runner

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	simexec "railyard/internal/exec"
	"railyard/internal/long"
	"railyard/internal/result"

	"golang.org/x/sys/unix"
)

// victim starts TestKilled's run in a process of its own, which writes itself to dir whenever it has made
// progress. With stops it says so once and stops where it is.
func victim(t *testing.T, dir string, stops bool) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
	cmd.Env = append(os.Environ(), "RAILYARD_RUN="+dir)
	if stops {
		cmd.Env = append(cmd.Env, "RAILYARD_STOPS=1")
	}
	if _, err := cmd.StdinPipe(); err != nil { // ends with this process
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out)
}

const stopped = "written, and stopped"

// A run that is killed with SIGKILL leaves whole tables, marked incomplete.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("RAILYARD_RUN"); dir != "" { // the run itself
		r := inParts(t)
		if err := r.Reserve(dir, false); err != nil {
			t.Fatal(err)
		}
		r.often()
		r.Go(func(simexec.Progress) bool {
			if r.Written > 1 && os.Getenv("RAILYARD_STOPS") != "" {
				os.Stdout.WriteString(stopped + "\n")
				io.Copy(io.Discard, os.Stdin)
			}
			return true
		})
		return
	}
	dir := filepath.Join(t.TempDir(), "run")
	cmd, says := victim(t, dir, true)
	for says.Scan() && says.Text() != stopped {
	}
	if says.Text() != stopped {
		t.Fatalf("it ended: %v, %v", says.Err(), cmd.Wait())
	}
	cmd.Process.Kill()
	cmd.Wait()
	if s := summary(t, dir); s.Complete || s.StepTime == 0 {
		t.Errorf("%+v", s)
	}
	if ports, err := result.ReadTable[result.PortRow](dir, "ports"); err != nil || len(ports) == 0 {
		t.Errorf("%d ports, %v", len(ports), err)
	}
}

// changes reports what is made, written and renamed in a folder and in the hidden ones below it.
type changes struct {
	f    *os.File
	dirs map[int32]string
	left []byte // events that were read
}

func watch(t *testing.T, dir string) *changes {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	c := &changes{f: os.NewFile(uintptr(fd), "inotify"), dirs: map[int32]string{}}
	t.Cleanup(func() { c.f.Close() })
	c.add(dir)
	return c
}

func (c *changes) add(dir string) {
	if fd, err := c.f.SyscallConn(); err == nil {
		fd.Control(func(fd uintptr) {
			const all = unix.IN_CREATE | unix.IN_CLOSE_WRITE | unix.IN_MOVE | unix.IN_DELETE
			wd, err := unix.InotifyAddWatch(int(fd), dir, all)
			if err == nil { // else it is gone by now
				c.dirs[int32(wd)] = dir
			}
		})
	}
}

// next waits for a change, and reports false when the folder is watched no more.
func (c *changes) next() bool {
	if len(c.left) == 0 {
		c.left = make([]byte, 64<<10)
		n, err := c.f.Read(c.left)
		if err != nil {
			return false
		}
		c.left = c.left[:n]
	}
	u := binary.NativeEndian.Uint32
	wd, mask, end := int32(u(c.left)), u(c.left[4:]), unix.SizeofInotifyEvent+u(c.left[12:])
	name := strings.TrimRight(string(c.left[unix.SizeofInotifyEvent:end]), "\x00")
	c.left = c.left[end:]
	if mask&unix.IN_ISDIR != 0 && mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0 {
		c.add(filepath.Join(c.dirs[wd], name))
	}
	return true
}

// A run that writes itself all the time is killed at one change of its folders after the other: what is there
// is whole, and what is hidden is one folder, which the next run removes.
func TestKilledWriting(t *testing.T) {
	// Each writing makes about 50 changes. The first run is in its place at the 36th, the second at the 69th; then
	// the files of the one before are removed.
	kills := []int{1, 4, 6, 20, 34, 35, 36, 50, 67, 68, 69, 75, 88}
	if long.On() {
		for kills = nil; len(kills) < 200; {
			kills = append(kills, len(kills)+1)
		}
	}
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	for _, kill := range kills {
		c := watch(t, root)
		cmd, _ := victim(t, dir, false)
		ended := make(chan bool)
		go func() {
			cmd.Wait()
			c.f.Close()
			close(ended)
		}()
		for n := 0; n < kill && c.next(); n++ {
		}
		cmd.Process.Kill()
		<-ended
		if _, err := os.Stat(dir); err == nil {
			if s := summary(t, dir); s.StepTime == 0 {
				t.Errorf("kill %d: %+v", kill, s)
			}
			for _, name := range []string{"flows", "links", "ports", "critical"} {
				if _, err := result.TableRows(dir, name); err != nil {
					t.Errorf("kill %d: %s: %v", kill, name, err)
				}
			}
		} else if kill > 70 {
			t.Errorf("kill %d: nothing was written: %v", kill, err)
		}
		if left, _ := filepath.Glob(filepath.Join(root, ".*")); len(left) > 1 {
			t.Errorf("kill %d: left behind: %v", kill, left)
		}
		r := inParts(t)
		if err := r.Reserve(filepath.Join(root, "next"), false); err != nil {
			t.Fatal(err)
		}
		r.Release()
		if left, _ := filepath.Glob(filepath.Join(root, ".*")); len(left) > 0 {
			t.Errorf("kill %d: the next run left %v", kill, left)
		}
		os.RemoveAll(dir)
	}
}
