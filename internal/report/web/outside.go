package web

import (
	"encoding/json"
	"fmt"
	"strings"

	"railyard/internal/cause"
)

// withCauses adds the colors and names of causes from extensions to the page; without any the page is unchanged.
func withCauses(page string) string { return pageWith(page, cause.FromOutside()) }

func pageWith(page string, causes []*cause.Cause) string {
	var style strings.Builder
	names := [][2]string{}
	for _, c := range causes {
		fmt.Fprintf(&style, "--c-%s: %s;", c.Key, c.Color)
		names = append(names, [2]string{c.Key, c.Name})
	}
	if len(names) == 0 {
		return page
	}
	list, _ := json.Marshal(names) // escapes < and >
	data := fmt.Sprintf(`<style>:root{%s}</style><script type="application/json" id="railyard-causes">%s</script></head>`,
		style.String(), list)
	return strings.Replace(page, "</head>", data, 1)
}
