package onto

import (
	"slices"
	"strings"

	"railyard/internal/swconf/cli"
)

// node is a line with the lines below it.
type node struct {
	text string // words with single blanks
	line int
	body []string // body of a banner or a script: the following lines, unchanged
	kids []*node
}

// tree parses a configuration as a device prints it: sections are indented. Typed configurations are not indented; only
// the switch knows their sections.
func tree(file string, text []byte) ([]*node, error) {
	text, err := cli.Text(file, text)
	if err != nil {
		return nil, err
	}
	lines, err := cli.Scan(file, text)
	if err != nil {
		return nil, err
	}
	root := &node{}
	stack, indents := []*node{root}, []int{-1}
	raw := strings.Split(string(text), "\n")
	behind := 0 // the last literal line
	for _, l := range lines {
		if l.Num <= behind {
			continue
		}
		if end := textEnd(raw, l); end > l.Num {
			for behind = l.Num; behind < end; behind++ {
				l.Body = append(l.Body, strings.TrimRight(raw[behind], "\r"))
			}
		}
		words := make([]string, len(l.Words))
		for i, w := range l.Words {
			words[i] = w.Text
		}
		n := &node{text: strings.Join(words, " "), line: l.Num, body: l.Body}
		if n.text == "end" || n.text == "exit" || strings.HasPrefix(n.text, "exit-") {
			continue
		}
		if l.Indent < 0 {
			return nil, &Refused{file, l.Num, "follows a prompt: --onto takes what the device prints (show running-config)"}
		}
		for len(stack) > 1 && indents[len(indents)-1] >= l.Indent {
			stack, indents = stack[:len(stack)-1], indents[:len(indents)-1]
		}
		top := stack[len(stack)-1]
		top.kids = append(top.kids, n)
		stack, indents = append(stack, n), append(indents, l.Indent)
	}
	if at := flat(root.kids); at != nil {
		return nil, &Refused{file, at.line, "is in no section (not indented): --onto takes what the device prints (show running-config)"}
	}
	return root.kids, nil
}

// textEnd returns the line that ends the literal blocks of a command, or its own line without any.
func textEnd(raw []string, l cli.Line) int {
	end := l.Num
	if strings.HasPrefix(raw[l.Num-1], "nv ") {
		return cli.Quoted(raw, l.Num-1, raw[l.Num-1], "nv ") + 1
	}
	for range l.Texts() {
		i := slices.IndexFunc(raw[end:], func(s string) bool { return strings.TrimSpace(s) == "EOF" })
		if i < 0 {
			break
		}
		end += i + 1
	}
	return end
}

// flat returns the first unindented line that belongs below the one before it, or nil.
func flat(nodes []*node) *node {
	for i, n := range nodes {
		if len(n.kids) > 0 {
			return nil
		}
		if i > 0 && begins(nodes[i-1].text, "interface") && slices.ContainsFunc([]string{"description", "mtu",
			"ip address", "switchport", "service-policy", "priority-flow-control", "speed", "shutdown",
			"channel-group"}, func(w string) bool { return begins(n.text, w) }) {
			return n
		}
	}
	return nil
}

// write returns the text of a tree, and the device's line of each of its lines.
func write(nodes []*node, step string) (text string, origin []int) {
	var b strings.Builder
	var put func([]*node, string)
	put = func(nodes []*node, indent string) {
		for _, n := range nodes {
			b.WriteString(indent + n.text + "\n")
			origin = append(origin, n.line)
			for i, l := range n.body {
				b.WriteString(l + "\n")
				origin = append(origin, n.line+1+i)
			}
			put(n.kids, indent+step)
		}
	}
	put(nodes, "")
	return b.String(), origin
}

// count returns the number of lines that a tree has.
func count(nodes []*node) (n int) {
	for _, x := range nodes {
		n += 1 + count(x.kids)
	}
	return n
}

// find returns the node of a line, or nil.
func find(nodes []*node, text string) *node {
	for _, n := range nodes {
		if n.text == text {
			return n
		}
	}
	return nil
}
