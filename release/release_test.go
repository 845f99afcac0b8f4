package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/testkit"
)

// dist names the folder of a release whose programs are tested; without it one is built for this machine.
var dist = flag.String("dist", "", "folder of a release")

func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil { // where the program runs: the root of the sources
		panic(err)
	}
	os.Exit(testkit.Main(m))
}

// here is the platform of this machine.
var here = target{runtime.GOOS, runtime.GOARCH}

func TestNotice(t *testing.T) {
	// Proves that NOTICE names every module that a released program links, with its version and licence. QUARRY_GENERATE
	// writes it.
	parts, err := inventory(t.Context(), every)
	if err != nil {
		t.Fatal(err)
	}
	want := notice(parts)
	if os.Getenv("QUARRY_GENERATE") != "" {
		if err := os.WriteFile("NOTICE", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("NOTICE")
	if err != nil || string(got) != want {
		t.Errorf("NOTICE is not current (%v); make generate writes it. It should be:\n%s", err, want)
	}
}

func TestReleasedProgram(t *testing.T) {
	// Proves that what people download runs: every archive for this machine is unpacked, says its version, serves,
	// indexes its own README and answers from it.
	folder := *dist
	if folder == "" {
		if err := testkit.LookAtSources(); err != nil {
			t.Fatal(err)
		}
		folder = t.TempDir()
		r := release{version: "1.2.3-test", out: folder, targets: []target{here}}
		if err := r.build(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	archives, err := filepath.Glob(filepath.Join(folder, "quarry-*-"+here.os+"-"+here.arch+here.ending()))
	if err != nil || len(archives) != 1 {
		t.Fatalf("archives for %s in %s: %v %v", here, folder, archives, err)
	}
	root := unpack(t, archives[0])
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "deploy/quarry.service", "licences/modernc.org_sqlite/LICENSE", "licences/Go-standard-library/LICENSE", "licences/all-MiniLM-L6-v2/LICENSE"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
	use(t, filepath.Join(root, here.program()), strings.TrimSuffix(strings.TrimPrefix(filepath.Base(archives[0]), "quarry-"), "-"+here.os+"-"+here.arch+here.ending()))
	checkSums(t, folder)
}

// use runs a program as its first user does.
func use(t *testing.T, program, version string) {
	t.Helper()
	data := t.TempDir()
	testkit.StartProgram(t, program, data, nil, "--data", data, "--listen", "127.0.0.1:0")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = append(os.Environ(), "QUARRY_DATA="+data, "XDG_CACHE_HOME="+data)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("quarry %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if got := run("version"); !strings.HasPrefix(got, "quarry "+version+" (commit ") {
		t.Errorf("quarry version prints %q, want %s and a commit", got, version)
	}
	run("corpus", "create", "first")
	run("index", filepath.Join(filepath.Dir(program), "README.md"), "--corpus", "first")
	if got := run("query", "first", "what is Quarry?", "--limit", "1"); !strings.Contains(got, "README.md") {
		t.Errorf("query prints %q, not the README", got)
	}
}

// unpack writes the files of an archive below a folder of the test and returns the one folder that they lie in.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	to := t.TempDir()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(to, strings.TrimSuffix(filepath.Base(archive), here.ending()))
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(to, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(in)
		if err == nil {
			err = os.WriteFile(path, raw, os.FileMode(h.Mode))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkSums compares every file of a release with SHA256SUMS and the list of parts with what the format asks for.
func checkSums(t *testing.T, dir string) {
	t.Helper()
	before, err := os.ReadFile(filepath.Join(dir, sums))
	if err != nil {
		t.Fatal(err)
	}
	if err := sum(dir); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(dir, sums))
	if err != nil || !bytes.Equal(before, after) || bytes.Count(after, []byte("\n")) < 2 {
		t.Errorf("checksums (%v)\n%s\nof the files are\n%s", err, before, after)
	}
	lists, err := filepath.Glob(filepath.Join(dir, "*.cdx.json"))
	if err != nil || len(lists) != 1 {
		t.Fatal(lists, err)
	}
	raw, err := os.ReadFile(lists[0])
	if err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(raw, &b); err != nil || b.Format != "CycloneDX" || b.Spec != "1.5" {
		t.Errorf("%v %+v", err, b.Metadata)
	}
	for _, c := range b.Components {
		if c.Name == "" || c.Version == "" || len(c.Licences) != 1 || c.Licences[0].Expression == "" {
			t.Errorf("incomplete: %+v", c)
		}
	}
	if !slices.ContainsFunc(b.Components, func(c component) bool { return strings.HasPrefix(c.Purl, "pkg:golang/modernc.org/sqlite@v") }) {
		t.Error("the list of parts lacks the database")
	}
}

func TestPackRepeats(t *testing.T) {
	// Proves that an archive depends on its contents and the given time alone, that modes survive, and that zip and tar.gz hold
	// the same.
	t.Parallel()
	made := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	all := []entry{{name: "quarry", mode: 0o755, content: []byte("program")}, {name: "licences/a/LICENSE", mode: 0o644, content: []byte("text")}}
	for _, ending := range []string{".zip", ".tar.gz"} {
		var twice [2][]byte
		for i := range twice {
			path := filepath.Join(t.TempDir(), "quarry-1"+ending)
			if err := pack(path, "quarry-1", made, all); err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			twice[i] = raw
		}
		if !bytes.Equal(twice[0], twice[1]) {
			t.Errorf("%s: two archives differ", ending)
		}
		if ending != ".zip" {
			continue
		}
		z, err := zip.NewReader(bytes.NewReader(twice[0]), int64(len(twice[0])))
		if err != nil {
			t.Fatal(err)
		}
		if f := z.File[0]; f.Name != "quarry-1/quarry" || f.Mode() != 0o755 || !f.Modified.Equal(made) {
			t.Errorf("%s %v %v", f.Name, f.Mode(), f.Modified)
		}
	}
}

func TestLicences(t *testing.T) {
	// Proves that licences are told apart by their texts, and that a text without one is no licence.
	t.Parallel()
	for text, want := range map[string]string{
		"Permission is hereby granted, free of\ncharge, to any person obtaining a copy":         "MIT",
		"Apache License\n Version 2.0, January 2004":                                            "Apache-2.0",
		"Redistribution and use in source and binary forms … Neither the name of":               "BSD-3-Clause",
		"Redistribution and use in source and binary forms, with or without":                    "BSD-2-Clause",
		"Permission to use, copy, modify, and/or distribute this software for any purpose with": "ISC",
		"Mozilla Public License Version 2.0":                                                    "MPL-2.0",
		"All rights reserved.":                                                                  "",
	} {
		if got := strings.Join(licences(text), " "); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	// Proves that platforms are chosen by name, all by default, and that an unknown one is refused with the choice there is.
	t.Parallel()
	var r release
	if err := r.choose("windows/amd64,linux/arm64"); err != nil || len(r.targets) != 2 || r.targets[0].program() != "quarry.exe" {
		t.Errorf("%v %v", r.targets, err)
	}
	if err := r.choose(""); err != nil || len(r.targets) != 5 {
		t.Errorf("%v %v", r.targets, err)
	}
	if err := r.choose("plan9/amd64"); err == nil || !strings.Contains(err.Error(), "linux/amd64") {
		t.Errorf("%v", err)
	}
}
