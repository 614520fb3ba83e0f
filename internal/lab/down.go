package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Down removes a lab: daemons, namespaces with everything in them, state.
func Down(ctx context.Context, name string) (*State, error) {
	if err := ready("ip"); err != nil {
		return nil, err
	}
	s, err := Load(name)
	if err != nil {
		if empty := (&State{Name: name}); nameForm.MatchString(name) && !exists(empty.file()) &&
			os.RemoveAll(empty.dir()+"/state.json.new") == nil && os.Remove(empty.dir()) == nil {
			return empty, nil // lab up ended before it wrote its state
		}
		return nil, err
	}
	return s, s.remove(ctx)
}

// remove deletes the objects recorded as created, and nothing else.
func (s *State) remove(ctx context.Context) error {
	var problems []error
	have, err := namespaces(ctx)
	if err != nil {
		return err
	}
	// Processes that still run in it are stopped first, all together: daemons, ranks, captures.
	var pids []string
	for _, ns := range s.Made {
		if !have[ns] {
			continue // the crash happened before it was made
		}
		if out, err := command(ctx, "ip", "netns", "pids", ns); err == nil {
			pids = append(pids, strings.Fields(string(out))...)
		}
	}
	terminate(pids)
	for _, ns := range s.Made {
		if !have[ns] {
			continue
		}
		if _, err := command(ctx, "ip", "netns", "delete", ns); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if !strings.HasPrefix(filepath.Clean(s.dir()), root+"/") {
		return errors.New("the lab's folder is not where labs live")
	}
	return os.RemoveAll(s.dir())
}

// terminate ends processes, and kills those that ignore the signal.
func terminate(pids []string) {
	alive := map[int]bool{}
	for _, p := range pids {
		if n, err := strconv.Atoi(p); err == nil && n > 1 {
			alive[n] = true
			_ = syscall.Kill(n, syscall.SIGTERM)
		}
	}
	for range 20 {
		for p := range alive {
			if ended(p) {
				delete(alive, p)
			}
		}
		if len(alive) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	for p := range alive {
		_ = syscall.Kill(p, syscall.SIGKILL)
	}
}

// ended reports whether a process has ended, also before its parent has waited for it (proc(5), stat).
func ended(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(b), ") ")
	return err == nil && (strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X"))
}
