package slurm

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
)

// form is a file format of clusters.
type form struct {
	name  string
	looks *regexp.Regexp
	read  func(c *Cluster, file, text string) error
}

// forms in the order of detection.
var forms = []form{
	{"topology.conf, scontrol show topology", regexp.MustCompile(`(?im)^\s*SwitchName=`), (*Cluster).topology},
	{"scontrol show node", regexp.MustCompile(`(?m)^NodeName=\S+ (Arch|CoresPerSocket)=|^NodeName=\S+\s*$`),
		(*Cluster).shown},
	{"slurm.conf", regexp.MustCompile(`(?im)^\s*(NodeName|ClusterName|PartitionName|NodeSet)=`), (*Cluster).conf},
	{"sinfo", regexp.MustCompile(`(?m)^.*\bNODELIST\b`), (*Cluster).sinfo},
}

// blocks are lines of topology/block.
var blocks = regexp.MustCompile(`(?im)^\s*BlockName=`)

// Read adds a file to a cluster; its kind is detected.
func (c *Cluster) Read(file string, text []byte) error {
	s := string(text)
	for _, f := range forms {
		if f.looks.MatchString(s[:min(len(s), 1<<20)]) {
			return f.read(c, file, s)
		}
	}
	if at := blocks.FindStringIndex(s[:min(len(s), 1<<20)]); at != nil {
		return Place{File: file, Line: 1 + strings.Count(s[:at[1]], "\n"), Col: 1}.Fail("BlockName",
			"blocks of nodes (topology/block, Slurm 23.11 and later) are not read; accepted: SwitchName lines (topology/tree)")
	}
	return Place{File: file}.Fail("", "contains no cluster; accepted: slurm.conf, topology.conf, what scontrol show node, scontrol show topology and sinfo print")
}

// topology parses topology.conf, and scontrol's output of it.
func (c *Cluster) topology(file, text string) error {
	all, err := lines(file, text, false)
	if err != nil {
		return err
	}
	for i := range all {
		l := &all[i]
		name, ok := l.get("SwitchName")
		if !ok {
			c.Notes = append(c.Notes, Note{l.at, "a line without SwitchName is left out"})
			continue
		}
		s := Switch{Name: name, At: l.at}
		for _, part := range []struct {
			key string
			to  *[]string
		}{{"Nodes", &s.Nodes}, {"Switches", &s.Switches}} {
			v, _ := l.get(part.key)
			if v == "(null)" {
				continue
			}
			if *part.to, err = Hosts(v); err != nil {
				return l.at.Fail(part.key, "%v", err)
			}
		}
		if len(s.Switches) > 0 {
			s.Nodes = nil // nodes below it, in scontrol's output
		}
		if slices.ContainsFunc(c.Switches, func(o Switch) bool { return o.Name == name }) {
			return l.at.Fail("SwitchName", "switch %s is repeated", name)
		}
		c.Switches = append(c.Switches, s)
	}
	return nil
}

// maxIncluded bounds how many files slurm.conf includes, which may include others.
const maxIncluded = 64

// partitionLine is a line of a partition with its defaults: the nodes may follow it.
type partitionLine struct{ line, defaults line }

// conf is slurm.conf while it is read.
type conf struct {
	*Cluster
	nodes, parts line // DEFAULT
	partitions   []partitionLine
	included     int
}

// conf parses the lines of slurm.conf about resources, and the files that it includes.
func (c *Cluster) conf(file, text string) error {
	x := &conf{Cluster: c}
	if err := x.lines(file, text); err != nil {
		return err
	}
	for i := range x.partitions {
		if err := c.partition(&x.partitions[i].line, &x.partitions[i].defaults); err != nil {
			return err
		}
	}
	return nil
}

