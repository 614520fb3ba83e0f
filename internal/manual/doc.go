// Package manual is the documentation as a site: pages in sections, rendered from Markdown to HTML, with a search that
// works offline.
//
//	site, err := manual.New(docs.Files, contents, generated)
//	problems := site.Check()  // links that end nowhere
//	err = site.Write("out")   // static files
//	http.Serve(l, site)       // the same files over HTTP
//
// A link between pages is a path relative to the Markdown file, as in a repository; the site rewrites it.
package manual
