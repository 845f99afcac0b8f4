package pages

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/static"
)

// guidePage is a page of the guide. Its content is made when it is first asked for.
type guidePage struct {
	Name, Title string
	file        string
	document    func() (*static.File, error)
}

// Address returns the path of the page.
func (p *guidePage) Address() string { return strings.TrimSuffix("/guide/"+p.Name, "/") }

// guideGroup is the pages of one folder.
type guideGroup struct {
	Title string
	Pages []*guidePage
}

// guideGroups are the folders in the order of the contents.
var guideGroups = []struct{ folder, title string }{{"guide", "Guides"}, {"reference", "Tables"}}

// guideStart is the file that lists the pages: the page without a name.
const guideStart = "guide/README.md"

// guide is all pages.
type guide struct {
	files map[string]*guidePage // by file
	pages map[string]*guidePage // by name
	all   []guideGroup
}

// newGuide returns a function that reads the guide when it is first asked for.
func newGuide(files fs.FS) func() (*guide, error) {
	return sync.OnceValues(func() (*guide, error) {
		g := &guide{files: map[string]*guidePage{}, pages: map[string]*guidePage{}}
		start, err := fs.ReadFile(files, guideStart)
		if err != nil {
			return nil, fmt.Errorf("read the guide: %w", err)
		}
		for _, group := range guideGroups {
			names, err := fs.Glob(files, group.folder+"/*.md")
			if err != nil {
				return nil, fmt.Errorf("list the guide: %w", err)
			}
			listed := guideGroup{Title: group.title}
			for _, name := range names {
				raw, err := fs.ReadFile(files, name)
				if err != nil {
					return nil, fmt.Errorf("read the guide: %w", err)
				}
				p := &guidePage{Name: strings.TrimSuffix(path.Base(name), ".md"), Title: heading(raw), file: name}
				if name == guideStart {
					p.Name = ""
				} else {
					listed.Pages = append(listed.Pages, p)
				}
				p.document = once("text/html; charset=utf-8", guidePolicy, func() ([]byte, error) { return g.write(p, raw) })
				g.files[name], g.pages[p.Name] = p, p
			}
			slices.SortStableFunc(listed.Pages, func(a, b *guidePage) int { return cmp.Compare(mention(start, a), mention(start, b)) })
			g.all = append(g.all, listed)
		}
		return g, nil
	})
}

// mention returns where a list of the pages first leads to p, the end of the list if it never does.
func mention(list []byte, p *guidePage) int {
	if at := bytes.Index(list, []byte(path.Base(p.file)+")")); at >= 0 {
		return at
	}
	return len(list)
}

// heading returns the first heading of a page.
func heading(raw []byte) string {
	for line := range strings.Lines(string(raw)) {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			return strings.TrimSpace(title)
		}
	}
	return ""
}

// write writes a page.
func (g *guide) write(p *guidePage, raw []byte) ([]byte, error) {
	table := extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)) // the policy allows no style
	markdown := goldmark.New(goldmark.WithExtensions(table), goldmark.WithParserOptions(parser.WithAutoHeadingID(),
		parser.WithASTTransformers(util.Prioritized(links{g, path.Dir(p.file)}, 0))))
	var body, out bytes.Buffer
	if err := markdown.Convert(raw, &body); err != nil {
		return nil, fmt.Errorf("write page: %w", err)
	}
	err := guideTemplate.Execute(&out, struct {
		*guidePage
		Style  template.CSS
		Groups []guideGroup
		Body   template.HTML
	}{p, template.CSS(style + referenceStyle), g.all, template.HTML(body.String())}) // goldmark leaves out HTML in its input
	if err != nil {
		return nil, fmt.Errorf("write page: %w", err)
	}
	return out.Bytes(), nil
}

// links leads the links between files to the pages. Those to files that are no pages become plain text, and so do images.
type links struct {
	g      *guide
	folder string // of the page
}

// Transform implements parser.ASTTransformer.
func (l links) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	var lost []ast.Node
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			to, ok := l.target(string(n.Destination))
			if n.Destination = []byte(to); !ok {
				lost = append(lost, n)
			}
		case *ast.Image:
			lost = append(lost, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range lost {
		for child := n.FirstChild(); child != nil; child = n.FirstChild() {
			n.Parent().InsertBefore(n.Parent(), n, child)
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
}

// target returns where a link between files leads here; ok is false for nowhere.
func (l links) target(to string) (address string, ok bool) {
	file, fragment, cut := strings.Cut(to, "#")
	if cut {
		fragment = "#" + fragment
	}
	switch p := l.g.files[path.Join(l.folder, file)]; {
	case file == "", strings.HasPrefix(to, "https://"), strings.HasPrefix(to, "http://"):
		return to, true
	case p != nil:
		return p.Address() + fragment, true
	case path.Base(file) == "operations.md":
		return "/docs", true
	case path.Base(file) == "openapi.yaml":
		return "/openapi.yaml", true
	}
	return "", false
}

// showGuide serves a page of the guide, or its contents.
func (a *Area) showGuide(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	g, err := a.guide()
	if err != nil {
		return err
	}
	name := c.Path["page"]
	p := g.pages[name]
	if p == nil {
		return fault.NotFound("page_not_found", name, "the guide has no page %q; /guide lists them", name)
	}
	d, err := p.document()
	if err != nil {
		return err
	}
	return d.Serve(w, r)
}
