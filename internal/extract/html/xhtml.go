package html

import (
	"html"
	"regexp"
	"strings"
)

// xhtml reports whether a page says that it is XML, where any element may be empty (<title/>, <a id="x"/>), and characters stand in CDATA.
func xhtml(page string) bool {
	head := page[:min(len(page), 1024)]
	return strings.HasPrefix(strings.TrimLeft(head, "\uFEFF \t\r\n"), "<?xml") || strings.Contains(head, `xmlns="http://www.w3.org/1999/xhtml"`)
}

// empty matches an element without content, cdata a section of characters, and subset the declarations inside of a document type.
var (
	empty  = regexp.MustCompile(`<([A-Za-z][\w:.-]*)((?:\s(?:[^<>"']|"[^"<]*"|'[^'<]*')*)?)/>`)
	cdata  = regexp.MustCompile(`(?s)<!\[CDATA\[(.*?)\]\]>`)
	subset = regexp.MustCompile(`(<!DOCTYPE[^<>\[\]]*)\[(?:[^\]"']|"[^"]*"|'[^']*')*\]\s*>`)
)

// void are the elements that are empty in HTML, too.
var void = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true, "link": true, "meta": true, "param": true,
	"source": true, "track": true, "wbr": true,
}

// expand returns the page as HTML has it. The parser of HTML takes an empty element for one that has begun, and reads all that follows a
// <title/> as the title.
func expand(page string) string {
	if strings.Contains(page, "<![CDATA[") {
		page = cdata.ReplaceAllStringFunc(page, func(s string) string { return html.EscapeString(s[len("<![CDATA[") : len(s)-len("]]>")]) })
	}
	page = subset.ReplaceAllString(page, "$1>")
	if !strings.Contains(page, "/>") {
		return page
	}
	return empty.ReplaceAllStringFunc(page, func(s string) string {
		name := s[1 : len(s)-2]
		if i := strings.IndexAny(name, " \t\r\n"); i >= 0 {
			name = name[:i]
		}
		if void[strings.ToLower(name)] {
			return s
		}
		return s[:len(s)-2] + "></" + name + ">"
	})
}
