package result

import (
	"strings"
	"testing"
)

// In JSON an empty list is [], at any depth, and an omitted field stays omitted.
func TestListsInJSON(t *testing.T) {
	type leaf struct {
		List []int `json:"list"`
	}
	v := struct {
		Rows  []LinkRow       `json:"rows"`
		Leaf  *leaf           `json:"leaf"`
		None  *leaf           `json:"none"`
		Map   map[string]leaf `json:"map"`
		Any   any             `json:"any"`
		Kept  []LinkRow       `json:"kept"`
		inner []int
	}{Leaf: &leaf{}, Map: map[string]leaf{"a": {}}, Any: []leaf{{}}, Kept: []LinkRow{{Port: 7}}, inner: nil}
	var b strings.Builder
	err := WriteJSON(&b, v)
	const want = `{"rows":[],"leaf":{"list":[]},"none":null,"map":{"a":{"list":[]}},"any":[{"list":[]}],` +
		`"kept":[{"start_ps":0,"length_ps":0,"port":7,` +
		`"wire_bytes":0,"queued_bytes":0,"paused_ps":0,"ecn_marks":0,"queue_peak_bytes":0,"drops":0}]}`
	if err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
	b.Reset()
	if err := WriteJSON(&b, nil); err != nil || b.String() != "null" {
		t.Errorf("nothing becomes %s: %v", b.String(), err)
	}
}
