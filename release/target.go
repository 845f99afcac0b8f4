package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// target is a platform that is released.
type target struct{ os, arch string }

var every = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

func (t target) String() string { return t.os + "/" + t.arch }

// program returns the file name of the program.
func (t target) program() string {
	if t.os == "windows" {
		return "quarry.exe"
	}
	return "quarry"
}

// ending returns the ending of the archives that people on this platform expect.
func (t target) ending() string {
	if t.os == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// env returns the environment in which go works for the target.
func (t target) env(more ...string) []string {
	return append(append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS="), more...)
}

// stamp is what a program knows of its own origin. It is passed on by us, since go records it in some kinds of clones
// only.
type stamp struct{ version, commit, time string }

// build compiles the program of the sources in dir: stripped and without paths of this machine.
func (t target) build(ctx context.Context, dir, to string, s stamp, env ...string) error {
	const variables = "quarry/internal/cli."
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", to,
		"-ldflags=-s -w -X "+variables+"Version="+s.version+" -X "+variables+"Commit="+s.commit+" -X "+variables+"CommitTime="+s.time, "./cmd/quarry")
	cmd.Dir = dir
	cmd.Env = t.env(env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %s: %w\n%s", t, err, out)
	}
	return nil
}
