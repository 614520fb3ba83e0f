package jobscript

import (
	"strconv"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxElements bounds an array.
const maxElements = 4096

// array executes an assignment NAME=(...): values in order, or by key if the name is declared -A.
func (sh *shell) array(a *syntax.Assign, v expand.Variable) {
	if v.Kind == expand.Associative {
		sh.keyed(a, v)
		return
	}
	var list []string
	if a.Append {
		if list = v.List; v.Kind == expand.String {
			list = []string{v.Str}
		}
	}
	list = append([]string(nil), list...)
	for _, e := range a.Array.Elems {
		if w, ok := e.Index.(*syntax.Word); ok && e.Value != nil { // [3]=x
			if i, err := strconv.Atoi(sh.literal(w)); err == nil && i >= 0 && i < maxElements {
				list = at0(list, i)
				list[i] = sh.literal(e.Value)
				continue
			}
		}
		for _, f := range sh.fields([]*syntax.Word{e.Value}) {
			list = append(list, f.Text)
		}
	}
	v.Set, v.Kind, v.Str, v.List = true, expand.Indexed, "", list
	sh.vars[a.Name.Value] = v
}

// at0 makes a list long enough for an element.
func at0(list []string, i int) []string {
	for len(list) <= i {
		list = append(list, "")
	}
	return list
}

// keyed makes an assignment of values by key.
func (sh *shell) keyed(a *syntax.Assign, v expand.Variable) {
	m := map[string]string{}
	if a.Append {
		for k, s := range v.Map {
			m[k] = s
		}
	}
	for _, e := range a.Array.Elems {
		w, ok := e.Index.(*syntax.Word)
		if !ok || e.Value == nil || len(m) >= maxElements {
			sh.note(a.Pos(), "an element of an array is not read")
			continue
		}
		m[sh.literal(w)] = sh.literal(e.Value)
	}
	v.Set, v.Kind, v.Str, v.Map = true, expand.Associative, "", m
	sh.vars[a.Name.Value] = v
}

// element sets one element of an array: NAME[i]=.
func (sh *shell) element(a *syntax.Assign, v expand.Variable) {
	w, ok := a.Index.(*syntax.Word)
	if !ok {
		return
	}
	key := sh.literal(w)
	if v.Kind == expand.Associative && len(v.Map) < maxElements {
		m := map[string]string{}
		for k, s := range v.Map {
			m[k] = s
		}
		m[key] = sh.literal(a.Value)
		v.Map = m
		sh.vars[a.Name.Value] = v
		return
	}
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 || i > maxElements {
		sh.note(a.Pos(), "an element of an array is not read")
		return
	}
	list := at0(append([]string(nil), v.List...), i)
	list[i] = sh.literal(a.Value)
	v.Set, v.Kind, v.List = true, expand.Indexed, list
	sh.vars[a.Name.Value] = v
}
