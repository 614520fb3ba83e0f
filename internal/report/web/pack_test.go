package web

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// TestPacked makes rows of the page's columns, and compares them with those of the plain view.
func TestPacked(t *testing.T) {
	s, name := server(t, "")
	get := func(query string) (body []byte, v map[string]any) {
		t.Helper()
		w := ask(s, "GET", "/api/runs/"+name+"/info"+query, "", nil)
		if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &v) != nil {
			t.Fatalf("%d %.300s", w.Code, w.Body)
		}
		return w.Body.Bytes(), v
	}
	whole, plain := get("")
	short, packed := get("?packed")
	tables, _ := json.Marshal([]any{plain["ports"], plain["topology"]})
	if saved := len(whole) - len(short); 2*saved < len(tables) {
		t.Errorf("%d bytes packed, %d plain: the tables have %d", len(short), len(whole), len(tables))
	}
	rows := unpacked(packed["ports"])
	for i, row := range rows {
		label := cell(packed["port_labels"].(map[string]any), i).(string)
		row["name"] = row["node"].(string) + ":" + label + " → " + row["peer"].(string)
	}
	same := func(what string, got []map[string]any, want any) {
		t.Helper()
		list := want.([]any)
		if len(got) != len(list) {
			t.Fatalf("%s: %d rows of %d", what, len(got), len(list))
		}
		for i := range got {
			for k, v := range list[i].(map[string]any) {
				if !reflect.DeepEqual(got[i][k], v) {
					t.Fatalf("%s %d: %s is %v, want %v", what, i, k, got[i][k], v)
				}
			}
		}
	}
	same("ports", rows, plain["ports"])
	for _, k := range []string{"nodes", "links", "nics"} {
		same(k, unpacked(packed["topology"].(map[string]any)[k]), plain["topology"].(map[string]any)[k])
	}
	for k, v := range plain {
		if k != "ports" && k != "topology" && !reflect.DeepEqual(packed[k], v) {
			t.Errorf("%s differs", k)
		}
	}
	if strings.Contains(string(short), `"port_names":{"`) {
		t.Error("ports whose names are not made of their ends")
	}
}

func unpacked(table any) (rows []map[string]any) {
	p := table.(map[string]any)
	for i := range int(p["rows"].(float64)) {
		row := map[string]any{}
		for k, c := range p["columns"].(map[string]any) {
			row[k] = cell(c.(map[string]any), i)
		}
		rows = append(rows, row)
	}
	return rows
}

func cell(c map[string]any, i int) any {
	if all, ok := c["all"].([]any); ok {
		return all[i]
	}
	if at, ok := c["at"].([]any); ok {
		return c["list"].([]any)[int(at[i].(float64))]
	}
	if from, ok := c["from"].(float64); ok {
		step, _ := c["step"].(float64)
		return from + float64(i)*step
	}
	return c["one"]
}
