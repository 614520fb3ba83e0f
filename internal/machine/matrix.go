package machine

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// cell is a word of the matrix and its column in the line.
type cell struct {
	text string
	col  int
}

var (
	escapes = regexp.MustCompile("\x1b\\[[0-9;]*m") // nvidia-smi underlines its head
	gpuName = regexp.MustCompile(`^GPU\d+$`)
	bonded  = regexp.MustCompile(`^NV(\d+)$`)
	legend  = regexp.MustCompile(`^\s+(NIC\d+): (\S+)\s*$`)
)

// cells splits a line at its tabs, or at spaces if the tabs are lost.
func cells(line string) (all []cell) {
	tabs := strings.Contains(line, "\t")
	for i := 0; i < len(line); {
		n := len(line) - i
		if tabs {
			if at := strings.IndexByte(line[i:], '\t'); at >= 0 {
				n = at
			}
		} else {
			for i < len(line) && line[i] == ' ' {
				i++
			}
			n = len(line) - i
			if at := strings.IndexByte(line[i:], ' '); at >= 0 {
				n = at
			}
		}
		word := line[i : i+n]
		if text := strings.TrimSpace(word); text != "" {
			all = append(all, cell{text, i + strings.Index(word, text) + 1})
		}
		i += n + 1
	}
	return all
}

// matrix is the output of nvidia-smi topo -m.
type matrix struct {
	file  string
	names []string          // of columns
	rows  map[string][]cell // rows by name, without the name
	line  map[string]int    // line of each row by name
	card  map[string]string // NIC0: mlx5_0
}

