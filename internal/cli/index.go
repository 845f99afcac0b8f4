package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"quarry/internal/cli/command"
	"quarry/internal/extract"
)

type indexCmd struct {
	command.Remote
	Folder   string `arg:"" help:"Folder or file to index; includes subfolders except hidden ones." type:"path"`
	Corpus   string `help:"Corpus key; default: the folder's name. Created when it does not exist."`
	Chars    int    `help:"Characters per passage; 0 makes one passage per sentence." default:"900"`
	Parallel int    `help:"Files uploaded at the same time." default:"4"`
}

func (indexCmd) Help() string {
	return "Document ids are the paths inside the folder. A file that is already indexed is kept if it is\nunchanged and replaced if it has changed.\n\nExample: quarry index docs --corpus handbook"
}

// outcome is the result for one file.
type outcome struct {
	File   string `json:"file"`
	State  string `json:"state"` // indexed, replaced, unchanged, failed
	Reason string `json:"reason,omitempty"`
}

func (c *indexCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	files, skipped, err := findFiles(c.Folder)
	if err != nil {
		return command.Failed(command.ExitUsage, "%v", err)
	}
	if len(files) == 0 {
		return command.Failed(command.ExitUsage, "no file to index in %s: endings read are %s", c.Folder, strings.Join(extract.Endings(), " "))
	}
	key := c.Corpus
	if key == "" {
		key = corpusKeyOf(c.Folder)
	}
	if err := ensureCorpus(e, cl, key); err != nil {
		return err
	}
	all, err := c.upload(e, cl, key, files)
	if err != nil {
		return err
	}
	return c.conclude(e, key, all, skipped)
}

// findFiles lists the readable files under root, as paths relative to it, and counts those left out.
func findFiles(root string) (files []string, skipped int, err error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, 0, err
	}
	if !info.IsDir() {
		return []string{filepath.Base(root)}, 0, nil
	}
	endings := extract.Endings()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && path != root
		switch {
		case d.IsDir() && hidden:
			return filepath.SkipDir
		case d.IsDir():
			return nil
		case hidden || !d.Type().IsRegular() || !slices.Contains(endings, strings.ToLower(filepath.Ext(path))):
			skipped++
			return nil
		}
		rel, err := filepath.Rel(root, path)
		files = append(files, rel)
		return err
	})
	return files, skipped, err
}

// corpusKeyOf derives a corpus key from a folder's name.
func corpusKeyOf(folder string) string {
	name := filepath.Base(folder)
	if abs, err := filepath.Abs(folder); err == nil {
		name = filepath.Base(abs)
	}
	key := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '-'
	}, name)
	return key[:min(len(key), 50)]
}

func ensureCorpus(e *command.Env, cl *command.Client, key string) error {
	_, err := cl.Call(e.Ctx, "GET", "/v2/corpora/"+command.Segment(key), nil, nil)
	if command.Status(err) != http.StatusNotFound {
		return err
	}
	if _, err := cl.Call(e.Ctx, "POST", "/v2/corpora", map[string]any{"key": key}, nil); err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "created corpus %s\n", key)
	return nil
}

func (c *indexCmd) upload(e *command.Env, cl *command.Client, key string, files []string) ([]outcome, error) {
	bar := command.NewProgress(e.Err, len(files), "files")
	all := make([]outcome, len(files))
	group, ctx := errgroup.WithContext(e.Ctx)
	group.SetLimit(max(1, c.Parallel))
	var mu sync.Mutex // guards bar
	for i, file := range files {
		group.Go(func() error {
			o, err := c.one(ctx, cl, key, file)
			if err != nil {
				return err
			}
			all[i] = o
			mu.Lock()
			defer mu.Unlock()
			bar.Step(file)
			return nil
		})
	}
	err := group.Wait()
	bar.Done()
	return all, err
}

// one sends a file; an unreachable service ends the run, any refusal is the file's outcome.
func (c *indexCmd) one(ctx context.Context, cl *command.Client, key, file string) (outcome, error) {
	o := outcome{File: file, State: "indexed"}
	path := filepath.Join(c.Folder, file)
	if info, err := os.Stat(c.Folder); err == nil && !info.IsDir() {
		path = c.Folder
	}
	data, err := os.ReadFile(path)
	if err != nil {
		o.State, o.Reason = "failed", err.Error()
		return o, nil
	}
	id := filepath.ToSlash(file)
	err = c.send(ctx, cl, key, id, data)
	if command.Status(err) == http.StatusConflict {
		o.State = "replaced"
		if _, err = cl.Call(ctx, "DELETE", command.DocumentPath(key, id), nil, nil); err == nil || command.Status(err) == http.StatusNotFound {
			err = c.send(ctx, cl, key, id, data)
		}
	}
	if command.Status(err) != 0 {
		o.State, o.Reason = "failed", err.Error()
		return o, nil
	}
	return o, err
}

func (c *indexCmd) send(ctx context.Context, cl *command.Client, key, id string, data []byte) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	// The service decodes percent signs in names, so that a name can be sent in any script.
	err := form.WriteField("filename", strings.ReplaceAll(id, "%", "%25"))
	if err == nil && c.Chars > 0 {
		err = jsonField(form, "chunking_strategy", map[string]any{"type": "max_chars_chunking_strategy", "max_chars_per_chunk": c.Chars})
	}
	if err != nil {
		return err
	}
	part, err := form.CreateFormFile("file", filepath.Base(id))
	if err != nil {
		return err
	}
	if _, err := part.Write(data); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", cl.Base+"/v2/corpora/"+command.Segment(key)+"/upload_file", &body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	_, err = cl.Send(req, nil)
	return err
}

func jsonField(form *multipart.Writer, name string, v any) error {
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"`, name))
	header.Set("Content-Type", "application/json")
	w, err := form.CreatePart(header)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(v)
}

// conclude prints the sums and, when some files failed, a table of the reasons.
func (c *indexCmd) conclude(e *command.Env, key string, all []outcome, skipped int) error {
	count := map[string]int{}
	var bad [][]string
	for _, o := range all {
		count[o.State]++
		if o.State == "failed" {
			bad = append(bad, []string{o.File, o.Reason})
		}
	}
	if c.JSON {
		raw, err := json.Marshal(map[string]any{"corpus": key, "files": all, "skipped": skipped})
		if err != nil {
			return err
		}
		command.PrintJSON(e.Out, raw)
	} else {
		fmt.Fprintf(e.Out, "corpus %s: %d indexed, %d replaced, %d failed, %d other files left out\n",
			key, count["indexed"], count["replaced"], count["failed"], skipped)
	}
	if len(bad) == 0 {
		return nil
	}
	if !c.JSON {
		command.Table(e.Err, []string{"FILE", "REASON"}, bad)
	}
	return command.Failed(command.ExitSomeFailed, "")
}
