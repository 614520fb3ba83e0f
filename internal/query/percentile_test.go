package query

import (
	"reflect"
	"strings"
	"testing"
)

// The percentile is the nearest rank, which SQLite's own cume_dist finds too, in groups and in windows.
func TestPercentile(t *testing.T) {
	d := dir(t)
	rows := func(q string) [][]any {
		r, err := d.Select(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		return r.Rows
	}
	for _, p := range []string{"0", "1", "12.5", "50", "99", "99.9", "100"} {
		got := rows("select port, percentile(bytes * 1.5, " + p + ") from ports group by port order by port")
		want := rows("with r as (select port, bytes * 1.5 as x, cume_dist() over (partition by port order by bytes) as part " +
			"from ports) select port, min(x) filter (where part >= " + p + " / 100.0) from r group by port order by port")
		if len(got) != 3 || !reflect.DeepEqual(got, want) {
			t.Errorf("P %s: %v, want %v", p, got, want)
		}
	}
	if got := rows("select median(share), median(name), median(bytes) from ports where bytes < 0"); got[0][2] != nil ||
		got[0][0] != nil || got[0][1] != nil {
		t.Errorf("of nothing: %v", got)
	}
	if got := rows("select median(bytes) over (order by bytes rows 2 preceding) from ports limit 4"); !reflect.DeepEqual(got,
		[][]any{{0.}, {0.}, {1.}, {2.}}) {
		t.Errorf("window: %v", got)
	}
	for q, want := range map[string]string{
		"select percentile(bytes, 101) from ports": "P is 101, accepted: 0 to 100",
		"select percentile(bytes) from ports":      "wrong number of arguments",
	} {
		if _, err := d.Select(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", q, err)
		}
	}
}
