package html_test

import (
	"errors"
	"testing"

	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/html"
	"quarry/internal/extract/outline"
)

// FuzzRead proves that no text makes the reader panic or end otherwise than in a tree or a refusal.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"<title>x</title><h1>a<table><caption>c<tr><th rowspan=9 colspan=9>a<tr><td>b</table><h7><h2>y<pre> z</pre><ul><li>q<ol start=3><li>r",
		"<?xml version='1.0'?><!DOCTYPE html [<!ENTITY a \"b\">]><html xmlns=\"http://www.w3.org/1999/xhtml\"><title/><p/>a <i/><![CDATA[<b>]]><br/>",
		"<p><b>1. Bold</b></p><p>x<sup>2</sup><img alt=y src=\"data:image/png;base64,iVBORw0KGgo=\"><div class=menu><a href=#a>b</a></div>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := html.Read(text, outline.Options{Pictures: true})
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) {
				t.Fatal(err)
			}
			return
		}
		extracttest.Dump(t, doc)
	})
}
