package own

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// MissingError says why documents can't be had on this machine: a client, a program or the package is missing.
type MissingError struct{ Text string }

func (e *MissingError) Error() string { return e.Text }

// Folder returns the folder in which packages are kept.
func Folder() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "quarry-own"), err
}

// Documents returns the documents of the set by their names, from packages in dir. Packages that are not there are fetched
// where fetch is set, and are a *MissingError otherwise.
func (s Set) Documents(ctx context.Context, dir string, fetch bool) (map[string][]byte, error) {
	documents := map[string][]byte{}
	for _, p := range s.Packages {
		archive, err := p.archive(ctx, s.Client, filepath.Join(dir, s.Client), fetch)
		if err != nil {
			return nil, err
		}
		files, err := unpack(ctx, s.Client, archive)
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", p.Name, err)
		}
		for _, f := range p.Files {
			data, ok := files[f.Path]
			if !ok {
				return nil, fmt.Errorf("package %s %s has no file %s", p.Name, p.Version, f.Path)
			}
			if documents[f.Name], err = f.read(ctx, data); err != nil {
				return nil, fmt.Errorf("package %s: %s: %w", p.Name, f.Path, err)
			}
		}
	}
	return documents, nil
}

// archive returns the path of the package's file in dir.
func (p Package) archive(ctx context.Context, client, dir string, fetch bool) (string, error) {
	place := filepath.Join(dir, p.SHA256)
	if _, err := os.Stat(place); err == nil {
		return place, nil
	}
	missing := &MissingError{fmt.Sprintf("package %s %s of %s is not in %s", p.Name, p.Version, client, dir)}
	if !fetch {
		return "", missing
	}
	program := map[string]string{"apt": "apt-get", "npm": "npm", "pip": "pip"}[client]
	if _, err := exec.LookPath(program); err != nil {
		missing.Text += "; " + program + " is not installed"
		return "", missing
	}
	work, err := os.MkdirTemp("", "quarry-own-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(work) }()
	cmd := exec.CommandContext(ctx, program, p.arguments(client)...)
	cmd.Dir = filepath.Join(work, "package")
	requirement := p.Name + "==" + p.Version + " --hash=sha256:" + p.SHA256 + "\n"
	if err := errors.Join(os.Mkdir(cmd.Dir, 0o700), os.WriteFile(filepath.Join(work, "requirements.txt"), []byte(requirement), 0o600)); err != nil {
		return "", err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		missing.Text += fmt.Sprintf("; %s: %v: %.300s", program, err, out)
		return "", missing
	}
	got, err := filepath.Glob(filepath.Join(cmd.Dir, "*"))
	if err != nil || len(got) != 1 {
		return "", fmt.Errorf("package %s: %s left %d files", p.Name, program, len(got))
	}
	raw, err := os.ReadFile(got[0])
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != p.SHA256 {
		missing.Text += fmt.Sprintf("; what %s fetches has the SHA-256 %x (built for another processor, or changed)", program, sum)
		return "", missing
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	kept := place + ".new"
	return place, errors.Join(os.WriteFile(kept, raw, 0o644), os.Rename(kept, place))
}

// arguments returns those of the client that fetch the package into the current folder. pip reads in requirements.txt beside
// it which one, with the hash that it checks before anything else.
func (p Package) arguments(client string) []string {
	switch client {
	case "apt":
		return []string{"download", "-qq", "-o", "APT::Sandbox::User=root", p.Name + "=" + p.Version}
	case "npm":
		return []string{"pack", "--silent", "--ignore-scripts", p.Name + "@" + p.Version}
	}
	form := "--only-binary=:all:" // a wheel runs no code
	if p.Source {
		form = "--no-binary=" + p.Name
	}
	return []string{"download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", form, "-r", filepath.Join("..", "requirements.txt")}
}

// unpack returns the regular files of a package by their paths.
func unpack(ctx context.Context, client, archive string) (map[string][]byte, error) {
	if client == "apt" {
		if _, err := exec.LookPath("dpkg-deb"); err != nil {
			return nil, &MissingError{"dpkg-deb is not installed"}
		}
		raw, err := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", archive).Output()
		if err != nil {
			return nil, fmt.Errorf("dpkg-deb: %w", err)
		}
		return untar(bytes.NewReader(raw))
	}
	raw, err := os.ReadFile(archive)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) { // what npm packs, and source packages of Python
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		return untar(z)
	}
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func untar(r io.Reader) (map[string][]byte, error) {
	files := map[string][]byte{}
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeReg {
			if files[strings.TrimPrefix(h.Name, "./")], err = io.ReadAll(t); err != nil {
				return nil, err
			}
		}
	}
}

// read returns the document that the file's bytes are.
func (f File) read(ctx context.Context, data []byte) ([]byte, error) {
	if strings.HasSuffix(f.Path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(z); err != nil {
			return nil, err
		}
	}
	switch f.As {
	case "man":
		return manual(ctx, data)
	case "readme":
		_, body, ok := bytes.Cut(data, []byte("\n\n"))
		if !ok {
			return nil, errors.New("nothing follows its head")
		}
		return body, nil
	}
	return data, nil
}

// manual renders a manual page as man does in 78 columns, without stretched lines.
func manual(ctx context.Context, page []byte) ([]byte, error) {
	if _, err := exec.LookPath("groff"); err != nil {
		return nil, &MissingError{"groff is not installed, which renders manual pages"}
	}
	cmd := exec.CommandContext(ctx, "groff", "-K", "utf8", "-t", "-mandoc", "-T", "utf8", "-P-cbou", "-dAD=l", "-rHY=0", "-rLL=78n")
	cmd.Stdin = bytes.NewReader(page)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("groff: %w", err)
	}
	return out, nil
}