// lines parses the lines of one file.
func (c *conf) lines(file, text string) error {
	all, err := lines(file, text, false)
	if err != nil {
		return err
	}
	for i := range all {
		l := &all[i]
		switch name, kind := l.vals[0], strings.ToLower(l.keys[0]); {
		case kind == "nodename" && strings.EqualFold(name, "DEFAULT"):
			c.nodes = *l
		case kind == "nodename":
			err = c.confNode(l, &c.nodes)
		case kind == "partitionname" && strings.EqualFold(name, "DEFAULT"):
			c.parts = *l
		case kind == "partitionname":
			c.partitions = append(c.partitions, partitionLine{*l, c.parts})
		case kind == "selecttype":
			c.Whole = strings.EqualFold(name, "select/linear")
		case kind == "include" && c.included == maxIncluded:
			err = l.at.Fail("Include", "more than %d files are included, or one another", maxIncluded)
		case kind == "include":
			c.included++
			err = c.include(l, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// include reads a file at the position of its name, as Slurm does.
func (c *conf) include(l *line, name string) error {
	b, err := []byte(nil), errors.New("no file is looked for")
	if c.Open != nil {
		b, err = c.Open(name)
	}
	if err != nil {
		c.Notes = append(c.Notes, Note{l.at, "the file that is included, " + field.Quote(name) +
			", is not in the folder of slurm.conf: its content is unknown"})
		return nil
	}
	return c.lines(path.Base(name), string(b))
}

// or returns a key's value in a line, or in the defaults.
func (l *line) or(defaults *line, key string) string {
	if v, ok := l.get(key); ok {
		return v
	}
	v, _ := defaults.get(key)
	return v
}

// count parses a number, 0 for none.
func (l *line) count(defaults *line, key string) (int, error) {
	v := l.or(defaults, key)
	if v == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 1<<20 {
		return 0, l.at.Fail(key, "found %s, expected a whole number", field.Quote(v))
	}
	return n, nil
}

// confNode takes a line of nodes.
func (c *Cluster) confNode(l, defaults *line) error {
	names, err := Hosts(l.vals[0])
	if err != nil {
		return l.at.Fail("NodeName", "%v", err)
	}
	n := Node{At: l.at, Features: split(strings.ReplaceAll(l.or(defaults, "Feature")+l.or(defaults,
		"Features"), "&", ","))}
	if n.CPUs, err = l.count(defaults, "CPUs"); err != nil {
		return err
	}
	if n.CPUs == 0 {
		cores := 1
		for _, key := range []string{"Boards", "Sockets", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore"} {
			k, err := l.count(defaults, key)
			if err != nil {
				return err
			}
			cores = min(cores*max(1, k), 1<<20)
		}
		n.CPUs = cores
	}
	n.GPUs, n.GPUType = generic(l.or(defaults, "Gres"))
	n.Down, n.Busy = state(l.or(defaults, "State"))
	for _, n.Name = range names {
		c.add(n)
	}
	return nil
}

// partition takes a line of a partition.
func (c *Cluster) partition(l, defaults *line) error {
	name := l.vals[0]
	if v := l.or(defaults, "OverSubscribe") + l.or(defaults, "Shared"); strings.HasPrefix(
		strings.ToUpper(v), "EXCLUSIVE") {
		c.Exclusive = append(c.Exclusive, name)
	}
	if strings.EqualFold(l.or(defaults, "Default"), "YES") {
		c.Default = name
	}
	v := l.or(defaults, "Nodes")
	if strings.EqualFold(v, "ALL") {
		for i := range c.Nodes {
			c.Nodes[i].Partitions = append(c.Nodes[i].Partitions, name)
		}
		return nil
	}
	names, err := Hosts(v)
	if err != nil {
		return l.at.Fail("Nodes", "%v", err)
	}
	for _, n := range names {
		x, ok := c.Node(n)
		if !ok {
			return l.at.Fail("Nodes", "partition %s has node %s, which no line describes", name, n)
		}
		x.Partitions = append(x.Partitions, name)
	}
	return nil
}

// shown reads what scontrol show node prints.
func (c *Cluster) shown(file, text string) error {
	all, err := lines(file, text, true)
	if err != nil {
		return err
	}
	var none line
	for i := range all {
		l := &all[i]
		name, ok := l.get("NodeName")
		if !ok {
			continue
		}
		n := Node{Name: name, At: l.at, Partitions: split(l.or(&none, "Partitions")),
			Features: split(l.or(&none, "ActiveFeatures"))}
		if n.CPUs, err = l.count(&none, "CPUTot"); err != nil {
			return err
		}
		n.GPUs, n.GPUType = generic(l.or(&none, "Gres"))
		word, _, _ := strings.Cut(l.or(&none, "State"), " ")
		n.Down, n.Busy = state(word)
		c.add(n)
	}
	return nil
}

// sinfo reads a table of sinfo's, whose columns its header names: nodes at least.
func (c *Cluster) sinfo(file, text string) error {
	if len(text) > maxText {
		return Place{File: file}.Fail("", "is longer than the %d MiB that are read", maxText>>20)
	}
	var head []string
	for i, s := range strings.Split(text, "\n") {
		at := Place{file, i + 1, 1}
		words := strings.Fields(strings.ReplaceAll(s, "|", " "))
		if slices.Contains(words, "NODELIST") {
			head = words
			continue
		}
		if head == nil || len(words) == 0 {
			continue // a date, a title
		}
		col := func(names ...string) string {
			for _, n := range names {
				if i := slices.Index(head, n); i >= 0 && i < len(words) {
					return words[i]
				}
			}
			return ""
		}
		names, err := Hosts(col("NODELIST"))
		if err != nil {
			return at.Fail("NODELIST", "%v", err)
		}
		n := Node{At: at, Features: split(col("AVAIL_FEATURES", "AVAIL_FE", "ACTIVE_FEATURES"))}
		if p, isDefault := strings.CutSuffix(col("PARTITION"), "*"); p != "" {
			n.Partitions = []string{p}
			if isDefault {
				c.Default = p
			}
		}
		n.GPUs, n.GPUType = generic(col("GRES"))
		cpus, _, _ := strings.Cut(strings.TrimRight(col("CPUS"), "+"), "/") // a+ is the least of several
		n.CPUs, _ = strconv.Atoi(cpus)
		n.CPUs = max(0, min(n.CPUs, 1<<20))
		n.Down, n.Busy = state(col("STATE"))
		for _, n.Name = range names {
			c.add(n)
		}
	}
	return nil
}
