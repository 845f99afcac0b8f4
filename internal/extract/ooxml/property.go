package ooxml

import (
	"encoding/xml"
	"strconv"
	"strings"
	"time"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/outline"
)

// coreProperties maps the elements of docProps/core.xml to keys of metadata, which are the same for every format.
var coreProperties = map[string]string{
	"title": "title", "creator": "Author", "subject": "subject", "description": "description", "keywords": "keywords",
	"category": "category", "language": "Content-Language", "lastModifiedBy": "Last-Author",
	"created": "date", "modified": "modified",
}

// appProperties maps those of docProps/app.xml, which are counts.
var appProperties = map[string]string{"Pages": "Page-Count", "Slides": "Page-Count", "Words": "Word-Count"}

// Properties returns the metadata of the file.
func (p *Package) Properties() (map[string]any, error) {
	m := map[string]any{}
	for _, part := range []string{"docProps/core.xml", "docProps/app.xml"} {
		err := p.Each(part, func(x *archive.XML, e xml.StartElement) {
			text, number := coreProperties[e.Name.Local], appProperties[e.Name.Local]
			if text == "" && number == "" {
				return
			}
			value := outline.OneLine(x.Text())
			switch {
			case value == "":
			case number != "":
				if n, err := strconv.Atoi(value); err == nil && n > 0 {
					m[number] = n
				}
			case text == "date" || text == "modified":
				if t, err := time.Parse(time.RFC3339, strings.TrimSpace(value)); err == nil {
					m[text] = t.UTC().Format(time.RFC3339)
				}
			default:
				m[text] = value
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}
