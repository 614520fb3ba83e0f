package web

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/cause"
)

// tokens reads the colours of causes in both themes of the page.
func tokens(t *testing.T) (light, dark map[string]string) {
	t.Helper()
	text, err := os.ReadFile("../../../web/src/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), `:root[data-theme="dark"]`)
	if !ok {
		t.Fatal("tokens.css has no dark theme")
	}
	read := func(css string) map[string]string {
		out := map[string]string{}
		for _, m := range regexp.MustCompile(`--c-(\w+): (#[0-9a-f]{6});`).FindAllStringSubmatch(css, -1) {
			out[m[1]] = m[2]
		}
		return out
	}
	return read(before), read(after)
}

// TestTokens checks that a cause has a colour in both themes, and that plots have the page's.
func TestTokens(t *testing.T) {
	light, dark := tokens(t)
	for _, c := range cause.All() {
		if light[c.Key] != c.Color || dark[c.Key] == "" {
			t.Errorf("%s: plots have %s, the page %q and %q", c.Key, c.Color, light[c.Key], dark[c.Key])
		}
	}
}

// deficiencies simulate one kind of colour vision deficiency (Machado, Oliveira and Fernandes 2009, table 1,
// severity 1), on linear RGB.
var deficiencies = map[string][3][3]float64{
	"none":         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab converts a colour, as seen with a deficiency, to CIELAB, D65.
func lab(t *testing.T, color string, see [3][3]float64) (out [3]float64) {
	n, err := strconv.ParseUint(color[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	var linear, seen [3]float64
	for i := range linear {
		v := float64(n>>(16-8*i)&255) / 255
		if linear[i] = v / 12.92; v > 0.04045 {
			linear[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	for i := range seen {
		for k := range linear {
			seen[i] += see[i][k] * linear[k]
		}
		seen[i] = min(1, max(0, seen[i]))
	}
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x := f((0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.95047)
	y := f(0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2])
	z := f((0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// TestColourVision checks that causes which are often adjacent differ by 10 or more in CIELAB, with any colour
// vision, in both themes. Ten colours that all differ more are not to be had.
func TestColourVision(t *testing.T) {
	often := []string{"compute", "line_rate", "latency", "rate_not_given_back", "hash_collision", "oversubscription",
		"incast", "pause", "sent_again"}
	light, dark := tokens(t)
	for theme, colors := range map[string]map[string]string{"light": light, "dark": dark} {
		for name, see := range deficiencies {
			for i, a := range often {
				for _, b := range often[i+1:] {
					x, y := lab(t, colors[a], see), lab(t, colors[b], see)
					if d := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]); d < 10 {
						t.Errorf("%s, %s: %s and %s differ by %.1f", theme, name, a, b, d)
					}
				}
			}
		}
	}
}
