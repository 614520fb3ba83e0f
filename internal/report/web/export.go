package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/report/sequence"
)

// HTML returns one file with the page and the views of one run. Views that depend on a choice (a port, a queue
// pair) are included for those that lost most.
func (r *Directory) HTML() ([]byte, error) {
	data := map[string]json.RawMessage{}
	put := func(view, query string) error {
		q, err := url.ParseQuery(query)
		if err != nil {
			return err
		}
		b, err := r.View(view, q)
		if err != nil {
			return err
		}
		key := view
		if query != "" {
			key += "?" + query
		}
		data[key] = b
		return nil
	}
	for _, v := range []struct{ view, query string }{{"info", "packed"}, {"answer", ""}, {"messages", ""}, {"collectives", ""},
		{"pauses", ""}, {"roots", ""}, {"packets", ""}, {"followed", ""}, {"ranks", ""}, {"critical", ""}, {"total", ""},
		{"tiers", ""}, {"lanes", ""},
		{"grid", "metric=util"}, {"grid", "metric=queue"}, {"grid", "metric=marks"},
		{"grid", "metric=pause"}} {
		if err := put(v.view, v.query); err != nil {
			return nil, err
		}
	}
	names, _ := sequence.Names()
	for _, name := range names {
		if err := put("sequence", "name="+name); err != nil {
			return nil, err
		}
	}
	for _, id := range r.notable() {
		if err := put("port", fmt.Sprintf("id=%d", id)); err != nil {
			return nil, err
		}
	}
	qps, err := r.notableQPs()
	if err != nil {
		return nil, err
	}
	for _, id := range qps {
		if err := put("qp", fmt.Sprintf("id=%d", id)); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(body)
	if err := z.Close(); err != nil {
		return nil, err
	}
	return inline(base64.StdEncoding.EncodeToString(zipped.Bytes()))
}

// notable lists the ports with the longest queues, at most forty.
func (r *Directory) notable() (out []int32) {
	for i := range r.ports {
		if r.ports[i].WireBytes > 0 {
			out = append(out, int32(i))
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.ports[b].QueuePeak, r.ports[a].QueuePeak),
			cmp.Compare(r.ports[b].WireBytes, r.ports[a].WireBytes))
	})
	return out[:min(40, len(out))]
}

// notableQPs lists the queue pairs of the lanes and of the messages that lost most, at most forty.
func (r *Directory) notableQPs() (out []int32, err error) {
	lanes, err := r.lanes(nil)
	if err != nil {
		return nil, err
	}
	list, err := r.messages(nil)
	if err != nil {
		return nil, err
	}
	for _, q := range lanes.(Lanes).QPs {
		out = append(out, q.QP)
	}
	for _, m := range list.(Messages).Messages {
		if m.QP >= 0 && !slices.Contains(out, m.QP) && len(out) < 40 {
			out = append(out, m.QP)
		}
	}
	return out, nil
}

// tags are the page's references to its files.
var tags = regexp.MustCompile(`<(script|link)[^>]*(src|href)="[^"]*assets/[^>]*>(</script>)?`)

// inline puts scripts, styles and data into the page.
func inline(data string) ([]byte, error) {
	page, err := fs.ReadFile(bundle, "dist/index.html")
	if err != nil {
		return nil, fmt.Errorf("the page is not built: %w", err)
	}
	out := withCauses(string(page))
	files, err := fs.ReadDir(bundle, "dist/assets")
	if err != nil {
		return nil, err
	}
	scripts := ""
	for _, f := range files {
		text, err := fs.ReadFile(bundle, path.Join("dist/assets", f.Name()))
		if err != nil {
			return nil, err
		}
		switch {
		case strings.HasSuffix(f.Name(), ".css"):
			out = strings.Replace(out, "</head>",
				"<style>"+strings.ReplaceAll(string(text), "</style", "<\\/style")+"</style></head>", 1)
		case strings.HasPrefix(f.Name(), "index") && strings.HasSuffix(f.Name(), ".js"):
			scripts = "<script type=\"module\">" + strings.ReplaceAll(string(text), "</script",
				"<\\/script") + "</script>"
		}
	}
	out = tags.ReplaceAllString(out, "")
	return []byte(strings.Replace(out, "</body>",
		"<script type=\"application/octet-stream\" id=\"railyard-run\">"+data+"</script>"+scripts+"</body>",
		1)), nil
}
