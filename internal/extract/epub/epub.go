// Package epub reads books in EPUB 2 and 3 (EPUB 3.3, OCF and OPF 2.0.1) into a document tree.
//
// The chapters that the package document lists are read in its order, each by package extract/html. They stand in the tree as deep as in the
// table of contents, which also names those that have no heading; its own text is not read. Nothing outside of the archive is ever looked
// at. The limits are those of package archive. All functions are safe for concurrent use.
package epub

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/url"
	"path"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/outline"
)

const (
	mediaType = "application/epub+zip"
	container = "META-INF/container.xml"
)

// Is reports whether data is a book, judging by what its archive says of itself.
func Is(data []byte) bool {
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return false
	}
	a, err := archive.Open(data)
	if err != nil {
		return false
	}
	kind, err := a.Read("mimetype")
	return err == nil && strings.TrimSpace(string(kind)) == mediaType || a.Has(container)
}

// Read parses a book. Its errors wrap outline.ErrUnparsable or outline.ErrProtected.
func Read(data []byte, o outline.Options) (*outline.Document, error) {
	a, err := archive.Open(data)
	if err != nil {
		return nil, err
	}
	main, err := mainPart(a)
	if err != nil {
		return nil, err
	}
	if err := protected(a); err != nil {
		return nil, err
	}
	p, err := open(a, main)
	if err != nil {
		return nil, err
	}
	b := &book{Archive: a, pkg: p, contents: p.contents(a), options: o, pictures: outline.MaxPictureBytes}
	if err := b.read(); err != nil {
		return nil, err
	}
	return b.out.Document(p.metadata), nil
}

// mainPart returns the name of the package document.
func mainPart(a *archive.Archive) (name string, err error) {
	if !a.Has(container) {
		return "", fmt.Errorf("%w: the archive holds no book (%s)", outline.ErrUnparsable, container)
	}
	err = a.Each(container, func(_ *archive.XML, e xml.StartElement) {
		if kind := archive.Attr(e, "media-type"); name == "" && e.Name.Local == "rootfile" && (kind == "" || kind == "application/oebps-package+xml") {
			name = within("", archive.Attr(e, "full-path"))
		}
	})
	if err == nil && !a.Has(name) {
		err = fmt.Errorf("%w: the archive has no list of its chapters (package document)", outline.ErrUnparsable)
	}
	return name, err
}

// obfuscated are the ways of encryption that anyone undoes: those of fonts (OCF, 4.4, and Adobe's).
var obfuscated = map[string]bool{"http://www.idpf.org/2008/embedding": true, "http://ns.adobe.com/pdf/enc#RC": true}

// protected returns outline.ErrProtected if more than fonts is encrypted.
func protected(a *archive.Archive) error {
	locked := false
	err := a.Each("META-INF/encryption.xml", func(x *archive.XML, e xml.StartElement) {
		if e.Name.Local != "EncryptedData" {
			return
		}
		way := ""
		x.Each(func(e xml.StartElement) {
			if e.Name.Local == "EncryptionMethod" && way == "" {
				way = archive.Attr(e, "Algorithm")
			}
		})
		locked = locked || !obfuscated[way]
	})
	if err == nil && locked {
		err = fmt.Errorf("%w (the book is encrypted, DRM)", outline.ErrProtected)
	}
	return err
}

// within returns the name of the part that a reference in a part of a folder leads to, or "" for one that leads out of the archive.
func within(folder, ref string) string {
	ref, _, _ = strings.Cut(ref, "#")
	if before, _, found := strings.Cut(ref, ":"); ref == "" || found && !strings.Contains(before, "/") {
		return ""
	}
	if plain, err := url.PathUnescape(ref); err == nil {
		ref = plain
	}
	return path.Join("/", folder, ref)[1:]
}