func (m *matrix) fail(line, col int, format string, args ...any) error {
	return &field.Error{File: m.file, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// readMatrix reads nvidia-smi topo -m. Text before and after the matrix is ignored.
func readMatrix(file string, text []byte) (*Server, error) {
	m := &matrix{file: file, rows: map[string][]cell{}, line: map[string]int{}, card: map[string]string{}}
	over := false
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimRight(escapes.ReplaceAllString(line, ""), " \r\t")
		if x := legend.FindStringSubmatch(line); x != nil {
			m.card[x[1]] = x[2]
			continue
		}
		all := cells(line)
		switch {
		case len(all) == 0 || over:
			over = over || len(m.rows) > 0
		case m.names == nil:
			if gpuName.MatchString(all[0].text) && (len(all) == 1 || all[1].text != "X") {
				if err := m.head(i+1, all); err != nil {
					return nil, err
				}
			}
		default:
			if err := m.row(i+1, all); err != nil {
				return nil, err
			}
		}
	}
	if m.names == nil {
		return nil, m.fail(0, 0, "has no line that begins with GPU0, as the matrix of nvidia-smi topo -m, and is not XML")
	}
	return m.server()
}

// head reads the names of the columns, up to CPU Affinity.
func (m *matrix) head(line int, all []cell) error {
	gpus := 0
	for _, c := range all {
		if c.text == "CPU" || c.text == "CPU Affinity" || c.text == "NUMA Affinity" || c.text == "NUMA" {
			break
		}
		if slices.Contains(m.names, c.text) {
			return m.fail(line, c.col, "%s is repeated", field.Quote(c.text))
		}
		if m.names = append(m.names, c.text); gpuName.MatchString(c.text) {
			gpus++
		}
		if gpus > MaxGPUs || len(m.names)-gpus > MaxNICs {
			return m.fail(line, c.col, "has more than %d GPUs or %d NICs", MaxGPUs, MaxNICs)
		}
	}
	return nil
}

// row reads a line of the matrix.
func (m *matrix) row(line int, all []cell) error {
	name := all[0].text
	if !slices.Contains(m.names, name) {
		return m.fail(line, all[0].col, "%s is not a column of the matrix; they are %s", field.Quote(name),
			strings.Join(m.names, ", "))
	}
	if m.rows[name] != nil {
		return m.fail(line, all[0].col, "%s has a row already, in line %d", name, m.line[name])
	}
	all = all[1:]
	if len(all) < len(m.names) {
		return m.fail(line, 1, "the row of %s has %s, the matrix %s", name, unit.Plural(len(all), "entry"),
			unit.Plural(len(m.names), "column"))
	}
	for i, c := range all[:len(m.names)] {
		_, near := nearOf(c.text)
		self := c.text == "X"
		switch {
		case self != (m.names[i] == name):
			return m.fail(line, c.col, "%s to %s is %s; X marks the same GPU", name, m.names[i],
				field.Quote(c.text))
		case !self && !near && !bonded.MatchString(c.text):
			e := field.Choice("", c.text, []string{"X", "PIX", "PXB", "PHB", "NODE", "SYS", "NV12"},
				"%s to %s is %s", name, m.names[i], field.Quote(c.text))
			e.File, e.Line, e.Col = m.file, line, c.col
			return e
		}
	}
	m.rows[name], m.line[name] = all[:len(m.names)], line
	return nil
}

func nearOf(text string) (Near, bool) {
	if text == "SOC" { // name of SYS in older drivers
		return SYS, true
	}
	at := slices.Index(nearNames, text)
	return Near(max(at, 0)), at > 0
}

// server makes a server of the matrix.
func (m *matrix) server() (*Server, error) {
	s := &Server{Format: "nvidia-smi topo -m"}
	var gpus, nics []int // columns
	var cards []NIC
	for i, name := range m.names {
		if gpuName.MatchString(name) {
			gpus, s.GPUs = append(gpus, i), append(s.GPUs, name)
			if m.rows[name] == nil {
				return nil, m.fail(0, 0, "%s has a column and no row", name)
			}
			continue
		}
		nics = append(nics, i)
		if card := m.card[name]; card != "" {
			name = card
		}
		cards = append(cards, NIC{Name: name})
	}
	if err := m.symmetric(); err != nil {
		return nil, err
	}
	near := make([][]Near, len(gpus))
	s.links = make([][]int, len(gpus))
	for g, name := range s.GPUs {
		row := m.rows[name]
		for _, n := range nics {
			d, ok := nearOf(row[n].text)
			if !ok {
				return nil, m.fail(m.line[name], row[n].col, "%s to %s is %s, which is between GPUs", name,
					m.names[n], row[n].text)
			}
			near[g] = append(near[g], d)
		}
		s.links[g] = make([]int, len(gpus))
		for k, col := range gpus {
			if x := bonded.FindStringSubmatch(row[col].text); x != nil {
				n, err := strconv.Atoi(x[1])
				if err != nil || n < 1 || n > 1024 {
					return nil, m.fail(m.line[name], row[col].col, "%s is not a number of NVLinks", row[col].text)
				}
				s.links[g][k] = n
			}
		}
	}
	if len(cards) == 0 {
		return nil, m.fail(0, 0, "has no NIC: run nvidia-smi topo -m where the NICs' driver is loaded")
	}
	s.through = s.alike()
	s.settle(cards, near)
	return s, nil
}

// symmetric refuses a matrix whose two halves differ.
func (m *matrix) symmetric() error {
	for i, a := range m.names {
		for k, b := range m.names[:i] {
			x, y := m.rows[a], m.rows[b]
			if x != nil && y != nil && x[k].text != y[i].text {
				return m.fail(m.line[a], x[k].col, "%s to %s is %s, and %s in line %d", a, b, x[k].text,
					y[i].text, m.line[b])
			}
		}
	}
	return nil
}

// alike reports whether every GPU has the same number of NVLinks to every other, more than direct links between
// more than three GPUs permit. They then lead to a switch, as the 12 of an A100 and the 18 of an H100 do.
func (s *Server) alike() bool {
	if len(s.GPUs) < 3 {
		return false
	}
	n := s.links[0][1]
	for g, row := range s.links {
		for k, links := range row {
			if g != k && links != n {
				return false
			}
		}
	}
	return n*(len(s.GPUs)-1) > maxLinks
}

// maxLinks is the most NVLinks that a GPU has: 18 of an H100 and a B200.
const maxLinks = 18
