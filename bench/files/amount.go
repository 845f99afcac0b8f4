package main

import (
	"unicode/utf8"

	"quarry/internal/extract"
)

// standardPage is how many characters make a page, spaces included, in formats that have none: 30 lines of 60.
const standardPage = 1_800

// amount is what a file has.
type amount struct {
	characters int // of its text, headings and cells included
	cells      int // of its tables, those that have text
	pages      int // the number of the last page or slide with text
}

// add adds sections and those inside them.
func (a *amount) add(sections []extract.Section) {
	for i := range sections {
		s := &sections[i]
		a.characters += utf8.RuneCountInString(s.Title) + utf8.RuneCountInString(s.Text)
		a.pages = max(a.pages, s.Page)
		for _, m := range s.Pages {
			a.pages = max(a.pages, m.Page)
		}
		for _, t := range s.Tables {
			a.addCells(t.Headers)
			a.addCells(t.Rows)
		}
		a.add(s.Sections)
	}
}

func (a *amount) addCells(rows [][]string) {
	for _, row := range rows {
		for _, c := range row {
			if c != "" {
				a.characters += utf8.RuneCountInString(c)
				a.cells++
			}
		}
	}
}

// in returns the unit that files of a kind are measured in, and how many of it they have.
func (a *amount) in(kind string) (unit string, n float64) {
	switch kind {
	case "pdf":
		return "pages", float64(a.pages)
	case "pptx", "ppt":
		return "slides", float64(a.pages)
	case "xlsx", "xls", "ods", "csv":
		return "cells", float64(a.cells)
	}
	return "standard pages", float64(a.characters) / standardPage
}
