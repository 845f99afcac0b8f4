package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry is a file of an archive; from is where its content is, unless content is set.
type entry struct {
	name    string
	mode    os.FileMode
	from    string
	content []byte
}

// contents returns what an archive has: the program, what a reader looks for first, how to run it as a service, and the
// licence of every part.
func contents(binary string, parts []part) []entry {
	all := []entry{
		{name: filepath.Base(binary), mode: 0o755, from: binary},
		{name: "LICENSE", mode: 0o644, from: "LICENSE"},
		{name: "NOTICE", mode: 0o644, from: "NOTICE"},
		{name: "README.md", mode: 0o644, from: "README.md"},
		{name: "CHANGELOG.md", mode: 0o644, from: "CHANGELOG.md"},
		{name: "deploy/quarry.service", mode: 0o644, from: "deploy/quarry.service"},
	}
	for _, p := range parts {
		folder := "licences/" + strings.NewReplacer("/", "_", " ", "-").Replace(p.name) + "/"
		for _, t := range p.texts {
			all = append(all, entry{name: folder + t.name, mode: 0o644, content: t.content})
		}
	}
	return all
}

// pack writes an archive whose files lie in the folder root and have the time made.
func pack(to, root string, made time.Time, all []entry) error {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	write := packTar
	if strings.HasSuffix(to, ".zip") {
		write = packZip
	}
	if err := errors.Join(write(out, root, made, all), out.Close()); err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	return nil
}

func packTar(out io.Writer, root string, made time.Time, all []entry) error {
	compressed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, e := range all {
		content, err := e.read()
		if err != nil {
			return err
		}
		head := &tar.Header{Name: root + "/" + e.name, Mode: int64(e.mode), Size: int64(len(content)), ModTime: made, Format: tar.FormatPAX}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

func packZip(out io.Writer, root string, made time.Time, all []entry) error {
	archive := zip.NewWriter(out)
	for _, e := range all {
		content, err := e.read()
		if err != nil {
			return err
		}
		head := &zip.FileHeader{Name: root + "/" + e.name, Method: zip.Deflate, Modified: made}
		head.SetMode(e.mode)
		w, err := archive.CreateHeader(head)
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, bytes.NewReader(content)); err != nil {
			return err
		}
	}
	return archive.Close()
}

func (e *entry) read() ([]byte, error) {
	if e.from == "" {
		return e.content, nil
	}
	return os.ReadFile(e.from)
}
