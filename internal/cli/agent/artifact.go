package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"quarry/internal/cli/command"
)

type artifactsCmd struct {
	oneSession
	command.Paging
	Save string `help:"Write the files into this folder, which is made if it is missing; files that are there are not replaced." placeholder:"DIR" type:"path"`
}

func (artifactsCmd) Help() string {
	return "With --save all files are written, each under its name, or, where there is another file of that name, with its id before it.\n\n" +
		"Example: quarry session artifacts support ase_4b1e --save files"
}

// artifactView is a file of a session.
type artifactView struct {
	ID       string `json:"artifact_id"`
	Filename string `json:"filename"`
	MIME     string `json:"mime_type"`
	Size     int64  `json:"size_bytes"`
	Sum      string `json:"checksum_sha256"`
	Created  string `json:"created_at"`
	Data     []byte `json:"data"`
}

func (c *artifactsCmd) Run(e *command.Env) error {
	if c.Save != "" {
		return c.save(e)
	}
	return command.Listing[artifactView]{
		Path: c.path() + "/artifacts", Member: "artifacts", Query: url.Values{}, Paging: c.Paging, Empty: "no files",
		Header: []string{"ID", "CREATED", "BYTES", "TYPE", "NAME"},
		Row: func(v *artifactView) []string {
			return []string{v.ID, command.Second(v.Created), fmt.Sprint(v.Size), v.MIME, v.Filename}
		},
	}.Print(e, c.Remote)
}

// save writes all files, and prints where each is.
func (c *artifactsCmd) save(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Save, 0o777); err != nil {
		return command.Failed(command.ExitSomeFailed, "%v", err)
	}
	type saved struct {
		ID   string `json:"artifact_id"`
		Path string `json:"path"`
	}
	out := []saved{}
	err = cl.Pages(e.Ctx, c.path()+"/artifacts", "artifacts", url.Values{}, func(page []json.RawMessage) error {
		for _, raw := range page {
			var v artifactView
			if err := json.Unmarshal(raw, &v); err != nil {
				return fmt.Errorf("read the files of %s: %w", c.Session, err)
			}
			if _, err := cl.Call(e.Ctx, http.MethodGet, c.path()+"/artifacts/"+command.Segment(v.ID), nil, &v); err != nil {
				return err
			}
			path, err := v.write(c.Save)
			if err != nil {
				return command.Failed(command.ExitSomeFailed, "%s can't be written: %v", v.ID, err)
			}
			if out = append(out, saved{v.ID, path}); !c.JSON {
				fmt.Fprintln(e.Out, path)
			}
		}
		return nil
	})
	if err != nil || !c.JSON {
		return err
	}
	raw, err := json.Marshal(out)
	fmt.Fprintln(e.Out, string(raw))
	return err
}

// write writes the file into a folder and returns where it is. A file that is there already is that one if it has the same
// content.
func (v *artifactView) write(dir string) (path string, err error) {
	if sum := sha256.Sum256(v.Data); hex.EncodeToString(sum[:]) != v.Sum {
		return "", errors.New("what came has another checksum")
	}
	name := filepath.Base(filepath.FromSlash(strings.ReplaceAll(v.Filename, "\\", "/"))) // a service may be an enemy
	if name == "." || name == ".." || name == string(filepath.Separator) {
		name = "file"
	}
	for _, name := range []string{name, filepath.Base(v.ID) + "_" + name} {
		path = filepath.Join(dir, name)
		switch err = create(path, v.Data); {
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrExist):
			return "", err
		case v.same(path):
			return path, nil
		}
	}
	return "", err
}

// create writes a file that must not be there.
func create(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// same reports whether a file that is there has the same content.
func (v *artifactView) same(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return err == nil && hex.EncodeToString(h.Sum(nil)) == v.Sum
}
