package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"quarry/internal/cli/command"
)

type fileCmd struct {
	command.Remote
	CorpusKey string `arg:"" name:"corpus" help:"Key of the corpus." wire:"corpus_key"`
	ID        string `arg:"" name:"id" help:"Id of the document." wire:"document_id"`
	Out       string `short:"o" help:"Where to write it; - is standard output. Without it, the name that the file had, in this folder." placeholder:"FILE"`
	Force     bool   `help:"Write over a file that is there."`
}

func (fileCmd) Help() string {
	return "The file of a document as it was uploaded, where the service keeps files (setting keep_files).\n\nExample: quarry document file manuals pump.pdf -o pump.pdf"
}

func (c *fileCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(e.Ctx, http.MethodGet, cl.Base+command.CorpusPath(c.CorpusKey)+"/files/"+command.Segment(c.ID), http.NoBody)
	if err != nil {
		return err
	}
	res, err := cl.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if c.Out == "-" {
		_, err := io.Copy(e.Out, res.Body)
		return err
	}
	name := c.Out
	if name == "" {
		name = nameOf(res.Header.Get("Content-Disposition"), c.ID)
	}
	n, err := c.write(name, res.Body)
	if err != nil {
		return err
	}
	if c.JSON {
		out, _ := json.Marshal(map[string]any{"file": name, "bytes": n}) // nothing in it can fail
		command.PrintJSON(e.Out, out)
		return nil
	}
	fmt.Fprintf(e.Out, "%s  %s\n", command.Prose(name), command.Count(n, "byte"))
	return nil
}

// nameOf returns the name of a file to write in this folder.
func nameOf(disposition, id string) string {
	_, params, err := mime.ParseMediaType(disposition)
	name := params["filename"]
	if err != nil || name == "" {
		name = id
	}
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if name == "" || name == "." || name == ".." {
		return "file"
	}
	return filepath.Clean(name)
}

// write copies r to a file, of which nothing is left when it can't be written whole.
func (c *fileCmd) write(name string, r io.Reader) (n int64, err error) {
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if c.Force {
		how = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(name, how, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return 0, fmt.Errorf("%s is there already; --force writes over it, -o names another", name)
	}
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err != nil {
		return n, errors.Join(err, os.Remove(name))
	}
	return n, nil
}
